import { AppError } from '../../base/errors.ts';
import { hasRole, type Principal, type Role } from '../../core/principal.ts';
import { tightestBudgets } from '../../core/run-config.ts';
import type { Event } from '../../schemas/event.ts';
import type { RunConfig } from '../../schemas/run.ts';
import type { State } from '../../schemas/session.ts';
import type { TraceScope } from '../../telemetry/trace-summary.ts';
import type { DevelopmentPart } from '../development-parts.ts';

/** What an operation requires of its caller, on a server that knows its callers. */
export interface Access {
  /** `any`: any caller with a valid credential. `public`: no credential, and none is looked at. */
  readonly role: Role | 'any' | 'public';
  /**
   * Where the request names the user it is about: the field `userId` there must be a user of the caller. `lookup`: the
   * request names something by its id alone, and the handler finds it within `Caller.traceScope`. `none`: no user is concerned.
   */
  readonly user: 'path' | 'query' | 'body' | 'lookup' | 'none';
}

/** The parts of a request that may name an app and a user. */
export interface NamingParts {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** The role that the rights need which are no routes. */
const roleForRight = { 'app-state': 'operator', import: 'developer', 'app-details': 'developer' } as const;

/** What the caller of a request may do. The only place that decides it. */
export class Caller {
  /** Absent: the server does not know its callers, and every caller may do what the server offers. */
  readonly principal: Principal | undefined;
  readonly #parts: ReadonlySet<DevelopmentPart>;

  /** `parts`: the parts for development that are on; for a principal they need a role as well. */
  constructor(parts: ReadonlySet<DevelopmentPart>, principal?: Principal) {
    this.#parts = parts;
    this.principal = principal;
  }

  /** Throws `forbidden` if the caller lacks the role, or the request names an app or a user that is not the caller's. */
  check({ role, user }: Access, { params, query, body }: NamingParts): void {
    const { principal } = this;
    if (!principal || role === 'public') return;
    if (role !== 'any' && !hasRole(principal, role)) throw new AppError('forbidden', `This needs the role "${role}"`);
    this.#checkNames(params);
    if (user === 'query') this.#checkNames(query);
    if (user === 'body') this.#checkNames(body);
  }

  /** Throws `forbidden` for an app that is closed to the caller. */
  checkApp(appName: string): void {
    if (!this.mayUse(appName)) throw new AppError('forbidden', 'This app is not open to you');
  }

  mayUse(appName: string): boolean {
    return this.principal?.apps?.has(appName) ?? true;
  }

  /**
   * Which traces the caller may see, and how much of them: model requests show the instructions of agents. Throws `forbidden`
   * for a caller who is no user.
   */
  get traceScope(): TraceScope {
    const { principal } = this;
    if (!principal) return {};
    const { apps, userId } = principal;
    const withContent = hasRole(principal, 'developer') || hasRole(principal, 'operator');
    const within = { withContent, ...(apps && { apps }) };
    if (seesAllUsers(principal)) return within;
    if (userId === undefined) throw new AppError('forbidden', 'Your credential is that of no user');
    return { ...within, userId };
  }

  /** Whether the caller has a right that is no route of its own. */
  may(right: keyof typeof roleForRight): boolean {
    return this.#parts.has(right) && (!this.principal || hasRole(this.principal, roleForRight[right]));
  }

  /** Throws `app_state_not_allowed` for keys that all users of an app share. */
  checkState(state: State | undefined): void {
    if (state === undefined || this.may('app-state')) return;
    for (const key in state) {
      if (!key.startsWith('app:')) continue;
      const shown = JSON.stringify(key.slice(0, 100));
      throw new AppError(
        'app_state_not_allowed',
        `Clients may not write the app's state (${shown}). ${this.#howTo('app-state')}`,
      );
    }
  }

  /** Throws `import_not_allowed` for imported events, and what `checkState` throws. */
  checkSession({ state, events = [] }: NewSession): void {
    this.checkState(state);
    if (events.length > 0 && !this.may('import')) {
      throw new AppError('import_not_allowed', `Clients may not import events. ${this.#howTo('import')}`);
    }
    for (const { actions } of events) this.checkState(actions.stateDelta);
  }

  /** The request of a run, whose budgets are not above those of the caller's credential. */
  withBudgets<Request extends { readonly runConfig?: RunConfig | undefined }>(request: Request): Request {
    const own = this.principal?.limits?.budgets;
    if (!own) return request;
    const { runConfig } = request;
    return { ...request, runConfig: { ...runConfig, budgets: tightestBudgets(runConfig?.budgets, own) } };
  }

  #checkNames(part: unknown): void {
    const { principal } = this;
    if (!principal || typeof part !== 'object' || part === null) return;
    const { appName, userId } = part as { readonly appName?: unknown; readonly userId?: unknown };
    if (typeof appName === 'string') this.checkApp(appName);
    if (typeof userId !== 'string' || userId === principal.userId || seesAllUsers(principal)) return;
    throw new AppError('forbidden', 'You may not act for this user');
  }

  #howTo(right: keyof typeof roleForRight): string {
    return this.#parts.has(right) ? `This needs the role "${roleForRight[right]}"` : howToAllow(right);
  }
}

interface NewSession {
  readonly state?: State | undefined;
  readonly events?: readonly Event[] | undefined;
}

const seesAllUsers = (principal: Principal): boolean => principal.actsForUsers || hasRole(principal, 'operator');

/** How the operator turns a part on. */
export const howToAllow = (part: DevelopmentPart): string =>
  `Start the server with --surface ${part} to allow it, or with --surface dev for all that development needs`;
