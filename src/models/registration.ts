import type { Model } from '../core/model.ts';

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Models of one kind, found by the whole of their name. */
export interface ModelRegistration {
  /** A regular expression that must match all of the name. */
  readonly pattern: string | RegExp;
  create(name: string): Model;
  /** Whether what the model needs is there; absent: it is. */
  isConfigured?(name: string): boolean;
}
