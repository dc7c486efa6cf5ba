import { AppError } from '../base/errors.ts';
import type { AgentLoader, App } from '../core/runtime.ts';
import type { AccessLimits } from '../tools/access-limits.ts';
import type { AppFinder } from './app-source.ts';
import { closeApp } from './close-app.ts';
import { LoadedApp } from './loaded-app.ts';
import { appNotFound } from './static.ts';

/** How long the files of an app count as unchanged after a check. */
const freshMs = 200;
/** Times of reloads kept per app. */
const maxReloadTimes = 20;

export interface DirectoryLoaderOptions {
  readonly find: AppFinder;
  /** Whether the next run uses edited files without a restart. Default true. */
  readonly hotReload?: boolean;
  /** Whether unknown YAML keys are errors. Default false: they are warnings. */
  readonly strict?: boolean;
  /** Whether YAML apps may start MCP servers as programs. Default false: the toolset of such a server fails. */
  readonly allowStdioMcp?: boolean;
  /** Limits of what YAML agents may name. Default: none. */
  readonly limits?: AccessLimits;
  /** Called with warnings that no response contains. */
  readonly warn?: (message: string) => void;
  /** After so many reloads of all apps, `warn` gets a message that they cost memory. Default 500. */
  readonly costlyReloads?: number;
}

interface AppEntry {
  readonly loaded: LoadedApp;
  checkedAt: number;
  checking: Promise<void> | undefined;
  /** Times of reloads, in epoch seconds. */
  readonly reloads: number[];
}

/**
 * Loads apps from disk on first use. With hot reload it checks an app's files when a run needs the app. There is no file
 * watcher: unused apps cost nothing, and it works on every file system.
 */
export class DirectoryLoader implements AgentLoader {
  readonly #find: AppFinder;
  readonly #hotReload: boolean;
  readonly #strict: boolean;
  readonly #allowStdioMcp: boolean;
  readonly #limits: AccessLimits;
  readonly #warn: (message: string) => void;
  readonly #entries = new Map<string, AppEntry>();
  /** How many runs use an app. */
  readonly #retainCounts = new WeakMap<App, { count: number }>();
  /** Replaced apps that are in use. */
  readonly #retired = new Set<App>();
  readonly #costlyReloads: number;
  #reloadCount = 0;

  constructor(options: DirectoryLoaderOptions) {
    const { find, hotReload = true, strict = false, allowStdioMcp = false, limits = {} } = options;
    const { warn = () => {}, costlyReloads = 500 } = options;
    this.#find = find;
    this.#hotReload = hotReload;
    this.#strict = strict;
    this.#allowStdioMcp = allowStdioMcp;
    this.#limits = limits;
    this.#warn = warn;
    this.#costlyReloads = costlyReloads;
  }

  listAgents(): Promise<string[]> {
    return Promise.resolve(this.#find.list().map((source) => source.name));
  }

  loadAgent(appName: string): Promise<App> {
    const known = this.#entries.get(appName);
    if (known?.loaded.app && this.#isFresh(known)) return Promise.resolve(known.loaded.app);
    return this.#load(appName, known);
  }

  async #load(appName: string, known: AppEntry | undefined): Promise<App> {
    if (known && this.#isFresh(known)) return outcomeOf(known.loaded);
    const entry = known ?? { loaded: new LoadedApp(), checkedAt: 0, checking: undefined, reloads: [] };
    entry.checking ??= this.#check(appName, entry).finally(() => {
      entry.checking = undefined;
      entry.checkedAt = performance.now();
    });
    await entry.checking;
    return outcomeOf(entry.loaded);
  }

  failureOf(appName: string): AppError | undefined {
    return this.#entries.get(appName)?.loaded.failure;
  }

  reloadsOf(appName: string): readonly number[] {
    return this.#entries.get(appName)?.reloads ?? [];
  }

  retain(app: App): () => void {
    let use = this.#retainCounts.get(app);
    if (!use) this.#retainCounts.set(app, (use = { count: 0 }));
    use.count += 1;
    return () => {
      use.count -= 1;
      if (use.count === 0 && this.#retired.delete(app)) this.#closeUnused(app);
    };
  }

  async close(): Promise<void> {
    const apps = [...this.#entries.values()].flatMap(({ loaded }) => (loaded.app ? [loaded.app] : []));
    for (const { loaded } of this.#entries.values()) loaded.close();
    this.#entries.clear();
    await Promise.all([...apps, ...this.#retired].map((app) => this.#close(app, [])));
  }

  #isFresh({ checkedAt, checking, loaded }: AppEntry): boolean {
    if (checking) return false;
    const isKept = !this.#hotReload && loaded.app !== undefined;
    return isKept || performance.now() - checkedAt < freshMs;
  }

  async #check(appName: string, entry: AppEntry): Promise<void> {
    const source = this.#find.find(appName);
    if (!source) {
      this.#forget(appName, entry);
      throw appNotFound(appName);
    }
    this.#entries.set(appName, entry);
    const reported = entry.loaded.failure;
    const options = {
      base: this.#find.base,
      strict: this.#strict,
      allowStdioMcp: this.#allowStdioMcp,
      limits: this.#limits,
      warn: this.#warn,
    };
    const replaced = await entry.loaded.refresh(source, options);
    if (replaced) {
      this.#retire(replaced);
      entry.reloads.push(Date.now() / 1_000);
      entry.reloads.splice(0, entry.reloads.length - maxReloadTimes);
      this.#reloadCount += 1;
      if (this.#reloadCount === this.#costlyReloads) {
        this.#warn(
          `${this.#reloadCount} edits were loaded. Node keeps all versions of a module: a restart frees the memory`,
        );
      }
    }
    const { failure, app } = entry.loaded;
    if (failure && failure !== reported) {
      this.#warn(`${failure.message}${app ? ' (the last version that worked is served)' : ''}`);
    }
  }

  #forget(appName: string, { loaded }: AppEntry): void {
    this.#entries.delete(appName);
    loaded.close();
    if (loaded.app) this.#retire(loaded.app);
  }

  #retire(app: App): void {
    if ((this.#retainCounts.get(app)?.count ?? 0) > 0) this.#retired.add(app);
    else this.#closeUnused(app);
  }

  #closeUnused(app: App): void {
    const current = this.#entries.get(app.name)?.loaded.app;
    const others = [...(current ? [current] : []), ...this.#retired].filter((other) => other.name === app.name);
    // Not awaited: `#close` logs failures.
    void this.#close(app, others);
  }

  async #close(app: App, others: readonly App[]): Promise<void> {
    for (const error of await closeApp(app, others)) {
      this.#warn(`${app.name}: closing failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

function outcomeOf({ app, failure }: LoadedApp): App {
  if (app) return app;
  throw failure ?? new AppError('app_broken', 'The app cannot be loaded');
}
