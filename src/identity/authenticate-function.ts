import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { Log } from '../core/log.ts';
import type { Principal } from '../core/principal.ts';
import { Name } from '../schemas/names.ts';
import { PrincipalLimits, Role } from '../schemas/principal.ts';
import { type Authenticator, badCredential, type CallerRequest } from './authenticator.ts';

const Identity = z.strictObject({
  id: z.string().min(1).optional(),
  userId: Name.optional(),
  actsForUsers: z.boolean().default(false),
  roles: z.array(Role).readonly().default(['user']),
  apps: z.array(Name).readonly().optional(),
  tenant: z.string().optional(),
  limits: PrincipalLimits.optional(),
  expiresAt: z.number().optional(),
});

/** A caller as the function of a program describes it; the fields are those of `Principal`. */
export type CallerIdentity = Readonly<z.input<typeof Identity>>;

/**
 * A program's own way to identify callers. `undefined` or `null`: the request has no credential that the function knows,
 * and the next way is tried. It rejects a credential by throwing, best `AppError('unauthenticated', …)`.
 */
export type AuthenticateFunction = (
  request: CallerRequest,
  signal: AbortSignal,
) => MaybeIdentity | Promise<MaybeIdentity>;

type MaybeIdentity = CallerIdentity | null | undefined;

/**
 * The function as an authenticator. What it throws rejects the request: an `AppError` as it is, everything else is logged
 * and becomes `unauthenticated`. Throws `internal` for a result that is no identity.
 */
export function authenticatorOf(authenticate: AuthenticateFunction, log: Pick<Log, 'warn'>): Authenticator {
  return {
    async authenticate(request, signal) {
      const identity = await called(authenticate, { request, signal, log });
      if (identity === undefined || identity === null) return undefined;
      const result = Identity.safeParse(identity);
      if (result.success) return principalOf(result.data);
      const [issue] = result.error.issues;
      throw new AppError('internal', 'The authenticate function returned no identity', {
        cause: new Error(`${issue?.path.join('.') || 'the result'}: ${issue?.message ?? ''}`),
      });
    },
  };
}

async function called(
  authenticate: AuthenticateFunction,
  { request, signal, log }: { request: CallerRequest; signal: AbortSignal; log: Pick<Log, 'warn'> },
): Promise<MaybeIdentity> {
  try {
    return await authenticate(request, signal);
  } catch (error) {
    if (signal.aborted || error instanceof AppError) throw error;
    log.warn({ err: error }, 'the authenticate function failed');
    throw badCredential(error instanceof Error ? error : 'The authenticate function failed');
  }
}

function principalOf({
  id,
  userId,
  actsForUsers,
  roles,
  apps,
  tenant,
  limits,
  ...identity
}: z.output<typeof Identity>): Principal {
  const { expiresAt } = identity;
  const name = id ?? userId;
  if (name === undefined) {
    throw new AppError('internal', 'The authenticate function returned neither an id nor a userId');
  }
  if (expiresAt !== undefined && Date.now() >= expiresAt) throw badCredential('The identity has expired');
  return {
    id: `custom:${name}`,
    ...(userId !== undefined && { userId }),
    actsForUsers,
    roles: new Set(roles),
    ...(apps && { apps: new Set(apps) }),
    ...(tenant !== undefined && { tenant }),
    ...(limits && { limits }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
