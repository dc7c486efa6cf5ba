import { type DoubleReply, type DoubleRequest, HttpDouble } from './http-double.ts';

type Json = Record<string, unknown>;

interface KeptSession {
  readonly session: Json;
  readonly state: Json;
  readonly events: Json[];
}

const pageSize = 3;

/**
 * The sessions of Agent Engines on this machine, as the REST API has them: long-running operations, pages, times by its own
 * clock, events in the order of theirs, one space of ids for each engine.
 */
export class AgentEngineDouble {
  readonly http: HttpDouble<Json>;
  /** By their full names. */
  readonly sessions = new Map<string, KeptSession>();
  readonly #operations = new Map<string, { looks: number; result: Json }>();
  /** Looks at an operation that find it unfinished. */
  looks = 1;
  /** Appends that are carried out but whose answers are lost. */
  lostAnswers = 0;
  outage: number | undefined;
  #count = 0;
  #clock = 0;

  private constructor(http: HttpDouble<Json>) {
    this.http = http;
    http.answer((request) => {
      if (this.outage !== undefined) return { status: this.outage, json: { error: { message: 'out' } } };
      return this.#answer(request);
    });
  }

  static async start(): Promise<AgentEngineDouble> {
    return new AgentEngineDouble(await HttpDouble.start<Json>());
  }

  close(): Promise<void> {
    return this.http.close();
  }

  #answer({ method, path, body }: DoubleRequest<Json>): DoubleReply {
    const url = new URL(path, 'http://double');
    const name = decodeURIComponent(url.pathname.slice('/v1beta1/'.length));
    const query = url.searchParams;
    if (name.includes('/operations/')) return this.#look(name);
    if (name.endsWith('/sessions'))
      return method === 'POST' ? this.#create(name, query, body) : this.#list(name, query);
    if (name.endsWith(':appendEvent')) return this.#append(name.replace(/:appendEvent$/, ''), body);
    const kept = this.sessions.get(name.replace(/\/events$/, ''));
    if (!kept) return failure(404, 'Session not found');
    if (name.endsWith('/events')) return page(this.#ordered(kept, query), 'sessionEvents', query);
    if (method !== 'DELETE') return { json: { ...kept.session, sessionState: kept.state } };
    this.sessions.delete(name);
    return { json: this.#operation(name, {}) };
  }

  #create(parent: string, query: URLSearchParams, { userId, sessionState, ...others }: Json): DoubleReply {
    if (Object.keys(others).length > 0) return failure(400, `Unknown name "${Object.keys(others)[0]}"`);
    this.#count += 1;
    const id = query.get('sessionId') ?? `${this.#count}`;
    if (!/^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/.test(id)) return failure(400, `Invalid session ID "${id}"`);
    const name = `${parent}/${id}`;
    if (this.sessions.has(name)) return failure(409, 'Session already exists');
    const time = this.#now();
    const session = { name, userId, createTime: time, updateTime: time };
    this.sessions.set(name, { session, state: structuredClone((sessionState ?? {}) as Json), events: [] });
    return { json: this.#operation(name, session) };
  }

  #list(parent: string, query: URLSearchParams): DoubleReply {
    const [, user] = /^(?:user_id|userId)="(.*)"$/.exec(query.get('filter') ?? '') ?? [];
    const wanted = user?.replaceAll(/\\(.)/g, '$1');
    const found = [...this.sessions.values()].filter(({ session }) => String(session['name']).startsWith(`${parent}/`));
    const owned = found.filter(({ session }) => wanted === undefined || session['userId'] === wanted);
    return page(
      owned.map(({ session, state }) => ({ ...session, sessionState: state })),
      'sessions',
      query,
    );
  }

  #append(name: string, body: Json): DoubleReply {
    const kept = this.sessions.get(name);
    if (!kept) return failure(404, 'Session not found');
    if (!body['author'] || body['invocationId'] === undefined || Number.isNaN(Date.parse(String(body['timestamp'])))) {
      return failure(400, 'A required field is missing');
    }
    this.#count += 1;
    kept.events.push({ ...body, name: `${name}/events/${this.#count}` });
    const { stateDelta = {} } = (body['actions'] ?? {}) as { stateDelta?: Json };
    for (const [key, value] of Object.entries(stateDelta)) {
      Object.defineProperty(kept.state, key, { value, enumerable: true, configurable: true, writable: true });
    }
    kept.session['updateTime'] = this.#now();
    if (this.lostAnswers === 0) return { json: {} };
    this.lostAnswers -= 1;
    return { broken: 'reset' };
  }

  #ordered({ events }: KeptSession, query: URLSearchParams): Json[] {
    const ordered = events.toSorted((a, b) => (String(a['timestamp']) < String(b['timestamp']) ? -1 : 1));
    return query.get('orderBy') === 'timestamp desc' ? ordered.toReversed() : ordered;
  }

  #operation(name: string, response: Json): Json {
    this.#count += 1;
    const operation = `${name}/operations/${this.#count}`;
    this.#operations.set(`${this.#count}`, { looks: this.looks, result: { name: operation, done: true, response } });
    return { name: operation };
  }

  #look(name: string): DoubleReply {
    const operation = this.#operations.get(name.split('/').at(-1)!);
    if (!operation) return failure(404, 'Operation not found');
    operation.looks -= 1;
    return { json: operation.looks < 0 ? operation.result : { name } };
  }

  /** Each time is later than the one before. */
  #now(): string {
    this.#clock = Math.max(this.#clock + 1, Date.now());
    return new Date(this.#clock).toISOString();
  }
}

export const failure = (status: number, message: string): DoubleReply => ({
  status,
  json: { error: { code: status, message } },
});

/** Pages are small, whatever is asked for. */
export function page(items: readonly Json[], key: string, query: URLSearchParams): DoubleReply {
  const start = Number(query.get('pageToken') ?? 0);
  const end = start + Math.min(pageSize, Number(query.get('pageSize') ?? pageSize));
  return { json: { [key]: items.slice(start, end), ...(end < items.length && { nextPageToken: String(end) }) } };
}
