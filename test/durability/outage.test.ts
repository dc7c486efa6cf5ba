import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Composed, compose } from '../../src/app/compose.ts';
import { Config } from '../../src/app/config.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

/** Longer: OUTAGE_MS=60000 npx vitest run test/durability/outage. */
const outageMs = Number(process.env['OUTAGE_MS'] ?? 3_000);

const folder = mkdtempSync(join(tmpdir(), 'agent-outage-'));
const silent = { info() {}, warn() {}, error() {} };
let server: PostgresServer;
let composed: Composed;
beforeAll(async () => {
  server = await startPostgres();
  mkdirSync(join(folder, 'echo'));
  const agent = `name: echo\ninstruction: Answer.\nmodel: scripted\nscript:\n  - text: 'yes'\n`;
  writeFileSync(join(folder, 'echo/root_agent.yaml'), agent);
  const config = Config.parse({ agents: folder, sessionService: await server.newDatabase() });
  composed = await compose(config, { env: {}, log: silent, version: '0' });
});
afterAll(async () => {
  await composed.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const sessionsUrl = '/apps/echo/users/ada/sessions';
const run = async (sessionId: string): Promise<{ status: number; retryAfter: unknown; invocationId: string }> => {
  const answer = await composed.app.inject({
    method: 'POST',
    url: '/run',
    headers: { host: 'localhost' },
    payload: { appName: 'echo', userId: 'ada', sessionId, newMessage: { role: 'user', parts: [{ text: 'hi' }] } },
  });
  const body: unknown = answer.json();
  const invocationId = Array.isArray(body) ? String((body as { invocationId?: string }[])[0]?.invocationId) : '';
  return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], invocationId };
};
const ready = async (): Promise<number> =>
  (await composed.app.inject({ url: '/ready', headers: { host: 'localhost' } })).statusCode;

it(
  'answers 503 while the database is away, loses nothing, and serves again when it is back',
  async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `s${index}`);
    for (const id of ids) {
      const url = `${sessionsUrl}/${id}`;
      await composed.app.inject({ method: 'POST', url, headers: { host: 'localhost' }, payload: {} });
    }
    expect(await ready()).toBe(200);

    const over = new AbortController();
    const outcomes = ids.map(async (id) => {
      const answered: { status: number; retryAfter: unknown; invocationId: string }[] = [];
      for (; !over.signal.aborted; await pause(10)) answered.push(await run(id));
      return answered;
    });
    await pause(300);
    await server.stop('immediate');
    const refused = await run('s0');
    const readyAway = await ready();
    await pause(outageMs);
    await server.start();
    await pause(2_000);
    const served = await run('s1');
    const readyBack = await ready();
    over.abort();
    const answered = await Promise.all(outcomes);

    expect(refused).toMatchObject({ status: 503, retryAfter: expect.anything() });
    expect([readyAway, readyBack, served.status]).toEqual([503, 200, 200]);
    for (const [index, answers] of answered.entries()) {
      expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
      const acknowledged = answers.filter(({ status }) => status === 200).map(({ invocationId }) => invocationId);
      const url = `${sessionsUrl}/s${index}`;
      const session = await composed.app.inject({ url, headers: { host: 'localhost' } });
      const { events } = session.json<{ events: { id: string; invocationId: string; author: string }[] }>();
      const answersOf = events.filter(({ author }) => author === 'echo').map(({ invocationId }) => invocationId);
      expect(acknowledged.length).toBeGreaterThan(0);
      expect(acknowledged.filter((id) => !answersOf.includes(id))).toEqual([]);
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    }
  },
  outageMs + 60_000,
);
