import { expect } from 'vitest';
import { answerMatchers } from './matchers.ts';

expect.extend(answerMatchers);

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown;
}

export interface WireSession {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: Record<string, unknown>;
  readonly events: readonly WireEvent[];
  readonly lastUpdateTime: number;
}

export interface WirePart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: { readonly id: string; readonly name: string; readonly args: Record<string, unknown> };
  readonly functionResponse?: {
    readonly id: string;
    readonly name: string;
    readonly response: Record<string, unknown>;
  };
}

export interface WireEvent {
  readonly id: string;
  readonly invocationId: string;
  readonly author: string;
  readonly timestamp: number;
  readonly partial?: boolean;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly content?: { readonly role: string; readonly parts: readonly WirePart[] };
  readonly actions: {
    readonly stateDelta: Record<string, unknown>;
    readonly artifactDelta: Record<string, number>;
    readonly requestedAuthConfigs: Record<string, unknown>;
    readonly requestedToolConfirmations: Record<string, unknown>;
  };
}

/** Speaks to a server as a plain HTTP client would: no retries, no redirects followed, status never thrown. */
export interface WireClient {
  readonly url: string;
  send(method: string, path: string, init?: { body?: string; headers?: Record<string, string> }): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** Sends `body` as JSON; leave it out for a request without body and without content type. */
  post(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
}

export function wireClient(url: string): WireClient {
  const send: WireClient['send'] = async (method, path, init = {}) => {
    const response = await fetch(url + path, { method, redirect: 'manual', ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parseOrUndefined(text) };
  };
  const sendJson = (method: string, path: string, body: unknown): Promise<Answer> =>
    send(method, path, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  return {
    url,
    send,
    get: (path) => send('GET', path),
    post: (path, body) => (body === undefined ? send('POST', path) : sendJson('POST', path, body)),
    patch: (path, body) => sendJson('PATCH', path, body),
    delete: (path) => send('DELETE', path),
  };
}

/** The value of a JSON text, or undefined when it is none. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export const sessionsPath = (app: string, user = 'user'): string => `/apps/${app}/users/${user}/sessions`;

/** Creates a session and answers its path, such as `/apps/chat/users/user/sessions/4f…`, with its id. */
export async function newSession(
  client: WireClient,
  app: string,
  options: { user?: string; state?: Record<string, unknown> } = {},
): Promise<{ id: string; path: string }> {
  const { user = 'user', state } = options;
  const answer = await client.post(sessionsPath(app, user), state && { state });
  expect(answer).toHaveStatus(200);
  const { id } = answer.json as WireSession;
  return { id, path: `${sessionsPath(app, user)}/${id}` };
}

export const userMessage = (text: string): { role: string; parts: { text: string }[] } => ({
  role: 'user',
  parts: [{ text }],
});

export const runBody = (app: string, sessionId: string, text: string, extra: object = {}): object => ({
  appName: app,
  userId: 'user',
  sessionId,
  newMessage: userMessage(text),
  ...extra,
});

/** Runs one message to its end and answers the events; `body` as from `runBody`. */
export async function runEvents(client: WireClient, body: object): Promise<WireEvent[]> {
  const answer = await client.post('/run', body);
  expect(answer).toHaveStatus(200);
  return answer.json as WireEvent[];
}

export async function readSession(client: WireClient, path: string): Promise<WireSession> {
  const answer = await client.get(path);
  expect(answer).toHaveStatus(200);
  return answer.json as WireSession;
}

export const textOf = (event: WireEvent | undefined): string =>
  (event?.content?.parts ?? []).map((part) => (part.thought ? '' : (part.text ?? ''))).join('');

/** The JSON of each frame of an SSE body. Fails on anything but `data: ` + one line of JSON + a blank line. */
export function framesOf(body: string): unknown[] {
  expect(body.slice(-2)).toBe('\n\n');
  return body
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      expect(block).toMatch(/^data: \{.*\}$/);
      return JSON.parse(block.slice('data: '.length)) as unknown;
    });
}
