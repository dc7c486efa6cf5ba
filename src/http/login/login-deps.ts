import type { LoginIssuer } from './login-issuer.ts';
import type { LoginKeys, LoginSessions } from './login-sessions.ts';
import type { PendingLogins } from './pending-logins.ts';

/** What the login of the web UI needs. */
export interface LoginDeps {
  readonly sessions: LoginSessions;
  /** Absent: there is no login by API keys. */
  readonly keys?: LoginKeys | undefined;
  /** Absent: there is no login at an issuer. */
  readonly issuer?: (LoginIssuer & { readonly pending: PendingLogins }) | undefined;
  /** The address of `/auth/callback` as browsers see it. Absent: made of the Host header. */
  readonly redirectUri?: string | undefined;
}
