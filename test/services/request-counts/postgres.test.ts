import { afterAll, beforeAll, expect, it } from 'vitest';
import { Databases, requestCountsAt } from '../../../src/services/open-services.ts';
import { PostgresRequestCounts } from '../../../src/services/request-counts/postgres.ts';
import { newDatabase } from '../../support/shared.ts';

let uri: string;
const servers: Databases[] = [];
beforeAll(async () => {
  uri = await newDatabase();
  servers.push(new Databases(), new Databases());
});
afterAll(() => Promise.all(servers.map((databases) => databases.close())));

const counts = (): PostgresRequestCounts[] =>
  servers.map((databases) => new PostgresRequestCounts(databases.postgres(uri)));

it('gives every request of two servers a number of its own', async () => {
  const [one, other] = counts();

  const counted = await Promise.all(
    Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? one : other)!.count('key:both', 60_000)),
  );

  expect(counted.map(({ requests }) => requests).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, index) => index + 1),
  );
  expect(Math.max(...counted.map(({ remainingMs }) => remainingMs))).toBeLessThanOrEqual(60_000);
});

it('counts each key for itself', async () => {
  const [one] = counts();

  await one!.count('key:ada', 60_000);

  expect(await one!.count('key:bob', 60_000)).toEqual({ requests: 1, remainingMs: 60_000 });
});

it('begins again when the window is over, and deletes windows that are over', async () => {
  const [one] = counts();
  await one!.count('key:short', 0);
  await one!.count('key:long', 60_000);

  expect(await one!.count('key:short', 0)).toEqual({ requests: 1, remainingMs: 0 });
  await one!.sweep();

  const rows = await servers[0]!.postgres(uri).query<{ key: string }>('select key from agent_request_windows');
  expect(rows.map(({ key }) => key)).toContain('key:long');
  expect(rows.map(({ key }) => key)).not.toContain('key:short');
});

it('counts together only where servers share PostgreSQL', () => {
  const databases = new Databases();

  expect(requestCountsAt('memory:', databases)).toBeUndefined();
  expect(requestCountsAt('sqlite::memory:', databases)).toBeUndefined();
  expect(requestCountsAt('postgres://db.example/agents', databases)).toBeInstanceOf(PostgresRequestCounts);
});
