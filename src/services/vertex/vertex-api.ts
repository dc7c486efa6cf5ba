import { AppError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { GoogleConnection, type GoogleToken } from '../google/google-connection.ts';

/** A resource of Vertex AI by its full name, such as `projects/P/locations/L/reasoningEngines/1`. */
export interface VertexPlace {
  readonly project: string;
  readonly location: string;
  /** The full name. */
  readonly resource: string;
}

export interface VertexAccess {
  readonly token?: GoogleToken | undefined;
  /** The URL of the API; default: Google's. */
  readonly baseUrl?: string | undefined;
}

export interface VertexAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

interface VertexRequest {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Default: POST with a body, GET without. */
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PATCH';
}

/** Time limit and poll intervals of a long-running operation. */
const operationLimitMs = 30_000;
const minPollMs = 50;
const maxPollMs = 2000;

/** Vertex AI's REST API (v1beta1) for one resource. */
export class VertexApi {
  readonly resource: string;
  readonly #place: VertexPlace;
  readonly #connection: GoogleConnection;
  readonly #baseUrl: string;

  constructor(place: VertexPlace, { token, baseUrl }: VertexAccess) {
    const { location, resource } = place;
    this.resource = resource;
    this.#place = place;
    const host = location === 'global' ? 'aiplatform' : `${location}-aiplatform`;
    this.#baseUrl = (baseUrl ?? `https://${host}.googleapis.com`).replace(/\/+$/, '');
    this.#connection = new GoogleConnection({
      what: `"${resource}"`,
      token,
      timeLimitMs: 30_000,
    });
  }

  /**
   * Sends one request. `path` is a full name, or a path below the resource (`/sessions`). Returns responses with 404 and 409;
   * other failures throw `invalid_request` with the service's message.
   */
  async call(path: string, { query = {}, body, method }: VertexRequest = {}): Promise<VertexAnswer> {
    const url = this.#url(`v1beta1/${path.startsWith('/') ? this.resource + path : path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const answer = await this.#connection.fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { 'content-type': 'application/json', 'x-goog-user-project': this.#place.project },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return this.#read(answer);
  }

  /** Uploads a file with its metadata, in one request. */
  async upload(path: string, about: JsonObject, text: string): Promise<VertexAnswer> {
    const form = new FormData();
    form.append('metadata', new Blob([JSON.stringify(about)], { type: 'application/json' }));
    form.append('file', new Blob([text], { type: 'text/plain' }), 'memory.txt');
    const answer = await this.#connection.fetch(this.#url(`upload/v1beta1/${this.resource}${path}`), {
      method: 'POST',
      headers: { 'x-goog-upload-protocol': 'multipart', 'x-goog-user-project': this.#place.project },
      body: form,
    });
    return this.#read(answer);
  }

  /** All items of a list, page by page. */
  async *list(path: string, key: string, query: Readonly<Record<string, string>> = {}): AsyncGenerator<JsonObject> {
    let pageToken = '';
    do {
      const { status, body } = await this.retryWhileUnavailable(() =>
        this.call(path, { query: { pageSize: '100', ...query, ...(pageToken !== '' && { pageToken }) } }),
      );
      if (status !== 200) throw this.notThere();
      const items = body[key];
      if (Array.isArray(items)) yield* items.filter(isJsonObject);
      pageToken = typeof body['nextPageToken'] === 'string' ? body['nextPageToken'] : '';
    } while (pageToken !== '');
  }

  /** Polls a long-running operation until it has ended. Throws `timed_out`, or the operation's failure. */
  async finished(operation: JsonObject): Promise<JsonObject> {
    const name = textIn(operation['name']);
    const { project, location } = this.#place;
    let latest = operation;
    let path = `projects/${project}/locations/${location}/operations/${name.split('/').at(-1) ?? ''}`;
    let waitMs = minPollMs;
    for (let waited = 0; latest['done'] !== true; waited += waitMs, waitMs = Math.min(maxPollMs, waitMs * 2)) {
      if (waited >= operationLimitMs) {
        throw new AppError('timed_out', `"${this.resource}" did not finish within ${operationLimitMs / 1000} s`);
      }
      await this.#connection.pause(waitMs);
      const looked = path;
      const { status, body } = await this.retryWhileUnavailable(() => this.call(looked));
      if (status === 200) latest = body;
      else if (path === name) throw new AppError('internal', `The operation "${name}" is not known any more`);
      else path = name; // some operations exist only under their full name
    }
    const failure = latest['error'];
    if (!isJsonObject(failure)) return latest;
    const code = failure['code'] === alreadyExists ? 'session_exists' : 'invalid_request';
    throw new AppError(code, `"${this.resource}": ${textIn(failure['message'], 'the operation failed')}`);
  }

  /** Repeats `act` for some seconds while it throws `unavailable`. */
  retryWhileUnavailable<Result>(act: () => Promise<Result>): Promise<Result> {
    return this.#connection.retryWhileUnavailable(act);
  }

  pause(ms: number): Promise<void> {
    return this.#connection.pause(ms);
  }

  notThere(): AppError {
    return new AppError('unavailable', `"${this.resource}" does not exist`);
  }

  close(): void {
    this.#connection.close();
  }

  #url(path: string): URL {
    return new URL(`${this.#baseUrl}/${path}`);
  }

  async #read(answer: Response): Promise<VertexAnswer> {
    const text = await answer.text();
    let body: unknown;
    try {
      body = text === '' ? {} : JSON.parse(text);
    } catch {
      body = undefined;
    }
    const { status } = answer;
    if (answer.ok && isJsonObject(body)) return { status: 200, body };
    if (status === 404 || status === 409) return { status, body: {} };
    if (status === 413) throw new AppError('too_large', `"${this.resource}" does not accept such a large request`);
    const failure = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : {};
    const message = textIn(failure['message'], `it answered ${status}`).slice(0, 500);
    throw new AppError('invalid_request', `"${this.resource}": ${message}`);
  }
}

const alreadyExists = 6;

/** The value if it is a text; anything else counts as absent. */
export const textIn = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise);
