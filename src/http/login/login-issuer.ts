import { z } from 'zod';
import type { Principal } from '../../core/principal.ts';

/** What a login must find again when its user returns from the issuer. It is a secret of one browser. */
export const LoginChecks = z.strictObject({ state: z.string(), nonce: z.string(), codeVerifier: z.string() });
export type LoginChecks = z.infer<typeof LoginChecks>;

/** An OpenID Connect issuer at which users log in. */
export interface LoginIssuer {
  /** Its URL, which names it in the web UI. */
  readonly url: string;
  /** Where the browser goes to log in. Throws `identity_provider_unavailable`. */
  start(redirectUri: string, signal: AbortSignal): Promise<{ readonly url: string; readonly checks: LoginChecks }>;
  /**
   * The user who returned to `address`, the redirect URI with the issuer's answer. Throws `forbidden` if the issuer or the
   * user refused, `unauthenticated` for an answer that fails a check, and `identity_provider_unavailable`.
   */
  finish(address: URL, checks: LoginChecks, signal: AbortSignal): Promise<Principal>;
}
