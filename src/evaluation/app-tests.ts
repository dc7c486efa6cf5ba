import { AppError, errorText } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { AgentLoader, App, Plugin } from '../core/runtime.ts';
import { textOf } from '../schemas/content.ts';
import { eventJson } from '../schemas/event.ts';
import { type AgentEnvironment, runCase } from './case-run.ts';
import type { EvalFiles } from './eval-files.ts';
import { answersPlugin, comparable, messagesOf, sorted, storable } from './recorded-session.ts';

const ending = '.json';
/** Names of tests that are expected to fail end with this, as in ADK. */
const expectedFailure = '_xfail';

type Verdict = 'PASSED' | 'FAILED' | 'SKIPPED' | 'XFAIL' | 'XPASS';

/**
 * The tests of apps, as in ADK for Python: recorded sessions in the folder `tests` of an app, which are replayed with the
 * recorded model responses. A name may have its extension or not.
 */
export class AppTests {
  readonly #loader: AgentLoader;
  readonly #files: EvalFiles;
  readonly #environment: AgentEnvironment;

  constructor(loader: AgentLoader, files: EvalFiles, environment: AgentEnvironment) {
    this.#loader = loader;
    this.#files = files;
    this.#environment = environment;
  }

  /** File names, sorted. */
  async list(appName: string): Promise<string[]> {
    return (await this.#files.list(appName, 'test')).map((id) => `${id}${ending}`);
  }

  /** Throws `not_found`, and `invalid_request` for an invalid test. */
  async get(appName: string, name: string): Promise<JsonObject> {
    const text = await this.#files.read(appName, 'test', idOf(name));
    if (text === undefined) throw noTest(name);
    const data: unknown = parsed(text);
    if (isJsonObject(data)) return data;
    throw new AppError('invalid_request', `Test "${name}" is not a JSON object`);
  }

  /** Saves a session as a test. Returns its file name. */
  async save(appName: string, name: string, session: JsonObject): Promise<string> {
    const id = idOf(name);
    await this.#files.write(appName, 'test', id, `${JSON.stringify(sorted(session), undefined, 2)}\n`);
    return `${id}${ending}`;
  }

  /** Throws `not_found`. */
  async delete(appName: string, name: string): Promise<void> {
    if (!(await this.#files.remove(appName, 'test', idOf(name)))) throw noTest(name);
  }

  /** Records a test again, or all tests, with new responses of the models. */
  async rebuild(appName: string, name: string | undefined, signal: AbortSignal): Promise<void> {
    const app = await this.#loader.loadAgent(appName);
    for (const one of await this.#chosen(appName, name)) {
      const session = await this.get(appName, one);
      const events = eventsOf(session);
      if (messagesOf(events).length === 0) continue;
      const { lastUpdateTime: _, ...rest } = session;
      await this.save(appName, one, { ...rest, events: storable(await this.#replay(app, events, signal)) });
    }
  }

  /** Replays a test, or all tests. Yields the report as lines of text, in the style of pytest. */
  async *run(appName: string, name: string | undefined, signal: AbortSignal): AsyncGenerator<string, void, void> {
    const app = await this.#loader.loadAgent(appName);
    const chosen = await this.#chosen(appName, name);
    yield `collected ${chosen.length} ${chosen.length === 1 ? 'item' : 'items'}\n\n`;
    const counts = new Map<Verdict, number>();
    for (const one of chosen) {
      const faults: string[] = [];
      const verdict = await this.#verdict(app, one, faults, signal);
      counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      yield `${appName}/${one} ${verdict}\n${faults.map((line) => `    ${line}\n`).join('')}`;
    }
    const summary = [...counts].map(([verdict, count]) => `${count} ${verdict.toLowerCase()}`).join(', ');
    yield `\n===== ${summary || 'no tests ran'} =====\n`;
  }

  async #verdict(app: App, name: string, faults: string[], signal: AbortSignal): Promise<Verdict> {
    const isToFail = idOf(name).endsWith(expectedFailure);
    try {
      const events = eventsOf(await this.get(app.name, name));
      if (textOf(messagesOf(events)[0]) === '') {
        faults.push('it has no message of a user to begin with');
        return 'SKIPPED';
      }
      const actual = comparable(await this.#replay(app, events, signal, answersPlugin(events)));
      faults.push(...differences(comparable(events), actual));
    } catch (error) {
      signal.throwIfAborted();
      faults.push(errorText(error));
    }
    if (isToFail) return faults.length > 0 ? 'XFAIL' : 'XPASS';
    return faults.length > 0 ? 'FAILED' : 'PASSED';
  }

  /** Runs a new session with the same user messages. Returns its events. Throws when the conversation fails. */
  async #replay(app: App, events: readonly JsonObject[], signal: AbortSignal, answers?: Plugin): Promise<JsonObject[]> {
    const { plugins = [], ...environment } = this.#environment;
    const messages = messagesOf(events).values();
    const release = this.#loader.retain?.(app);
    try {
      const { session, errorMessage } = await runCase(
        { ...environment, plugins: answers ? [...plugins, answers] : plugins },
        {
          app,
          evalCase: { evalId: 'test', creationTimestamp: 0 },
          next: async () => messages.next().value,
          cassette: undefined,
          signal,
        },
      );
      if (errorMessage !== undefined) throw new Error(errorMessage);
      return session.events.map((event) => JSON.parse(eventJson(event)) as JsonObject);
    } finally {
      release?.();
    }
  }

  /** Throws `not_found` for a name without a test. */
  async #chosen(appName: string, name: string | undefined): Promise<string[]> {
    const all = await this.list(appName);
    if (name === undefined || name === '') return all;
    const file = `${idOf(name)}${ending}`;
    if (!all.includes(file)) throw noTest(name);
    return [file];
  }
}

const idOf = (name: string): string => {
  const id = name.endsWith(ending) ? name.slice(0, -ending.length) : name;
  if (id === '' || id.startsWith('.') || /[/\\]/.test(id)) {
    throw new AppError('invalid_request', `"${name}" is not the name of a file in the folder of tests`);
  }
  return id;
};

const noTest = (name: string): AppError => new AppError('not_found', `Test file not found: ${name}`);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function eventsOf({ events }: JsonObject): JsonObject[] {
  return Array.isArray(events) ? events.filter(isJsonObject) : [];
}

/** The events that are in only one of the lists. */
function differences(expected: readonly string[], actual: readonly string[]): string[] {
  const missing = without(expected, actual).map((event) => `- ${event}`);
  return [...missing, ...without(actual, expected).map((event) => `+ ${event}`)];
}

function without(events: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return events.filter((event) => {
    const place = left.indexOf(event);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}
