import { expect, it } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import type { KeyStore } from '../../src/core/key-store.ts';
import { ApiKeys, type NewApiKey, newApiKey } from '../../src/identity/api-keys.ts';
import type { ApiKey } from '../../src/schemas/api-key.ts';
import { bearer, callerWith, patient } from '../support/caller.ts';

const fields: NewApiKey = { owner: 'Ada', userId: 'ada', actsForUsers: false, roles: ['user'] };
const wrong = { code: 'unauthenticated', message: 'The credential is not valid' };

class MemoryKeys implements KeyStore {
  keys: readonly ApiKey[] = [];
  reads = 0;
  failure: Error | undefined;

  async list(): Promise<readonly ApiKey[]> {
    this.reads += 1;
    if (this.failure) throw this.failure;
    return this.keys;
  }
  async add(key: ApiKey): Promise<void> {
    this.keys = [...this.keys, key];
  }
  async revoke(id: string, revokedAt: string): Promise<ApiKey | undefined> {
    this.keys = this.keys.map((key) => (key.id === id ? { ...key, revokedAt } : key));
    return this.keys.find((key) => key.id === id);
  }
}

function scene() {
  const store = new MemoryKeys();
  let nowMs = 0;
  const keys = new ApiKeys(store, () => nowMs);
  return {
    store,
    pass: (ms: number) => (nowMs += ms),
    add: async (more: Partial<NewApiKey> = {}) => {
      const { text, record } = newApiKey({ ...fields, ...more });
      await store.add(record);
      return { text, id: record.id };
    },
    check: (text: string) => keys.authenticate(bearer(text), patient),
    keys,
  };
}

it('identifies the caller by a key, in either header', async () => {
  const { keys, add } = scene();
  const { text, id } = await add({ roles: ['operator', 'admin'], apps: ['shop'], limits: { requestsPerMinute: 5 } });
  const principal = {
    id: `key:${id}`,
    userId: 'ada',
    actsForUsers: false,
    roles: new Set(['operator', 'admin']),
    apps: new Set(['shop']),
    limits: { requestsPerMinute: 5 },
  };

  expect(await keys.authenticate(bearer(text), patient)).toEqual(principal);
  expect(await keys.authenticate(callerWith({ 'x-api-key': text }), patient)).toEqual(principal);
  expect(await keys.authenticate(callerWith({ 'x-api-key': text, authorization: `Bearer ${text}` }), patient)).toEqual(
    principal,
  );
});

it('makes unique keys, and stores none of their secrets', () => {
  const made = Array.from({ length: 50 }, () => newApiKey(fields));

  expect(new Set(made.map(({ text }) => text)).size).toBe(50);
  for (const { text, record } of made) {
    expect(text).toMatch(/^ask_[0-9a-z]{16}_[\w-]{43}$/);
    expect(JSON.stringify(record)).not.toContain(text.slice(-43));
    expect(text).toContain(record.id);
  }
});

it('leaves other credentials to others', async () => {
  const { keys, store } = scene();

  for (const headers of [
    {},
    { authorization: 'Bearer abc' },
    { authorization: 'Basic ask_1' },
    { 'x-api-key': 'abc' },
  ]) {
    expect(await keys.authenticate(callerWith(headers), patient)).toBeUndefined();
  }
  expect(store.reads).toBe(0);
});

it('refuses every malformed or unknown key with the same error', async () => {
  const { add, check } = scene();
  const { text, id } = await add();
  const other = newApiKey(fields).text;

  for (const bad of [
    'ask_',
    other,
    `${text}x`,
    text.slice(0, -1),
    `ask_${id}_${other.slice(-43)}`,
    `ask_${id}_`,
    `ask_${'0'.repeat(16)}_${text.slice(-43)}`,
    `ask_${id.toUpperCase()}_${text.slice(-43)}`,
    `ask_${id}_${'x'.repeat(10_000)}`,
    'ask___proto__________',
  ]) {
    await expect(check(bad)).rejects.toMatchObject(wrong);
  }
  expect(await check(text)).toMatchObject({ id: `key:${id}` });
});

it('refuses two keys in one request', async () => {
  const { keys, add } = scene();
  const [one, other] = [await add(), await add()];
  const both = callerWith({ authorization: `Bearer ${one.text}`, 'x-api-key': other.text });
  const twice = callerWith({ 'x-api-key': [one.text, one.text] });

  await expect(keys.authenticate(both, patient)).rejects.toMatchObject(wrong);
  await expect(keys.authenticate(twice, patient)).rejects.toMatchObject(wrong);
});

it('refuses an expired key, from the millisecond on', async () => {
  const { add, check } = scene();
  const past = await add({ expiresAt: new Date(Date.now() - 1).toISOString() });
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const good = await add({ expiresAt: later });

  await expect(check(past.text)).rejects.toMatchObject(wrong);
  expect(await check(good.text)).toMatchObject({ expiresAt: Date.parse(later) });
});

it('sees new and revoked keys within two seconds, and asks the store once a second', async () => {
  const { add, check, pass, store } = scene();
  const first = await add();
  await check(first.text);
  const second = await add();
  await store.revoke(first.id, new Date().toISOString());
  await Promise.allSettled(Array.from({ length: 50 }, () => check(second.text)));
  expect(store.reads).toBe(1);

  pass(1_001);
  const [revoked, added] = await Promise.allSettled([check(first.text), check(second.text)]);

  expect(revoked).toMatchObject({ status: 'rejected', reason: wrong });
  expect(added).toMatchObject({ status: 'fulfilled', value: { id: `key:${second.id}` } });
  expect(store.reads).toBe(2);
});

it('says so when the store is away, and is back with the store', async () => {
  const { add, check, pass, store } = scene();
  const { text } = await add();
  await check(text);
  store.failure = new AppError('unavailable', 'The database cannot be reached', { retryAfter: 2 });
  pass(1_001);

  await expect(check(text)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 });
  store.failure = undefined;
  expect(await check(text)).toMatchObject({ userId: 'ada' });
});

it('stops waiting for the store when the request is over', async () => {
  const { store, keys, add } = scene();
  const { text } = await add();
  store.list = () => new Promise(() => {});
  const over = new AbortController();
  const waiting = keys.authenticate(bearer(text), over.signal);
  over.abort(new Error('left'));

  await expect(waiting).rejects.toThrow('left');
});
