import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { abortable } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import type { OutboundFetch } from '../../base/outbound-fetch.ts';
import { withTimeLimit } from '../time-limit.ts';

const timeLimitMs = 30_000;

export interface OidcClient {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client, which PKCE alone protects. */
  readonly clientSecret?: string | undefined;
  readonly scopes: readonly string[];
}

/** What the answer of the issuer is compared with. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Logs users in at an OpenID Connect issuer: code flow with PKCE, state and nonce, and a signed ID token. */
export class OidcLogin {
  readonly #client: OidcClient;
  readonly #outbound: OutboundFetch;
  /** What the issuer says about itself: read with the first login. */
  #configuration: Promise<Configuration> | undefined;

  constructor(client: OidcClient, outbound: OutboundFetch) {
    this.#client = client;
    this.#outbound = outbound;
  }

  /** Throws `identity_provider_unavailable`. */
  async start(redirectUri: string, signal: AbortSignal): Promise<{ url: string; checks: OidcChecks }> {
    const checks = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
    const challenge = await calculatePKCECodeChallenge(checks.codeVerifier);
    const url = await this.#limited(signal, async () =>
      buildAuthorizationUrl(await this.#discovered(), {
        response_type: 'code',
        scope: [...new Set(['openid', ...this.#client.scopes])].join(' '),
        redirect_uri: redirectUri,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }),
    );
    return { url: url.href, checks };
  }

  /**
   * The claims of the ID token. Throws `forbidden` if the issuer or the user refused, `unauthenticated` for an answer that
   * fails a check, and `identity_provider_unavailable`.
   */
  async finish(address: URL, checks: OidcChecks, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const tokens = await this.#limited(signal, async () =>
      authorizationCodeGrant(await this.#discovered(), address, {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.codeVerifier,
        idTokenExpected: true,
      }),
    );
    const claims = tokens.claims();
    if (!claims) throw new AppError('unauthenticated', 'The issuer sent no ID token');
    return claims;
  }

  #discovered(): Promise<Configuration> {
    this.#configuration ??= this.#discover().catch((error: unknown) => {
      this.#configuration = undefined;
      throw outage(error);
    });
    return this.#configuration;
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#client;
    return discovery(new URL(issuer), clientId, clientSecret, undefined, {
      [customFetch]: (url, { signal, ...options }) =>
        this.#outbound(url, { ...options, signal: signal ?? AbortSignal.timeout(timeLimitMs) }),
      // Also checks the signature of the ID token. The operator may have configured an http issuer on purpose.
      execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
    });
  }

  async #limited<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await withTimeLimit({ signal, ms: timeLimitMs, what: 'The identity provider' }, (limited) =>
        abortable(work(), limited),
      );
    } catch (error) {
      if (signal.aborted || error instanceof AppError) throw error;
      if (error instanceof AuthorizationResponseError) {
        throw new AppError('forbidden', 'The identity provider refused the login', { cause: error });
      }
      if (isOutage(error)) throw outage(error);
      throw new AppError('unauthenticated', 'The answer of the identity provider is not valid', { cause: error });
    }
  }
}

const outage = (cause: unknown): AppError =>
  new AppError('identity_provider_unavailable', 'The identity provider cannot be reached', { cause });

/** Whether the network failed, or the issuer did. The library wraps what its fetch throws, and the response. */
function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TypeError && cause.message === 'fetch failed') return true;
    if (cause instanceof DOMException && cause.name === 'TimeoutError') return true;
    if (cause.cause instanceof Response && cause.cause.status >= 500) return true;
  }
  return false;
}
