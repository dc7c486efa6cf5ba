import type { Problem } from '../../../src/schemas/records.ts';

/** The address of the server: one level above the base of the page, below any prefix. */
const serverUrl = new URL('..', document.baseURI);

/** Absolute address of an endpoint. `path` has no leading slash and is encoded already. */
export const addressOf = (path: string): string => new URL(path, serverUrl).href;

/** Encodes the segments of a path: `` path`apps/${app}/users` ``. */
export const path = (texts: TemplateStringsArray, ...names: readonly (string | number)[]): string =>
  texts.reduce((whole, text, index) => whole + encodeURIComponent(String(names[index - 1])) + text);

/** A request that failed: method, path, and the message of the server. `status` is 0 without a response. */
export class ApiError extends Error {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: string;

  constructor(asked: { method: string; path: string }, status: number, problem: Partial<Problem>) {
    super(problem.detail ?? problem.error ?? (status === 0 ? 'The server cannot be reached' : `Status ${status}`));
    this.method = asked.method;
    this.path = asked.path;
    this.status = status;
    this.code = problem.code ?? '';
  }
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

let whenUnauthenticated = (): void => {};

/** Calls `listener` after each request that the server answers with 401. */
export const onUnauthenticated = (listener: () => void): void => void (whenUnauthenticated = listener);

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request. Throws an `ApiError` for anything but success, and an abort unchanged. */
export async function request(where: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, headers, signal } = options;
  const asked = { method, path: `/${where}` };
  // A deletion completes even when the page is closed.
  const init: RequestInit = { method, headers: { ...headers }, signal: signal ?? null, keepalive: method === 'DELETE' };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...headers, 'content-type': 'application/json' };
  }
  let response: Response;
  try {
    response = await fetch(addressOf(where), init);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(asked, 0, {});
  }
  if (response.ok) return response;
  if (response.status === 401) whenUnauthenticated();
  throw new ApiError(asked, response.status, await problemOf(response));
}

/** Reads JSON. The caller names the type: server and page share their schemas and come from one package. */
export async function getJson<T>(where: string, signal?: AbortSignal): Promise<T> {
  return (await (await request(where, { signal })).json()) as T;
}

export async function sendJson<T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  where: string,
  body?: unknown,
): Promise<T> {
  return (await (await request(where, { method, body })).json()) as T;
}

async function problemOf(response: Response): Promise<Partial<Problem>> {
  const text = await response.text().catch(() => '');
  try {
    return JSON.parse(text) as Partial<Problem>;
  } catch {
    return text === '' ? {} : { detail: text.slice(0, 500) };
  }
}
