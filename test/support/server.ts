import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { readFrames, type SseFrame } from './sse-frames.ts';

/** The build, as users run it: `shared.setup.ts` makes it before any test. */
const mainFile = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const readyTimeoutMs = 40_000;
const stopTimeoutMs = 15_000;

export interface ServerOptions {
  /** The agents folder. */
  readonly agents: string;
  /** Added to a bare environment (PATH, HOME); nothing of the developer's own, such as API keys, reaches the server. */
  readonly env?: Record<string, string>;
  /** More command line flags. */
  readonly flags?: readonly string[];
  readonly cwd?: string;
  /** Another program in the place of `dist/main.js`. */
  readonly entry?: string;
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined when it is empty. */
  readonly body: unknown;
  readonly text: string;
}

/** As `npm start` sets it: Node would let a burst of garbage take tens of MB more. */
const youngGeneration = '--max-semi-space-size=16';

/** The real server in a process of its own: `node dist/main.js --port 0`. */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #exited: Promise<number | null>;
  #stdout = '';
  #stderr = '';
  #url = '';

  private constructor(options: ServerOptions) {
    const { agents, env = {}, flags = [], cwd, entry = mainFile } = options;
    const { PATH = '', HOME = '' } = process.env;
    this.#child = spawn(process.execPath, [youngGeneration, entry, '--port', '0', '--agents', agents, ...flags], {
      cwd,
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.#exited = once(this.#child, 'close').then(() => this.#child.exitCode);
  }

  /** Starts the server and waits until it prints its address. Throws with its output when it ends before. */
  static async start(options: ServerOptions): Promise<ServerProcess> {
    const server = new ServerProcess(options);
    try {
      await server.#ready();
    } catch (error) {
      server.#child.kill('SIGKILL');
      throw error;
    }
    return server;
  }

  /** The base URL, without a slash at its end. */
  get url(): string {
    return this.#url;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** The log so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Sends `json` when given (POST unless `method` says otherwise), else a GET; never throws for a status. */
  async fetchJson(
    path: string,
    init: { json?: unknown; method?: string; signal?: AbortSignal } = {},
  ): Promise<JsonAnswer> {
    const { json, method = json === undefined ? 'GET' : 'POST', signal } = init;
    const response = await fetch(this.#url + path, {
      method,
      ...(json === undefined ? {} : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
      text,
    };
  }

  /** Opens an event stream; resolves with the answer's headers, before the first frame. */
  async sse(path: string, body: unknown): Promise<SseStream> {
    const leaving = new AbortController();
    const response = await fetch(this.#url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    return new SseStream(response, leaving);
  }

  /** Asks the server to end (SIGTERM) and gives its exit code. Throws when it has to be killed. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGTERM');
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#child.kill('SIGKILL');
      reject(new Error(`The server did not end in ${stopTimeoutMs} ms after SIGTERM:\n${this.#stderr}`));
    }, stopTimeoutMs);
    try {
      return await Promise.race([this.#exited, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #ready(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (why: string): void => reject(new Error(`${why}\n${this.#stdout}\n${this.#stderr}`));
    const look = (): void => {
      const match = /http:\/\/127\.0\.0\.1:\d+/.exec(this.#stdout);
      if (!match) return;
      this.#url = match[0];
      resolve();
    };
    const timer = setTimeout(() => fail(`The server was not ready in ${readyTimeoutMs} ms`), readyTimeoutMs);
    this.#child.stdout.on('data', look);
    // A failed spawn rejects `#exited` itself; here both endings mean that it never got ready.
    this.#exited.then(
      (code) => fail(`The server ended with exit code ${code} before it was ready`),
      (error: unknown) => reject(error),
    );
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#child.stdout.off('data', look);
    }
  }
}

/** One open event stream. Read it once: by iterating, or by `all`. */
export class SseStream implements AsyncIterable<SseFrame> {
  readonly #response: Response;
  readonly #leaving: AbortController;
  readonly #chunks: Uint8Array[] = [];

  constructor(response: Response, leaving: AbortController) {
    this.#response = response;
    this.#leaving = leaving;
  }

  get status(): number {
    return this.#response.status;
  }

  get headers(): Headers {
    return this.#response.headers;
  }

  /** The bytes read so far. */
  get raw(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** The network reads so far, as they came. */
  get chunks(): readonly Uint8Array[] {
    return this.#chunks;
  }

  /** Frames as they arrive. Throws when a block is not a frame of ours or the stream ends inside one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SseFrame, void, undefined> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let text = '';
    for await (const chunk of this.#response.body ?? []) {
      this.#chunks.push(chunk);
      text += decoder.decode(chunk, { stream: true });
      const { frames, rest } = readFrames(text);
      text = rest;
      yield* frames;
    }
    if (text !== '') throw new Error(`The stream ends inside a frame: ${JSON.stringify(text)}`);
  }

  /** The JSON of every frame up to the end of the stream. */
  async all(): Promise<Record<string, unknown>[]> {
    const frames = await Array.fromAsync(this);
    return frames.map((frame) => frame.data);
  }

  /** The body as JSON: for an answer that is an error and no stream. */
  async problem(): Promise<unknown> {
    return JSON.parse(await this.#response.text());
  }

  /** Closes the connection, as a client that goes away. */
  leave(): void {
    this.#leaving.abort();
  }
}
