import type { App } from '../core/runtime.ts';

/** The files of one app. Paths are absolute and real. */
export interface AppSource {
  readonly name: string;
  readonly folder: string;
  /** The file that defines the app: code that exports it, or its YAML file. */
  readonly entry: string;
  readonly language: NonNullable<App['language']>;
}

/** Finds the apps in a folder. Looks at names only, never into a file. */
export interface AppFinder {
  /** The folder, as messages name it. */
  readonly place: string;
  /** Files in messages are named relative to this folder. */
  readonly base: string;
  /** By name, sorted. */
  list(): AppSource[];
  find(name: string): AppSource | undefined;
  /** Why some folders that look like apps are none: `name: reason`. */
  hints(): string[];
}
