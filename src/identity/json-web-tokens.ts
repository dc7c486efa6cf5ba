import { hash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { Log } from '../core/log.ts';
import type { Principal } from '../core/principal.ts';
import { type Authenticator, badCredential, bearerToken, type CallerRequest } from './authenticator.ts';
import { type ClaimMapping, principalFrom } from './claims.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { VerifiedTokens } from './verified-tokens.ts';

/**
 * Signatures that tokens may have. Asymmetric ones only: with HS256 the public key would be the secret, and `none` is no
 * signature.
 */
export const tokenAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** An issuer whose tokens are accepted. */
export interface JwtIssuer {
  /** What the claim `iss` must be, character by character. */
  readonly issuer: string;
  /** The claim `aud` must hold one of these. */
  readonly audience: readonly string[];
  readonly algorithms: readonly (typeof tokenAlgorithms)[number][];
  readonly jwksUri?: string | undefined;
  readonly claims: ClaimMapping;
  /** Milliseconds that clocks may differ by. */
  readonly clockTolerance: number;
}

export interface JsonWebTokensOptions {
  readonly issuers: readonly JwtIssuer[];
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Milliseconds that only grow. */
  readonly clock?: () => number;
}

interface KnownIssuer extends JwtIssuer {
  readonly keys: IssuerKeys;
}

/**
 * Identifies callers by JSON Web Tokens (RFC 7519) of configured issuers, in `Authorization: Bearer`. Other kinds of bearer
 * tokens are left to other authenticators.
 */
export class JsonWebTokens implements Authenticator {
  readonly #issuers: ReadonlyMap<string, KnownIssuer>;
  readonly #verified = new VerifiedTokens();
  readonly #log: Pick<Log, 'warn'>;

  constructor({ issuers, log, ...options }: JsonWebTokensOptions) {
    const known = issuers.map((issuer): KnownIssuer => {
      return { ...issuer, keys: new IssuerKeys({ ...options, log, issuer: issuer.issuer, jwksUri: issuer.jwksUri }) };
    });
    this.#issuers = new Map(known.map((issuer) => [issuer.issuer, issuer]));
    this.#log = log;
  }

  async authenticate({ headers }: CallerRequest, signal: AbortSignal): Promise<Principal | undefined> {
    const token = bearerToken(headers);
    if (token === undefined || !hasThreeParts(token)) return undefined;
    const digest = hash('sha256', token, 'base64url');
    return this.#verified.find(digest, Date.now()) ?? (await this.#verify(token, digest, signal));
  }

  async #verify(token: string, digest: string, signal: AbortSignal): Promise<Principal> {
    // Loaded with the first token: a server without issuers never needs it.
    const { decodeJwt, errors, jwtVerify } = await import('jose');
    try {
      const issuer = this.#issuers.get(decodeJwt(token).iss ?? '');
      if (!issuer) throw badCredential('The token is of an unknown issuer');
      const { keys, audience, algorithms, clockTolerance, claims } = issuer;
      let generation = keys.generation;
      const keyFor: Parameters<typeof jwtVerify>[1] = async (header) => {
        const key = await keys.keyFor(header, signal);
        ({ generation } = keys);
        return key;
      };
      const { payload } = await jwtVerify(token, keyFor, {
        issuer: issuer.issuer,
        audience: [...audience],
        algorithms: [...algorithms],
        clockTolerance: clockTolerance / 1_000,
        requiredClaims: ['exp'], // a token without an end could never be withdrawn
      });
      const untilMs = (payload.exp ?? 0) * 1_000 + clockTolerance;
      const principal = { ...principalFrom(payload, issuer.issuer, claims), expiresAt: untilMs };
      this.#verified.add(digest, { principal, untilMs, keys, generation });
      return principal;
    } catch (error) {
      if (signal.aborted || error instanceof AppError) throw error;
      if (!(error instanceof errors.JOSEError)) this.#log.warn({ err: error }, 'a token could not be checked');
      throw badCredential(error instanceof Error ? error : 'The token could not be checked');
    }
  }
}

/** Whether a text is built like a signed token: a signature may be missing, but not its dot. */
function hasThreeParts(text: string): boolean {
  const first = text.indexOf('.');
  const second = text.indexOf('.', first + 1);
  return first > 0 && second > first + 1 && !text.includes('.', second + 1);
}
