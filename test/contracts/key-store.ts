import { describe, expect, it } from 'vitest';
import type { KeyStore } from '../../src/core/key-store.ts';
import { newApiKey } from '../../src/identity/api-keys.ts';
import type { ApiKey } from '../../src/schemas/api-key.ts';

const time = '2027-01-01T00:00:00.000Z';
let made = 0;
const newKey = (fields: Partial<ApiKey> = {}): ApiKey => ({
  ...newApiKey({ owner: 'Zoë "the" cat', actsForUsers: true, roles: ['user'] }).record,
  createdAt: new Date(Date.UTC(2026, 0, 1) + (made += 1)).toISOString(),
  ...fields,
});

/** What every store of API keys promises. `open` gives two users of one new store. */
export function keyStoreContract(name: string, open: () => Promise<readonly [KeyStore, KeyStore]>): void {
  describe(`${name} as a store of API keys`, () => {
    it('returns keys as they were added, the oldest first', async () => {
      const [one, other] = await open();
      const keys = [
        newKey({
          userId: 'ada',
          apps: ['shop', 'help'],
          roles: ['operator', 'admin'],
          limits: { requestsPerMinute: 1, budgets: { userDay: { tokens: 5, cost: 0.25 } } },
          expiresAt: time,
        }),
        newKey(),
      ];
      for (const key of keys) await one.add(key);

      expect(await one.list()).toEqual(keys);
      expect(await other.list()).toEqual(keys);
    });

    it('refuses a second key of the same id', async () => {
      const [one, other] = await open();
      const key = newKey();
      await one.add(key);

      await expect(other.add(newKey({ id: key.id }))).rejects.toMatchObject({ code: 'invalid_request' });
      expect(await one.list()).toEqual([key]);
    });

    it('shows all its users each change, and the same array while nothing changes', async () => {
      const [one, other] = await open();
      const key = newKey();
      await one.add(key);
      const before = await other.list();

      expect(before).toEqual([key]);
      await expect.poll(async () => (await other.list()) === (await other.list())).toBe(true);
      const more = newKey();
      await one.add(more);
      expect(await other.list()).toEqual([key, more]);
      await one.revoke(key.id, time);
      expect(await other.list()).toEqual([{ ...key, revokedAt: time }, more]);
    });

    it('revokes a key once, and no unknown key', async () => {
      const [one, other] = await open();
      const key = newKey();
      await one.add(key);

      expect(await other.revoke(key.id, time)).toEqual({ ...key, revokedAt: time });
      expect(await one.revoke(key.id, '2028-01-01T00:00:00.000Z')).toEqual({ ...key, revokedAt: time });
      expect(await one.revoke('0123456789abcdef', time)).toBeUndefined();
    });

    it('loses none of the keys that are added at the same time', async () => {
      const [one, other] = await open();
      const keys = Array.from({ length: 20 }, () => newKey());
      await Promise.all(keys.map((key, index) => (index % 2 === 0 ? one : other).add(key)));

      const ids = (await one.list()).map(({ id }) => id);
      expect(ids.toSorted()).toEqual(keys.map(({ id }) => id).toSorted());
    });
  });
}
