import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { abortable } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import type { App } from '../core/runtime.ts';
import type { AccessLimits } from '../tools/access-limits.ts';
import { AppModules } from './app-modules.ts';
import type { AppSource } from './app-source.ts';
import { appOf } from './code-app.ts';
import { FileVersions } from './file-versions.ts';
import { loadFailure } from './load-failure.ts';
import { yamlApp } from './yaml/yaml-app.ts';

/** Longer than any reasonable start-up work of an agent's code. */
const loadTimeoutMs = 30_000;
const maxReadmeLength = 100_000;

export interface LoadOptions {
  /** Files in messages are named relative to this folder. */
  readonly base: string;
  /** Whether unknown YAML keys are errors; otherwise they are warnings. */
  readonly strict: boolean;
  /** Whether MCP servers may be started as programs. */
  readonly allowStdioMcp: boolean;
  readonly limits: AccessLimits;
  readonly warn: (message: string) => void;
}

/** One app on disk, and its loaded version. */
export class LoadedApp {
  readonly #files = new FileVersions();
  readonly #modules = new AppModules((file) => this.#files.record(file));
  #source: AppSource | undefined;
  #app: App | undefined;
  #failure: AppError | undefined;

  /** The last version that worked. */
  get app(): App | undefined {
    return this.#app;
  }

  /** Why the current files cannot be loaded. */
  get failure(): AppError | undefined {
    return this.#failure;
  }

  /** Loads changes since the last call. Never throws: see `failure`. Resolves with the replaced app, if any. */
  async refresh(source: AppSource, options: LoadOptions): Promise<App | undefined> {
    const moved = this.#source?.entry !== source.entry;
    const changed = this.#files.takeChanged();
    if (!moved && changed.length === 0) return undefined;
    this.#modules.changed(changed);
    this.#source = source;
    const before = this.#app;
    try {
      this.#app = await this.#load(source, options);
      this.#failure = undefined;
      return before;
    } catch (error) {
      this.#failure = await loadFailure(error, source, { base: options.base, files: this.#modules.files() });
      return undefined;
    }
  }

  close(): void {
    this.#modules.close();
  }

  async #load(source: AppSource, options: LoadOptions): Promise<App> {
    const { folder, language, name } = source;
    const note = (file: string): void => this.#files.record(file);
    const making =
      language === 'yaml'
        ? yamlApp(source, { ...options, note, importModule: (file) => this.#modules.import(file) })
        : this.#modules.import(source.entry).then(appOf);
    const patience = AbortSignal.timeout(loadTimeoutMs);
    const made = await abortable(making, patience).catch((error: unknown) => {
      if (error !== patience.reason) throw error;
      throw new AppError('app_broken', `the code took longer than ${loadTimeoutMs / 1000} s to load`);
    });
    const readme = await this.#readme(folder);
    return { ...made, name, folder, language, ...(readme === undefined ? {} : { readme }) };
  }

  async #readme(folder: string): Promise<string | undefined> {
    const file = join(folder, 'README.md');
    this.#files.record(file);
    try {
      return (await readFile(file, 'utf8')).slice(0, maxReadmeLength);
    } catch {
      return undefined; // most apps have no README
    }
  }
}
