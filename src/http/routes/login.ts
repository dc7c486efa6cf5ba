import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isLoopback } from '../../base/addresses.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../core/log.ts';
import { hasRole, type Principal } from '../../core/principal.ts';
import { callerRequestOf } from '../../identity/authenticator.ts';
import { LoginMethods, Me } from '../../schemas/login.ts';
import { Role } from '../../schemas/principal.ts';
import type { LimitFailures } from '../limits/request-rate.ts';
import { cookieHeader, type CookieValue, deletedValue } from '../login/cookies.ts';
import type { LoginDeps } from '../login/login-deps.ts';
import { type LoginKeys, type LoginSessions, sessionCookie } from '../login/login-sessions.ts';
import { isFromOwnPage } from '../login/own-page.ts';
import { pendingCookie } from '../login/pending-logins.ts';
import { returnPath } from '../login/return-path.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { clientSignal } from '../requests/client-signal.ts';

const tag = 'Login';
const access = { role: 'public', user: 'none' } as const;
const LoginBody = z.strictObject({ key: z.string().min(1).max(512) });
const ReturnQuery = z.object({ return: z.string().max(2_000).default('/dev-ui/') });

/** Why a login at the issuer failed, for the login page. */
const failures: Readonly<Record<string, string>> = {
  forbidden: 'denied',
  gone: 'expired',
  identity_provider_unavailable: 'unavailable',
  timed_out: 'unavailable',
};

/** Who the caller is, and the login of the web UI by an API key. */
export function loginOperations(login: LoginDeps, limitFailures: LimitFailures): Operation[] {
  const { sessions, keys, issuer, redirectUri } = login;
  return [
    operation({
      method: 'GET',
      paths: ['/auth/me'],
      tag,
      access: { role: 'any', user: 'none' },
      summary: 'Who the caller is; 401 without a credential',
      response: { schema: Me },
      async handle(_input, { request, reply, caller: { principal } }): Promise<Me> {
        if (!principal) throw new AppError('internal', 'The caller is not known');
        return meOf(principal, await sessions.has(callerRequestOf(request.raw), clientSignal(reply)));
      },
    }),
    ...(keys ? [keyLogin({ sessions, keys, redirectUri, limitFailures })] : []),
    ...(keys || issuer ? [methodsOf(login), logout(sessions)] : []),
  ];
}

/** The login by an API key. */
function keyLogin({
  sessions,
  keys,
  redirectUri,
  limitFailures,
}: Pick<LoginDeps, 'sessions' | 'redirectUri'> & {
  readonly keys: LoginKeys;
  readonly limitFailures: LimitFailures;
}): Operation {
  return operation({
    method: 'POST',
    paths: ['/auth/login'],
    tag,
    access,
    summary: 'Log a browser in by an API key: the response sets a cookie',
    body: LoginBody,
    response: { schema: Me },
    async handle({ body }, { request, reply }): Promise<Me> {
      checkPage(request);
      const principal = await limitFailures(request, () => keys.check(body.key, clientSignal(reply)));
      const cookie = await sessions.beginByKey(principal);
      const isSecure = (redirectUri ?? request.headers.origin)?.startsWith('https:') ?? false;
      reply.header('set-cookie', cookieHeader(sessionCookie, cookie, { isSecure, sameSite: 'Strict' }));
      return meOf({ ...principal, expiresAt: cookie.endsAt }, true);
    },
  });
}

function methodsOf({ keys, issuer }: LoginDeps): Operation {
  return operation({
    method: 'GET',
    paths: ['/auth/methods'],
    tag,
    access,
    summary: 'How users of the web UI may log in',
    response: { schema: LoginMethods },
    handle: (): LoginMethods => ({ key: keys !== undefined, ...(issuer && { issuer: issuer.url }) }),
  });
}

function logout(sessions: LoginSessions): Operation {
  return operation({
    method: 'POST',
    paths: ['/auth/logout'],
    tag,
    access,
    summary: 'Log a browser out: end its login and delete the cookie',
    response: { schema: z.null() },
    async handle(_input, { request, reply }) {
      checkPage(request);
      await sessions.end(callerRequestOf(request.raw));
      deleteCookie(reply, sessionCookie, 'Strict');
      return null;
    },
  });
}

/** The login at an OpenID Connect issuer: the code flow, in two navigations of the browser. */
export function issuerLoginOperations(
  { issuer, sessions, redirectUri }: LoginDeps,
  log: Pick<Log, 'warn'>,
): Operation[] {
  if (!issuer) return [];
  const { pending } = issuer;
  /** Sends the browser back to the login page, which says why. The address is relative, for proxies that add a prefix. */
  const fail = (error: unknown, { request, reply }: Call): FastifyReply => {
    log.warn({ err: error, requestId: request.id }, 'a login at the issuer failed');
    const why = (error instanceof AppError && failures[error.code]) || 'refused';
    return reply.redirect(`../dev-ui/login?failed=${why}`, 303);
  };
  const setCookie = (reply: FastifyReply, name: string, cookie: CookieValue, sent: { redirectUri: string }): void => {
    const isSecure = sent.redirectUri.startsWith('https:');
    // The browser comes back from the issuer's site, so the cookie that it left with has to be Lax.
    const sameSite = name === pendingCookie ? 'Lax' : 'Strict';
    reply.header('set-cookie', cookieHeader(name, cookie, { isSecure, sameSite }));
  };
  return [
    operation({
      method: 'GET',
      paths: ['/auth/login'],
      tag,
      access,
      summary: 'Go to the issuer to log in, and then to the path "return" of this server',
      query: ReturnQuery,
      response: { status: 303 },
      async handle({ query }, call) {
        const { request, reply } = call;
        const sent = { redirectUri: redirectUri ?? ownCallback(request), returnTo: returnPath(query.return) };
        try {
          const { url, checks } = await issuer.start(sent.redirectUri, clientSignal(reply));
          setCookie(reply, pendingCookie, await pending.begin({ ...sent, checks }), sent);
          return reply.redirect(url, 303);
        } catch (error) {
          return fail(error, call);
        }
      },
    }),
    operation({
      method: 'GET',
      paths: ['/auth/callback'],
      tag,
      access,
      summary: 'Return from the issuer: the response sets a cookie',
      response: { status: 303 },
      async handle(_input, call) {
        const { request, reply } = call;
        deleteCookie(reply, pendingCookie, 'Lax');
        try {
          const sent = await pending.find(request.headers.cookie);
          const address = new URL(sent.redirectUri);
          address.search = request.url.slice(request.url.indexOf('?') + 1);
          const principal = await issuer.finish(address, sent.checks, clientSignal(reply));
          setCookie(reply, sessionCookie, await sessions.beginByIssuer(principal), sent);
          return reply.redirect(sent.returnTo, 303);
        } catch (error) {
          return fail(error, call);
        }
      },
    }),
  ];
}

/** Throws `origin_not_allowed` for a page of another origin, also for one that may call the server otherwise. */
function checkPage({ headers }: FastifyRequest): void {
  if (isFromOwnPage(headers) !== false) return;
  throw new AppError('origin_not_allowed', 'Only pages of this server may log in and out');
}

function deleteCookie(reply: FastifyReply, name: string, sameSite: 'Strict' | 'Lax'): void {
  const headers = [true, false].map((isSecure) => cookieHeader(name, deletedValue, { isSecure, sameSite }));
  reply.header('set-cookie', headers);
}

/** The address of the callback at the host that the browser calls. Issuers take http for loopback addresses only. */
function ownCallback({ headers: { host = 'localhost' } }: FastifyRequest): string {
  const url = new URL(`https://${host}/auth/callback`);
  return isLoopback(url.hostname) ? `http://${host}/auth/callback` : url.href;
}

function meOf(principal: Principal, loggedIn: boolean): Me {
  const { id, userId, actsForUsers, apps, expiresAt } = principal;
  return {
    id,
    ...(userId !== undefined && { userId }),
    actsForUsers,
    roles: Role.options.filter((role) => hasRole(principal, role)),
    ...(apps && { apps: [...apps] }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    loggedIn,
  };
}
