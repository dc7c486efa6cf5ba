import type { App } from '../core/runtime.ts';

/** Where one app is on disk. Paths are absolute and real. */
export interface AppSource {
  readonly name: string;
  readonly folder: string;
  /** The file an app is made from: code that exports it, or its YAML. */
  readonly entry: string;
  readonly language: NonNullable<App['language']>;
}

/** Knows the apps of a place on disk. Looks at names only, never inside a file. */
export interface AppFinder {
  /** The place as people know it, for messages. */
  readonly place: string;
  /** Files in messages are named relative to this folder. */
  readonly base: string;
  /** By name, sorted. */
  list(): AppSource[];
  find(name: string): AppSource | undefined;
  /** Why folders that look like apps are none: `name: reason`. */
  hints(): string[];
}
