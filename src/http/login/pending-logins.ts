import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { openSealed, sealText, type ServerSecret } from '../../tools/auth/server-secret.ts';
import { cookieIn, cookieName, type CookieValue } from './cookies.ts';
import { LoginChecks } from './login-issuer.ts';

export const pendingCookie = 'agent-server-login-pending';

const purpose = 'pending login';
/** How long a user may take at the issuer. */
const ttlMs = 10 * 60_000;

const PendingLogin = z.strictObject({
  checks: LoginChecks,
  redirectUri: z.string(),
  /** A path of this server. */
  returnTo: z.string(),
});
export type PendingLogin = z.infer<typeof PendingLogin>;

const Sealed = PendingLogin.extend({ endsAt: z.number() });

/** The logins that have gone to the issuer. Each is in a cookie of its browser, encrypted, so that no other browser can end it. */
export class PendingLogins {
  readonly #secret: ServerSecret;

  constructor(secret: ServerSecret) {
    this.#secret = secret;
  }

  async begin(login: PendingLogin): Promise<CookieValue> {
    const endsAt = Date.now() + ttlMs;
    return { value: sealText(JSON.stringify({ ...login, endsAt }), purpose, await this.#secret()), endsAt };
  }

  /** The login of a browser that returns. Throws `gone` if it has none, or took too long. */
  async find(cookies: string | undefined): Promise<PendingLogin> {
    const value = cookieIn(cookies, cookieName(pendingCookie, true)) ?? cookieIn(cookies, pendingCookie);
    const text = value === undefined ? undefined : openSealed(value, purpose, await this.#secret());
    const { data } = Sealed.safeParse(text === undefined ? undefined : JSON.parse(text));
    if (!data || data.endsAt <= Date.now())
      throw new AppError('gone', 'This login has expired, or began in another browser');
    return data;
  }
}
