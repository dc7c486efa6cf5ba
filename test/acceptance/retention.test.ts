import { expect, it, vi } from 'vitest';
import { type Ended, folderOf, run } from '../support/program.ts';
import { ServerProcess } from '../support/server.ts';

const greeter = {
  'agents/greeter/root_agent.yaml': 'name: greeter\nmodel: scripted\ninstruction: x\nscript: [{ text: Hi! }]\n',
};
const session = '/apps/greeter/users/u/sessions/s';

/** A real server with a session, and what a client does with it. */
async function serve(cwd: string, flags: readonly string[]) {
  const server = await ServerProcess.start({ agents: 'agents', cwd, flags: [...flags, '--log-level', 'warn'] });
  await server.fetchJson(session, { json: {} });
  const path = (name: string): string => `${server.url}${session}/artifacts/${encodeURIComponent(name)}`;
  return {
    server,
    put: async (name: string, body: string): Promise<unknown> =>
      ((await (await fetch(path(name), { method: 'PUT', body })).json()) as { version: unknown }).version,
    read: async (name: string): Promise<string> => (await fetch(`${path(name)}?alt=media`)).text(),
    versions: async (name: string): Promise<unknown> =>
      (await server.fetchJson(`${session}/artifacts/${encodeURIComponent(name)}/versions`)).body,
    start: async (key: string): Promise<{ id: string; isOld: boolean }> => {
      const response = await fetch(`${server.url}${session}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ newMessage: { role: 'user', parts: [{ text: 'Hello' }] } }),
      });
      const { id } = (await response.json()) as { id: string };
      await server.fetchJson(`${session}/runs/${id}/wait`);
      return { id, isOld: response.headers.get('idempotency-replayed') === 'true' };
    },
  };
}

it('deletes old versions and runs below a server that goes on serving the rest', async () => {
  const cwd = folderOf(greeter);
  const stores = ['--session-service', 'sqlite:data.db', '--artifact-service', 'file:files'];
  const { server, put, read, versions, start } = await serve(cwd, stores);
  for (const name of ['poem', 'user:face']) {
    for (const text of ['one', 'two', 'three', 'four']) await put(name, text);
  }
  await put('lonely', 'one');
  const first = await start('k');
  const gc = (...flags: string[]): Promise<Ended> =>
    run(['gc', ...stores, '--max-artifact-versions', '2', '--run-ttl', '1ms', ...flags], { cwd });

  const said = [(await gc('--dry-run')).err, (await gc()).err, (await gc()).err];

  expect(said).toEqual([
    '4 versions of artifacts would be deleted\n1 runs would be deleted\n',
    '4 versions of artifacts deleted\n1 runs deleted\n',
    '0 versions of artifacts deleted\n0 runs deleted\n',
  ]);
  expect([await versions('poem'), await versions('user:face'), await versions('lonely')]).toEqual([
    [2, 3],
    [2, 3],
    [0],
  ]);
  expect((await server.fetchJson(`${session}/artifacts/poem/versions/1`)).status).toBe(404);
  expect([await read('poem'), await put('poem', 'five'), await read('poem')]).toEqual(['four', 4, 'five']);
  expect(await server.stop()).toBe(0);

  const next = await serve(cwd, stores);
  const told = (await next.server.fetchJson(`${session}/runs/${first.id}`)).body;
  expect(told).toMatchObject({ id: first.id, status: 'done' });
  expect(await next.versions('poem')).toEqual([2, 3, 4]);
  expect(await next.start('k')).toEqual({ id: expect.not.stringContaining(first.id), isOld: false });
  expect(await next.server.stop()).toBe(0);
});

it('deletes them by itself, in memory, too, and forgets traces', async () => {
  const cwd = folderOf(greeter);
  const store = ['--session-service', 'sqlite:data.db'];
  const flags = ['--artifact-version-ttl', '1s', '--run-ttl', '1s', '--trace-ttl', '6s'];
  const { server, put, read, versions, start } = await serve(cwd, [...store, ...flags]);
  for (const text of ['one', 'two', 'three']) await put('poem', text);
  await start('k');
  const traced = async (): Promise<unknown> => (await server.fetchJson('/debug/trace/session/s')).body;
  expect(await traced()).not.toEqual([]);

  await vi.waitFor(async () => expect(await versions('poem')).toEqual([2]), { timeout: 40_000, interval: 500 });

  expect([await read('poem'), await put('poem', 'four')]).toEqual(['three', 3]);
  expect((await run(['gc', ...store, '--run-ttl', '1ms', '--dry-run'], { cwd })).err).toBe('0 runs would be deleted\n');
  await vi.waitFor(async () => expect(await traced()).toEqual([]), { timeout: 40_000, interval: 500 });
  expect(await server.stop()).toBe(0);
});

it('forgets the traces of sessions that went because there were too many', async () => {
  const cwd = folderOf(greeter);
  const { server, start } = await serve(cwd, ['--max-sessions', '2']);
  await start('k');
  const ids = async (): Promise<unknown> => {
    const { traces } = (await server.fetchJson('/traces')).body as { traces: { sessionIds: string[] }[] };
    return traces.map(({ sessionIds }) => sessionIds[0]);
  };
  expect(await ids()).toEqual(['s']);

  for (const id of ['later', 'latest']) await server.fetchJson(`/apps/greeter/users/u/sessions/${id}`, { json: {} });

  expect(await ids()).toEqual([]);
});
