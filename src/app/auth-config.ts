import { z } from 'zod';
import { tokenAlgorithms } from '../identity/json-web-tokens.ts';
import { networkFault } from '../identity/trusted-proxy.ts';
import { anyCaseObject } from '../schemas/key-case.ts';
import { Role } from '../schemas/principal.ts';
import { list, setting, text, time } from './config-values.ts';

// The settings that say who may call.

const url = text('must be an http or https URL').refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), {
  error: 'must be an http or https URL',
});
const claim = text('must be the name of a claim');
const headerName = text('must be the name of a header').regex(/^[!#$%&'*+.^`|~\w-]+$/, {
  error: 'must be the name of a header',
});

/** A mapping of names to roles; as text, `NAME=ROLE` separated by commas. */
const RolesMap = z.preprocess(
  (value) => {
    if (typeof value !== 'string') return value;
    const map = new Map<string, string[]>();
    for (const pair of value.split(',')) {
      const at = pair.lastIndexOf('=');
      const name = pair.slice(0, Math.max(at, 0)).trim();
      map.set(name, [...(map.get(name) ?? []), pair.slice(at + 1).trim()]);
    }
    return Object.fromEntries(map);
  },
  z.record(z.string().min(1, { error: 'must be pairs such as staff=operator' }), list(Role)),
);

const Claims = anyCaseObject({
  user: claim.default('sub'),
  userPrefix: z.string().optional(),
  roles: claim.optional(),
  rolesMap: RolesMap.optional(),
  defaultRoles: list(Role).default(['user']),
  tenant: claim.optional(),
});

const JwtIssuer = anyCaseObject({
  issuer: url,
  audience: list(text('must be a text')).pipe(z.array(z.string()).min(1, { error: 'must name an audience' })),
  algorithms: list(
    z.enum(tokenAlgorithms, { error: `must be asymmetric: some of ${tokenAlgorithms.join(', ')}` }),
  ).default([...tokenAlgorithms]),
  jwksUri: url.optional(),
  claims: Claims.prefault({}),
  clockTolerance: time(60_000).default(30_000),
});

/** Issuers; as text, each is a JSON object. */
const JwtIssuers = z
  .preprocess((value) => {
    const given: unknown[] = Array.isArray(value) ? value : [value];
    return given.flatMap((one) => (typeof one === 'string' ? parsed(one) : [one]));
  }, z.array(JwtIssuer))
  .check((ctx) => {
    const issuers = ctx.value;
    const complain = (message: string): void => void ctx.issues.push({ code: 'custom', message, input: issuers });
    if (new Set(issuers.map(({ issuer }) => issuer)).size < issuers.length) complain('must name each issuer once');
    if (issuers.length > 1 && issuers.some(({ claims }) => claims.userPrefix === undefined)) {
      complain(
        'must set claims.userPrefix of each issuer, since two issuers may give the same name to different users ("" adds nothing)',
      );
    }
  });

function parsed(json: string): unknown[] {
  try {
    return [JSON.parse(json)].flat();
  } catch {
    return [json];
  }
}

const TrustedProxy = z.strictObject({
  addresses: setting(
    list(
      text('must be an address').check((ctx) => {
        const message = networkFault(ctx.value);
        if (message !== undefined) ctx.issues.push({ code: 'custom', message, input: ctx.value });
      }),
    ).default([]),
    'Address or network of a proxy that says who the user is, such as 10.0.0.0/8 (repeatable)',
    { value: 'ADDRESS' },
  ),
  userHeader: setting(headerName.default('x-forwarded-user'), 'Header in which the proxy names the user', {
    value: 'HEADER',
  }),
  rolesHeader: setting(headerName.optional(), 'Header in which the proxy lists roles or groups of the user', {
    value: 'HEADER',
    shown: 'none',
  }),
  rolesMap: setting(RolesMap.optional(), 'Roles for these names: staff=operator,coders=developer', {
    value: 'MAP',
    shown: 'names that are roles',
  }),
  defaultRoles: setting(list(Role).default(['user']), 'Roles of every user whom the proxy names', { value: 'ROLE' }),
});

const Login = z.strictObject({
  issuer: setting(url.optional(), 'OpenID Connect issuer at which users of the web UI log in', {
    value: 'URL',
    shown: 'none',
  }),
  clientId: setting(text('must be a client id').optional(), 'Client id of this server at that issuer', {
    value: 'TEXT',
    shown: 'none',
  }),
  clientSecret: setting(text('must be a text').optional(), 'Client secret; without one the client is a public one', {
    value: 'TEXT',
    shown: 'none',
  }),
  redirectUri: setting(
    url.refine((value) => value.endsWith('/auth/callback'), { error: 'must end with /auth/callback' }).optional(),
    'Address of /auth/callback as browsers see it; with https the cookies of logins are limited to https',
    { value: 'URL', shown: 'made of the Host header' },
  ),
  scopes: setting(list(text('must be a scope')).default(['openid', 'profile', 'email']), 'Scopes to ask for', {
    value: 'SCOPE',
  }),
  ttl: setting(time(30 * 86_400_000).default(8 * 3_600_000), 'Time after which users of the web UI must log in again', {
    value: 'TIME',
    shown: '8h',
  }),
});

export const Auth = z.strictObject({
  keys: setting(
    text('must be a file').optional(),
    'File with the API keys of callers, or "database": the keys beside the sessions (see agent-server keys)',
    { value: 'FILE', shown: 'none' },
  ),
  jwt: setting(
    JwtIssuers.default([]),
    'Issuer of tokens (JWT) that callers may use: {"issuer":URL,"audience":TEXT} (repeatable)',
    { value: 'JSON', shown: 'none' },
  ),
  trustedProxy: TrustedProxy.prefault({}),
  login: Login.prefault({}),
});

/** The value of `auth.keys` that is no file. */
export const databaseKeys = 'database';

/** Whether the settings name a way to know callers. */
export const isAuthConfigured = ({ keys, jwt, trustedProxy, login }: z.infer<typeof Auth>): boolean =>
  keys !== undefined || jwt.length > 0 || trustedProxy.addresses.length > 0 || login.issuer !== undefined;
