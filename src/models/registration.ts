import type { Model } from '../core/model.ts';

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Models of one kind, found by their full name. */
export interface ModelRegistration {
  /** A regular expression that must match the full name. */
  readonly pattern: string | RegExp;
  create(name: string): Model;
  /** Whether the model has the settings it needs. Absent: always. */
  isConfigured?(name: string): boolean;
}
