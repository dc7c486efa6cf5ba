import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ApiKeys, newApiKey } from '../../src/identity/api-keys.ts';
import { type Authenticator, callerRequestOf, firstOf } from '../../src/identity/authenticator.ts';
import { JsonWebTokens, tokenAlgorithms } from '../../src/identity/json-web-tokens.ts';
import type { Bench } from '../bench.ts';
import { median } from '../load.ts';
import type { Row } from '../report.ts';

const KEYS = 1_000;
const TOKENS = 100;
const AUDIENCE = 'agents';
const never = new AbortController().signal;

/** Processor time of one check in this process, the reading of the headers included. */
export async function measureCredentials({ rounds, scale }: Bench): Promise<Row[]> {
  const keys = Array.from({ length: KEYS }, () =>
    newApiKey({ owner: 'bench', userId: 'ada', actsForUsers: false, roles: ['user'] }),
  );
  const records = keys.map(({ record }) => record);
  const store = { list: async () => records, add: async () => {}, revoke: async () => undefined };
  const issuer = await startIssuer();
  const log = { info: () => {}, warn: () => {} };
  const closing = new AbortController();
  const claims = { user: 'sub', defaultRoles: ['user'] } as const;
  const settings = { issuer: issuer.url, audience: [AUDIENCE], algorithms: tokenAlgorithms, claims, clockTolerance: 0 };
  const tokens = new JsonWebTokens({ issuers: [settings], log, closing: closing.signal });
  const authenticator = firstOf([new ApiKeys(store), tokens]);
  const amount = Math.round(50_000 * scale);
  const texts = keys.map(({ text }) => text);
  const seen = await issuer.tokens(TOKENS);
  await checkAll(authenticator, seen, TOKENS);

  const key = await medianOf(rounds, () => checkAll(authenticator, texts, amount));
  const token = await medianOf(rounds, () => checkAll(authenticator, seen, amount));
  const unseen = await medianOf(rounds, async () => checkAll(authenticator, await issuer.tokens(500), 500));
  closing.abort();
  await issuer.close();
  return [
    row('check of an API key', key, 10),
    row('check of a token (JWT), seen before', token, 60),
    row('check of a token (JWT), new, RS256', unseen),
  ];
}

const row = (name: string, us: number, most?: number): Row => ({
  name,
  figure: `${us.toFixed(1)} us`,
  ...(most !== undefined && { goal: { text: `<= ${most} us`, met: us <= most } }),
});

async function medianOf(rounds: number, measure: () => Promise<number>): Promise<number> {
  await measure();
  const figures: number[] = [];
  for (let round = 0; round < rounds; round += 1) figures.push(await measure());
  return median(figures);
}

/** Microseconds of processor time for each check, one after the other. */
async function checkAll(authenticator: Authenticator, credentials: readonly string[], amount: number): Promise<number> {
  const messages = credentials.map(messageWith);
  const before = process.cpuUsage();
  for (let index = 0; index < amount; index += 1) {
    const message = messages[index % messages.length]!;
    const principal = await authenticator.authenticate(callerRequestOf(message), never);
    if (principal?.userId !== 'ada') throw new Error('The caller is not known');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / amount;
}

/** What a browser sends. */
const messageWith = (credential: string): IncomingMessage =>
  ({
    method: 'POST',
    url: '/run_sse',
    socket: { remoteAddress: '127.0.0.1' },
    rawHeaders: Object.entries({
      Host: '127.0.0.1:8080',
      Connection: 'keep-alive',
      'Content-Length': '120',
      'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      Origin: 'http://127.0.0.1:8080',
      'Sec-Fetch-Site': 'same-origin',
      'Sec-Fetch-Mode': 'cors',
      'Accept-Encoding': 'gzip, deflate, br',
      'Accept-Language': 'en',
      Authorization: `Bearer ${credential}`,
    }).flat(),
  }) as unknown as IncomingMessage;

/** An issuer on this machine with one key. */
async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig' };
  const server = createServer(({ url: path }, response) => {
    const configuration = { issuer: url, jwks_uri: `${url}/jwks` };
    response.end(JSON.stringify(path === '/jwks' ? { keys: [jwk] } : configuration));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let made = 0;
  return {
    url,
    tokens: (count: number): Promise<string[]> =>
      Promise.all(
        Array.from({ length: count }, () =>
          new SignJWT({ sub: 'ada', jti: String((made += 1)), scope: 'openid profile email', name: 'Ada Lovelace' })
            .setProtectedHeader({ alg: 'RS256', kid: 'one' })
            .setIssuer(url)
            .setAudience(AUDIENCE)
            .setExpirationTime('1h')
            .sign(privateKey),
        ),
      ),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
