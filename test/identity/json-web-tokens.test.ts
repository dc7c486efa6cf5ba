import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import type { Principal } from '../../src/core/principal.ts';
import { JsonWebTokens, type JwtIssuer, tokenAlgorithms } from '../../src/identity/json-web-tokens.ts';
import { bearer, callerWith, collectedLog, patient } from '../support/caller.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';

const wrong = { code: 'unauthenticated', message: 'The credential is not valid' };
const away = { code: 'identity_provider_unavailable', retryAfter: expect.any(Number) };

async function scene(more: (issuer: Issuer) => Partial<JwtIssuer> = () => ({})) {
  const issuer = await startIssuer();
  const closing = new AbortController();
  onTestFinished(async () => {
    closing.abort();
    await issuer.close();
  });
  const log = collectedLog();
  let nowMs = 1_000_000;
  const settings: JwtIssuer = {
    issuer: issuer.url,
    audience: ['agents'],
    algorithms: tokenAlgorithms,
    claims: { user: 'sub', defaultRoles: ['user'] },
    clockTolerance: 0,
    ...more(issuer),
  };
  const tokens = new JsonWebTokens({ issuers: [settings], log, closing: closing.signal, clock: () => nowMs });
  return {
    issuer,
    log,
    pass: (ms: number) => (nowMs += ms),
    check: (token: string): Promise<Principal | undefined> => tokens.authenticate(bearer(token), patient),
    tokens,
  };
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const seconds = (fromNow: number): number => Math.floor(Date.now() / 1_000) + fromNow;

it('knows the caller by a token of the issuer', async () => {
  const { check, issuer } = await scene();
  const exp = seconds(300);
  const token = await issuer.token({ claims: { exp } });
  const principal = {
    id: `${issuer.url}|ada`,
    userId: 'ada',
    actsForUsers: false,
    roles: new Set(['user']),
    expiresAt: exp * 1_000,
  };

  expect(await check(token)).toEqual(principal);
  expect(await check(token)).toEqual(principal);
  expect(issuer.reads()).toBe(1);
});

it.each(['RS256', 'PS256', 'ES256', 'ES512', 'Ed25519', 'EdDSA'])('checks signatures of %s', async (alg) => {
  const { check, issuer } = await scene();
  await issuer.addKey('two', { alg });
  const token = await issuer.token({ kid: 'two' });

  expect(await check(token)).toMatchObject({ userId: 'ada' });
  const [header, payload, signature = ''] = token.split('.');
  const middle = Math.floor(signature.length / 2);
  const other = signature[middle] === 'A' ? 'B' : 'A';
  const forged = `${signature.slice(0, middle)}${other}${signature.slice(middle + 1)}`;
  await expect(check(`${header}.${payload}.${forged}`)).rejects.toMatchObject(wrong);
});

it('leaves other credentials to others', async () => {
  const { tokens, issuer } = await scene();

  for (const headers of [
    {},
    { authorization: 'Bearer abc' },
    { authorization: 'Bearer a.b.c.d.e' },
    { 'x-api-key': 'a.b.c' },
  ]) {
    expect(await tokens.authenticate(callerWith(headers), patient)).toBeUndefined();
  }
  expect(issuer.reads()).toBe(0);
});

it.each([
  ['has expired', { exp: seconds(-1) }],
  ['is not valid yet', { nbf: seconds(60) }],
  ['is for others', { aud: 'others' }],
  ['names no audience', { aud: undefined }],
  ['is for a list of others', { aud: ['a', 'b'] }],
  ['never ends', { exp: undefined }],
  ['has an odd end', { exp: 'never' }],
  ['is of another issuer', { iss: 'https://elsewhere.example' }],
  ['is of an issuer that is spelled alike', { iss: 'http://127.0.0.1' }],
  ['names no issuer', { iss: undefined }],
  ['names no user', { sub: undefined }],
  ['names an empty user', { sub: '' }],
  ['names a user who is no text', { sub: 7 }],
  ['names a path', { sub: '../ada' }],
])('refuses a token that %s', async (_, claims) => {
  const { check, issuer } = await scene();

  await expect(check(await issuer.token({ claims: claims as JWTPayload }))).rejects.toMatchObject(wrong);
});

it('refuses what looks like a token and is none', async () => {
  const { check, issuer } = await scene();
  const token = await issuer.token();
  const [header = '', payload = '', signature = ''] = token.split('.');

  for (const bad of [
    'a.b.c',
    'eyJ.eyJ.eyJ',
    `${header}.${payload}.`,
    `${token}x`,
    `${header}.${encoded([])}.${signature}`,
    `${header}.${encoded({ iss: issuer.url })}.${signature}`,
    `${encoded([])}.${payload}.${signature}`,
    `${header}.${payload}.${'A'.repeat(100_000)}`,
  ]) {
    await expect(check(bad)).rejects.toMatchObject(wrong);
  }
  for (const other of ['..x', `${token} ${token}`, `${header}.${payload}`]) expect(await check(other)).toBeUndefined();
});

it('refuses tokens without a signature', async () => {
  const { check, issuer } = await scene();
  const [, payload = '', signature = ''] = (await issuer.token()).split('.');

  for (const alg of ['none', 'None', 'NONE', '', null, undefined]) {
    for (const end of ['', signature]) {
      await expect(check(`${encoded({ alg, typ: 'JWT', kid: 'one' })}.${payload}.${end}`)).rejects.toMatchObject(wrong);
    }
  }
});

it('does not take the public key for a secret', async () => {
  const { check, issuer } = await scene();
  const jwk = issuer.publicKey('one') as JsonWebKey;
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const [, payload = ''] = (await issuer.token()).split('.');
  const secrets = [
    key.export({ type: 'spki', format: 'pem' }),
    key.export({ type: 'spki', format: 'der' }),
    key.export({ type: 'pkcs1', format: 'pem' }),
    JSON.stringify(jwk),
  ];

  for (const secret of secrets) {
    for (const header of [{ alg: 'HS256', kid: 'one' }, { alg: 'HS256' }]) {
      const signed = `${encoded(header)}.${payload}`;
      const signature = createHmac('sha256', secret).update(signed).digest('base64url');
      await expect(check(`${signed}.${signature}`)).rejects.toMatchObject(wrong);
    }
  }
});

it('believes no key that a token brings along or points to', async () => {
  const { check, issuer } = await scene();
  await issuer.addKey('mine', { isPublished: false });
  const jwk = issuer.publicKey('mine');

  for (const header of [{ jwk }, { jwk, kid: 'one' }, { jku: `${issuer.url}/jwks` }, { x5u: `${issuer.url}/x` }]) {
    await expect(check(await issuer.token({ kid: 'mine', header }))).rejects.toMatchObject(wrong);
  }
});

it('takes only the algorithms that the operator allows', async () => {
  const { check, issuer } = await scene(() => ({ algorithms: ['ES256'] }));

  await expect(check(await issuer.token())).rejects.toMatchObject(wrong);
});

it('tolerates clocks that differ by as much as the operator allows', async () => {
  const { check, issuer } = await scene(() => ({ clockTolerance: 30_000 }));

  expect(await check(await issuer.token({ claims: { exp: seconds(-10) } }))).toMatchObject({ userId: 'ada' });
  await expect(check(await issuer.token({ claims: { exp: seconds(-40) } }))).rejects.toMatchObject(wrong);
});

it('forgets a token when it expires', async () => {
  const { check, issuer } = await scene();
  const token = await issuer.token({ claims: { exp: seconds(2) } });

  expect(await check(token)).toMatchObject({ userId: 'ada' });
  await expect.poll(() => check(token).catch((error: unknown) => error)).toMatchObject(wrong);
});

it('reads user, roles and tenant where the settings say', async () => {
  const { check, issuer } = await scene(() => ({
    claims: {
      user: 'preferred_username',
      userPrefix: 'staff:',
      roles: 'realm_access.roles',
      rolesMap: { boss: ['operator', 'admin'], coder: ['developer'] },
      defaultRoles: [],
      tenant: 'https://example.com/tenant',
    },
  }));
  const claims = {
    preferred_username: 'ada',
    sub: '42',
    realm_access: { roles: ['boss', 'admin', 'constructor', 7] },
    'https://example.com/tenant': 'acme',
  };

  expect(await check(await issuer.token({ claims }))).toMatchObject({
    id: `${issuer.url}|42`,
    userId: 'staff:ada',
    roles: new Set(['operator', 'admin']),
    tenant: 'acme',
  });
  expect(await check(await issuer.token({ claims: { ...claims, realm_access: { roles: 'coder, x' } } }))).toMatchObject(
    {
      roles: new Set(['developer']),
    },
  );
  expect(await check(await issuer.token({ claims: { ...claims, realm_access: 'x' } }))).toMatchObject({
    roles: new Set(),
  });
  await expect(
    check(await issuer.token({ claims: { ...claims, 'https://example.com/tenant': '' } })),
  ).rejects.toMatchObject(wrong);
});

it('does not take an unverified e-mail address for a user', async () => {
  const { check, issuer } = await scene(() => ({ claims: { user: 'email', defaultRoles: ['user'] } }));
  const claims = { email: 'ada@example.com' };

  expect(await check(await issuer.token({ claims: { ...claims, email_verified: true } }))).toMatchObject({
    userId: 'ada@example.com',
  });
  await expect(check(await issuer.token({ claims: { ...claims, email_verified: false } }))).rejects.toMatchObject(
    wrong,
  );
});

it('fetches the keys again for a key it does not know, but not for each', async () => {
  const { check, issuer, pass } = await scene();
  const old = await issuer.token();
  await check(old);
  pass(10_001);
  await issuer.addKey('two');
  issuer.withdrawKey('one');

  expect(await check(await issuer.token({ kid: 'two' }))).toMatchObject({ userId: 'ada' });
  expect(issuer.reads()).toBe(2);
  // The issuer has withdrawn the key: what it signed counts no more.
  await expect(check(old)).rejects.toMatchObject(wrong);
  for (let guess = 0; guess < 20; guess += 1) {
    await expect(check(await issuer.token({ header: { kid: `guess-${guess}` } }))).rejects.toMatchObject(wrong);
  }
  expect(issuer.reads()).toBe(2);
  pass(10_001);
  await expect(check(await issuer.token({ header: { kid: 'guess' } }))).rejects.toMatchObject(wrong);
  expect(issuer.reads()).toBe(3);
});

it('fetches keys that are old in the background', async () => {
  const { check, issuer, pass } = await scene();
  await check(await issuer.token());
  await issuer.addKey('two');
  pass(10 * 60_000 + 1);

  expect(await check(await issuer.token({ claims: { jti: 'new' } }))).toMatchObject({ userId: 'ada' });
  await expect.poll(() => issuer.reads()).toBe(2);
});

it('uses the keys for a day without the issuer, and no longer', async () => {
  const { check, issuer, log, pass } = await scene();
  await check(await issuer.token());
  issuer.fail({ status: 500 });
  const hour = 3_600_000;
  let serial = 0;
  const fresh = async (): Promise<string> => issuer.token({ claims: { jti: String((serial += 1)) } });
  for (let passed = 0; passed < 24; passed += 6) {
    expect(await check(await fresh())).toMatchObject({ userId: 'ada' });
    await expect(check(await issuer.token({ header: { kid: 'unknown' } }))).rejects.toMatchObject(wrong);
    pass(6 * hour);
  }
  pass(1);

  await expect(check(await fresh())).rejects.toMatchObject(away);
  expect(log.messages).toEqual(['the keys of an issuer cannot be fetched']);
  issuer.fail(undefined);
  pass(2_001);
  expect(await check(await fresh())).toMatchObject({ userId: 'ada' });
  expect(log.messages).toEqual([
    'the keys of an issuer cannot be fetched',
    'the keys of an issuer can be fetched again',
  ]);
});

it.each([
  ['is down', { status: 503 }],
  ['has no keys', { json: { keys: [] } }],
  [
    'says something else',
    { json: { issuer: 'https://elsewhere.example', jwks_uri: 'https://elsewhere.example/jwks' } },
  ],
  ['names keys elsewhere, unencrypted', { json: { issuer: 'ITSELF', jwks_uri: 'http://192.0.2.1/jwks' } }],
  ['names keys in a private network', { json: { issuer: 'ITSELF', jwks_uri: 'https://10.0.0.1/jwks' } }],
])('answers that it cannot tell when the issuer %s at the start, and recovers', async (_, failure) => {
  const { check, issuer, pass } = await scene();
  const token = await issuer.token();
  const itself = JSON.parse(JSON.stringify(failure).replace('ITSELF', issuer.url)) as typeof failure;
  issuer.fail(itself);

  await expect(check(token)).rejects.toMatchObject(away);
  issuer.fail(undefined);
  await expect(check(token)).rejects.toMatchObject(away);
  pass(2_001);
  expect(await check(token)).toMatchObject({ userId: 'ada' });
});

it('fetches keys from where the settings say, without discovery', async () => {
  const { check, issuer } = await scene(({ url }) => ({ issuer: 'https://issuer.example/', jwksUri: `${url}/jwks` }));

  expect(await check(await issuer.token({ claims: { iss: 'https://issuer.example/' } }))).toMatchObject({
    id: 'https://issuer.example/|ada',
  });
  await expect(check(await issuer.token({ claims: { iss: 'https://issuer.example' } }))).rejects.toMatchObject(wrong);
});

it('asks the issuer once for many tokens that come together', async () => {
  const { check, issuer } = await scene();
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, index) => issuer.token({ claims: { jti: `${index}` } })),
  );

  const principals = await Promise.all(made.map(check));

  expect(principals.every((principal) => principal?.userId === 'ada')).toBe(true);
  expect(issuer.reads()).toBe(1);
});
