import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import type { Principal } from '../../core/principal.ts';
import { type Authenticator, callerRequestOf } from '../../identity/authenticator.ts';
import type { DevelopmentPart } from '../development-parts.ts';
import type { LimitFailures } from '../limits/request-rate.ts';
import { clientSignal } from '../requests/client-signal.ts';
import { type Access, Caller, type NamingParts } from './caller.ts';

/** What a route requires of the caller of a request, and what the request names before its body is read. */
export interface Requirement extends NamingParts {
  readonly access: Access;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `undefined`: nothing is at this address. A route without this is for operators only. */
    readonly requirementOf?: (request: FastifyRequest) => Requirement | undefined;
  }
}

/** The name of the request's property that holds its `Caller`. */
const callerKey = 'caller';

const operatorOnly: Requirement = { access: { role: 'operator', user: 'none' } };
const pagesPrefix = '/dev-ui/';

interface CallerOptions {
  readonly authenticator: Authenticator | undefined;
  /** The parts for development that are on. */
  readonly parts: ReadonlySet<DevelopmentPart>;
  /** What the pages of the web UI require; they hold no data. */
  readonly pages: Access;
  readonly limitFailures: LimitFailures;
}

export interface Callers {
  readonly callerOf: (request: FastifyRequest) => Caller;
  /** `undefined` for a public operation, and on a server that does not know its callers. */
  readonly principalOf: (request: FastifyRequest) => Principal | undefined;
}

/**
 * Finds out who makes each request, and checks before the body is read what can be checked by then. Without an
 * authenticator it adds nothing to the server, and all requests have the same caller.
 */
export function registerCallers(
  app: FastifyInstance,
  { authenticator, parts, pages, limitFailures }: CallerOptions,
): Callers {
  if (!authenticator) {
    const anyone = new Caller(parts);
    return { callerOf: () => anyone, principalOf: () => undefined };
  }
  app.decorateRequest(callerKey, null);
  app.addHook('onRoute', (route) => {
    if (route.config?.requirementOf || !route.url.startsWith(pagesPrefix)) return;
    route.config = { ...route.config, requirementOf: () => ({ access: pages }) };
  });
  const authenticate = authenticationHook(authenticator, parts);
  app.addHook('onRequest', (request, reply) => limitFailures(request, () => authenticate(request, reply)));
  const stranger = new Caller(parts, { id: 'none', actsForUsers: false, roles: new Set() });
  const known = (request: FastifyRequest): Caller | null => request.getDecorator<Caller | null>(callerKey);
  return {
    callerOf: (request) => known(request) ?? stranger,
    principalOf: (request) => known(request)?.principal,
  };
}

/** Throws `unauthenticated` and `forbidden`. Addresses without a route need a credential as well: strangers learn nothing. */
function authenticationHook(authenticator: Authenticator, parts: ReadonlySet<DevelopmentPart>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (request.method === 'OPTIONS') return; // no operation has this method, and browsers send no credential with it
    const { requirementOf } = request.routeOptions.config;
    const required = request.is404 ? undefined : requirementOf ? requirementOf(request) : operatorOnly;
    if (required?.access.role === 'public') return;
    const principal = await authenticator.authenticate(callerRequestOf(request.raw), clientSignal(reply));
    if (!principal) throw new AppError('unauthenticated', 'The request has no credential that this server accepts');
    const caller = new Caller(parts, principal);
    request.setDecorator(callerKey, caller);
    if (required) caller.check(required.access, required);
  };
}
