import { expect, it, vi } from 'vitest';
import { delay } from '../../../src/base/abort.ts';
import type { Principal } from '../../../src/core/principal.ts';
import type { Authenticator } from '../../../src/identity/authenticator.ts';
import { LiveClient } from '../../support/live-client.ts';
import { readFrames } from '../../support/sse-frames.ts';
import { echo } from '../live/scene.ts';
import { listen, runBody, says, type Script, server } from '../server.ts';

const key = { appName: 'demo', userId: 'u', sessionId: 's' };

/** Every credential is the name of a user; it expires after so many milliseconds, if at all. */
const usersFor = (ms?: number): Authenticator => ({
  async authenticate({ headers: { authorization } }): Promise<Principal | undefined> {
    if (typeof authorization !== 'string') return undefined;
    const userId = authorization.replace('Bearer ', '');
    const expiry = ms === undefined ? {} : { expiresAt: Date.now() + ms };
    return { id: userId, userId, actsForUsers: false, roles: new Set(['user']), ...expiry };
  },
});

const as = (userId: string) => ({ headers: { authorization: `Bearer ${userId}` } });

async function liveServer(authenticator: Authenticator) {
  const begun: string[] = [];
  const { app } = await server({
    authenticator,
    async startLive({ userId }, input) {
      begun.push(userId);
      return { invocationId: 'e-1', [Symbol.asyncIterator]: () => echo(input)[Symbol.asyncIterator]() };
    },
    config: { defaultApp: 'demo' },
  });
  return { url: await listen(app), begun };
}

it('refuses a WebSocket before it opens: without a credential, and for another user', async () => {
  const { url, begun } = await liveServer(usersFor());

  await expect(LiveClient.connect(url, key)).rejects.toThrow('Unexpected server response: 401');
  await expect(LiveClient.connect(url, key, as('bob'))).rejects.toThrow('Unexpected server response: 403');
  const unnamed = new LiveClient(`${url.replace('http', 'ws')}/run_live?userId=u&sessionId=s`, as('bob').headers);
  await expect(unnamed.opened).rejects.toThrow('Unexpected server response: 403');
  expect(begun).toEqual([]);

  const client = await LiveClient.connect(url, key, as('u'));
  client.send({ close: true });
  expect(await client.closed).toEqual({ code: 1000, reason: '' });
  expect(begun).toEqual(['u']);
});

it('refuses a WebSocket to an app that is closed to the caller, the default one as well', async () => {
  const users = usersFor();
  const { url } = await liveServer({
    async authenticate(...request) {
      const principal = await users.authenticate(...request);
      return principal && { ...principal, apps: new Set(['other']) };
    },
  });
  const unnamed = new LiveClient(`${url.replace('http', 'ws')}/run_live?userId=u&sessionId=s`, as('u').headers);

  await expect(LiveClient.connect(url, key, as('u'))).rejects.toThrow('Unexpected server response: 403');
  await expect(unnamed.opened).rejects.toThrow('Unexpected server response: 403');
});

it('closes a live connection when the credential expires', async () => {
  const { url } = await liveServer(usersFor(300));
  const client = await LiveClient.connect(url, key, as('u'));

  expect(await client.closed).toEqual({ code: 1008, reason: 'The credential has expired' });
});

/** Yields one event and then waits; `ends` says why it ended. */
function waiting(): { script: Script; ends: unknown[] } {
  const ends: unknown[] = [];
  const script: Script = async function* (_request, signal) {
    yield says('Well');
    await delay(60_000, signal).catch((error: unknown) => ends.push(error));
    signal.throwIfAborted();
  };
  return { script, ends };
}

/** Reads an event stream until the server ends it, in whatever way. */
async function readAll(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const piece of response.body ?? []) text += decoder.decode(piece as Uint8Array, { stream: true });
    return text;
  } catch {
    return text; // a connection that is cut is an end as well
  }
}

it('ends the stream of a run when the credential expires, and the run with it', async () => {
  const { script, ends } = waiting();
  const { app } = await server({ script, authenticator: usersFor(1_000), config: { keepAliveMs: 30 } });
  const response = await fetch(`${await listen(app)}/run_sse`, {
    method: 'POST',
    headers: { ...as('u').headers, 'content-type': 'application/json' },
    body: JSON.stringify(runBody()),
  });

  const { frames } = readFrames(await readAll(response));
  expect(frames.at(-1)?.data).toMatchObject({ errorCode: 'unauthenticated', error: 'The credential has expired' });
  await vi.waitUntil(() => ends.length > 0);
  expect(ends).toEqual([expect.objectContaining({ code: 'run_cancelled' })]);
});

it('ends the stream of a background run when the credential expires, and lets the run go on', async () => {
  const { script, ends } = waiting();
  const { app, services } = await server({ script, authenticator: usersFor(1_000), config: { keepAliveMs: 30 } });
  await services.sessions.createSession(key, { sessionId: 's' });
  const url = await listen(app);
  const response = await fetch(`${url}/run_sse`, {
    method: 'POST',
    headers: { ...as('u').headers, 'content-type': 'application/json' },
    body: JSON.stringify(runBody('Hi', { resumable: true })),
  });
  const runId = response.headers.get('x-run-id') ?? '';

  expect(await readAll(response)).toContain('"errorCode":"unauthenticated"');
  const run = await app.inject({ url: `/apps/demo/users/u/sessions/s/runs/${runId}`, ...as('u') });
  expect(run.json()).toMatchObject({ status: 'running' });
  expect(ends).toEqual([]);
});
