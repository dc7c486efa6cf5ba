import { expect, it } from 'vitest';
import { networkFault, trustedProxy, type TrustedProxyOptions } from '../../src/identity/trusted-proxy.ts';
import { callerWith, patient } from '../support/caller.ts';

const wrong = { code: 'unauthenticated', message: 'The credential is not valid' };
const options: TrustedProxyOptions = {
  addresses: ['10.1.0.0/16', '127.0.0.1', 'fd00::/8'],
  userHeader: 'X-Forwarded-User',
  rolesHeader: 'X-Forwarded-Groups',
  rolesMap: { staff: ['operator'] },
  defaultRoles: ['user'],
};
const check = (headers: Parameters<typeof callerWith>[0], address: string | undefined, more = {}) =>
  trustedProxy({ ...options, ...more }).authenticate({ ...callerWith(headers), remoteAddress: address }, patient);
const ada = { 'x-forwarded-user': 'ada' };

it('takes the user and the roles from the headers of the proxy', async () => {
  expect(await check({ ...ada, 'x-forwarded-groups': 'guests, staff' }, '10.1.255.7')).toEqual({
    id: 'proxy:ada',
    userId: 'ada',
    actsForUsers: false,
    roles: new Set(['user', 'operator']),
  });
  expect(await check(ada, 'fd12::1')).toMatchObject({ userId: 'ada', roles: new Set(['user']) });
  expect(
    await check({ ...ada, 'x-forwarded-groups': 'staff,admin' }, '127.0.0.1', { rolesMap: undefined }),
  ).toMatchObject({
    roles: new Set(['user', 'admin']),
  });
});

it.each(['10.2.0.1', '127.0.0.2', '203.0.113.9', 'fe80::1', '::1', '', undefined, 'unix'])(
  'does not believe %s, whatever it says of others',
  async (address) => {
    const forwarded = { ...ada, 'x-forwarded-for': '10.1.0.1', forwarded: 'for=10.1.0.1', 'x-real-ip': '10.1.0.1' };

    expect(await check(forwarded, address)).toBeUndefined();
  },
);

it('identifies no caller when the proxy names no user', async () => {
  expect(await check({}, '10.1.0.1')).toBeUndefined();
  expect(await check({ 'x-forwarded-user': ' ' }, '10.1.0.1')).toBeUndefined();
});

it('refuses a header that came twice, and names that are none', async () => {
  for (const name of ['a/b', '..', 'a\u0001', 'x'.repeat(300), '\u00ff']) {
    await expect(check({ 'x-forwarded-user': name }, '10.1.0.1')).rejects.toMatchObject(wrong);
  }
  await expect(check({ 'x-forwarded-user': ['ada', 'eve'] }, '10.1.0.1')).rejects.toMatchObject(wrong);
  await expect(check({ ...ada, 'x-forwarded-groups': ['a', 'staff'] }, '10.1.0.1')).rejects.toMatchObject(wrong);
});

it('reads names in UTF-8', async () => {
  const asNodeReadsIt = Buffer.from('Zoë 東京').toString('latin1');

  expect(await check({ 'x-forwarded-user': asNodeReadsIt }, '10.1.0.1')).toMatchObject({ userId: 'Zoë 東京' });
});

it.each(['10.0.0.0/33', '10.0.0', 'proxy.example', '::/129', '10.0.0.0/8/8', '10.0.0.0/', '/8', ''])(
  'has a fault to find with %j',
  (address) => {
    expect(networkFault(address)).toBe('must be an IP address or a network such as 10.0.0.0/8');
    expect(() => trustedProxy({ ...options, addresses: [address] })).toThrow('must be an IP address');
  },
);
