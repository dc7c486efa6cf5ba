import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { HttpDouble } from './http-double.ts';

/** An identity provider on this machine: its OpenID configuration, its keys, and tokens signed with them. */
export interface Issuer {
  readonly url: string;
  /** How often its keys were read. */
  reads(): number;
  /** A new key pair, published or not. */
  addKey(kid: string, options?: { alg?: string; isPublished?: boolean }): Promise<void>;
  withdrawKey(kid: string): void;
  /** The published key as JSON. */
  publicKey(kid: string): object;
  token(options?: TokenOptions): Promise<string>;
  /** What it answers instead of its keys and its configuration; `undefined`: all is well. */
  fail(how: { status: number } | { json: unknown } | undefined): void;
  close(): Promise<void>;
}

export interface TokenOptions {
  readonly kid?: string;
  readonly claims?: JWTPayload;
  /** Members of the header. */
  readonly header?: Readonly<Record<string, unknown>>;
}

export async function startIssuer(): Promise<Issuer> {
  const double = await HttpDouble.start<undefined>();
  const pairs = new Map<string, { alg: string; privateKey: CryptoKey; jwk: object }>();
  const published = new Set<string>();
  let failure: { status: number } | { json: unknown } | undefined;
  double.answer(({ path }) => {
    if (failure) return failure;
    if (path === '/.well-known/openid-configuration') {
      return { json: { issuer: double.url, jwks_uri: `${double.url}/jwks` } };
    }
    return { json: { keys: [...published].map((kid) => pairs.get(kid)?.jwk) } };
  });
  const issuer: Issuer = {
    url: double.url,
    reads: () => double.requests.filter(({ path }) => path === '/jwks').length,
    async addKey(kid, { alg = 'RS256', isPublished = true } = {}) {
      const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
      pairs.set(kid, { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } });
      if (isPublished) published.add(kid);
    },
    withdrawKey: (kid) => void published.delete(kid),
    publicKey: (kid) => pairs.get(kid)?.jwk ?? {},
    token({ kid = 'one', claims = {}, header = {} } = {}) {
      const pair = pairs.get(kid);
      if (!pair) throw new Error(`There is no key "${kid}"`);
      const now = Math.floor(Date.now() / 1_000);
      const payload = { iss: double.url, aud: 'agents', sub: 'ada', iat: now, exp: now + 300, ...claims };
      return new SignJWT(payload).setProtectedHeader({ alg: pair.alg, kid, ...header }).sign(pair.privateKey);
    },
    fail: (how) => void (failure = how),
    close: () => double.close(),
  };
  await issuer.addKey('one');
  return issuer;
}
