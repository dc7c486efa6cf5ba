import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { Principal } from '../../core/principal.ts';
import type { Authenticator, CallerRequest } from '../../identity/authenticator.ts';
import { Name } from '../../schemas/names.ts';
import { Role } from '../../schemas/principal.ts';
import { openSealed, sealText, type ServerSecret } from '../../tools/auth/server-secret.ts';
import { cookieIn, cookieName, type CookieValue } from './cookies.ts';
import { isFromOwnPage } from './own-page.ts';

export const sessionCookie = 'agent-server-login';

/** What the cookie is sealed for, so that no other sealed text of the server counts as one. */
const purpose = 'login session';
/** Logins that ended before their time and are remembered. The oldest is forgotten first. */
const maxEnded = 10_000;

/** A login with an API key holds the id of the key alone: what the key allows now is looked up at each request. */
const Login = z.strictObject({
  id: z.string(),
  endsAt: z.number(),
  key: z.string().optional(),
  user: z
    .strictObject({ id: z.string(), userId: Name, roles: z.array(Role), tenant: z.string().optional() })
    .optional(),
});
type Login = z.infer<typeof Login>;

/** Where the principals of API keys are. */
export interface LoginKeys {
  /** The principal of a key; throws `unauthenticated`. */
  check(text: string, signal: AbortSignal): Promise<Principal>;
  /** The principal of the key with this `Principal.id`; `undefined` when the key does not count any more. */
  find(id: string, signal: AbortSignal): Promise<Principal | undefined>;
}

export interface LoginSessionsOptions {
  readonly secret: ServerSecret;
  readonly keys: LoginKeys | undefined;
  /** Milliseconds until users must log in again. */
  readonly ttlMs: number;
  /** Whether the server is reached over https only: then no cookie without the `__Host-` prefix counts. */
  readonly isSecure: boolean;
}

/**
 * Identifies callers by the cookie of their login. The cookie holds the login itself, encrypted and authenticated with the
 * secret of the servers: every server that shares the secret accepts it, also after a restart, and nothing is stored.
 * The price: a server remembers for itself which logins were ended, so a cookie that was stolen before its user logged out
 * counts at other servers until it ends.
 */
export class LoginSessions implements Authenticator {
  readonly #options: LoginSessionsOptions;
  /** Ids of ended logins, with the time when they would have ended anyway. */
  readonly #ended = new Map<string, number>();

  constructor(options: LoginSessionsOptions) {
    this.#options = options;
  }

  /**
   * The caller whose browser sent the cookie. A cookie that is no more valid counts as none, so that the login page works.
   * A page of another origin cannot use it: requests of such a page that read are anonymous, and those that write throw
   * `origin_not_allowed`, as do requests that write and do not say which page makes them.
   */
  async authenticate({ method, headers }: CallerRequest, signal: AbortSignal): Promise<Principal | undefined> {
    const login = await this.#loginOf(headers);
    if (!login) return undefined;
    const isOwn = isFromOwnPage(headers);
    const reads = (method === 'GET' || method === 'HEAD') && headers['upgrade'] === undefined;
    if (!reads && isOwn !== true) {
      throw new AppError('origin_not_allowed', 'Only pages of this server may use the cookie of a login');
    }
    if (isOwn === false) return undefined;
    const { endsAt, key, user } = login;
    if (user) return { ...user, roles: new Set(user.roles), actsForUsers: false, expiresAt: endsAt };
    const principal = key === undefined ? undefined : await this.#options.keys?.find(key, signal);
    return principal && { ...principal, expiresAt: Math.min(endsAt, principal.expiresAt ?? Infinity) };
  }

  /** Whether the request has the cookie of a login that counts. */
  async has(request: CallerRequest, signal: AbortSignal): Promise<boolean> {
    return (await this.authenticate(request, signal)) !== undefined;
  }

  /** The cookie of a caller who has just logged in by an API key. */
  beginByKey({ id, expiresAt = Infinity }: Principal): Promise<CookieValue> {
    return this.#seal({ key: id }, expiresAt);
  }

  /** The cookie of a user who has just logged in at an issuer. Throws `unauthenticated` for a principal without a user. */
  async beginByIssuer({ id, userId, roles, tenant }: Principal): Promise<CookieValue> {
    if (userId === undefined) throw new AppError('unauthenticated', 'The login names no user');
    return this.#seal({ user: { id, userId, roles: [...roles], tenant } });
  }

  async #seal(who: Pick<Login, 'key' | 'user'>, latest = Infinity): Promise<CookieValue> {
    const { secret, ttlMs } = this.#options;
    const endsAt = Math.min(Date.now() + ttlMs, latest);
    const login: Login = { id: randomBytes(32).toString('base64url'), endsAt, ...who };
    return { value: sealText(JSON.stringify(login), purpose, await secret()), endsAt };
  }

  /** Ends the login of a request, if there is one. */
  async end({ headers }: Pick<CallerRequest, 'headers'>): Promise<void> {
    const login = await this.#loginOf(headers);
    if (!login) return;
    const now = Date.now();
    for (const [old, oldEndsAt] of this.#ended) {
      if (oldEndsAt > now && this.#ended.size < maxEnded) break;
      this.#ended.delete(old);
    }
    this.#ended.set(login.id, login.endsAt);
  }

  async #loginOf({ cookie }: CallerRequest['headers']): Promise<Login | undefined> {
    const { isSecure, secret } = this.#options;
    const header = typeof cookie === 'string' ? cookie : cookie?.join('; ');
    if (header === undefined) return undefined;
    const value =
      cookieIn(header, cookieName(sessionCookie, true)) ?? (isSecure ? undefined : cookieIn(header, sessionCookie));
    if (value === undefined) return undefined;
    const text = openSealed(value, purpose, await secret());
    if (text === undefined) return undefined;
    const { data: login } = Login.safeParse(JSON.parse(text));
    return login && login.endsAt > Date.now() && !this.#ended.has(login.id) ? login : undefined;
  }
}
