import type { Replica } from '../acceptance/durable/replicas.ts';
import { readFrames, type SseFrame } from '../support/sse-frames.ts';

/** A client that hears nothing for so long goes to another server. */
const patienceMs = 4_000;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Asks one server once. Throws when it is gone, or keeps silent. */
export async function ask(
  { process }: Replica,
  path: string,
  { json, key }: { json?: object; key?: string } = {},
): Promise<Answer> {
  const response = await fetch(process.url + path, {
    ...(json && { method: 'POST', body: JSON.stringify(json) }),
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
    signal: AbortSignal.timeout(patienceMs),
  });
  return { status: response.status, body: await response.json() };
}

export interface StreamAsked {
  readonly last?: string;
  readonly json?: object;
}

/** The frames of a stream as they come. Throws when the server is gone, refuses, or keeps silent for too long. */
export async function* listen(
  { process }: Replica,
  path: string,
  { last, json }: StreamAsked,
): AsyncGenerator<SseFrame, void, void> {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(new Error('The server keeps silent')), patienceMs);
  try {
    const response = await fetch(process.url + path, {
      ...(json && { method: 'POST', body: JSON.stringify(json) }),
      headers: { 'content-type': 'application/json', ...(last !== undefined && { 'last-event-id': last }) },
      signal: leaving.signal,
    });
    if (response.status !== 200) throw new Error(`The stream was answered with ${await response.text()}`);
    let text = '';
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      text += Buffer.from(chunk).toString();
      const { frames, rest } = readFrames(text);
      text = rest;
      yield* frames;
    }
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}
