import { isLoopback } from '../base/addresses.ts';
import { AppError } from '../base/errors.ts';
import type { Event } from '../schemas/event.ts';
import type { State } from '../schemas/session.ts';
import type { DevelopmentPart } from './development-parts.ts';
import type { Operation } from './operation.ts';

/** Whom an operation is for: anybody, the users of the apps, or those who develop them. */
export type Surface = 'public' | 'api' | DevelopmentPart;

/** Whether callers see what the code of authors threw: only authors can call, and are offered how their apps are made. */
export const showsThrown = (host: string, development: ReadonlySet<DevelopmentPart>): boolean =>
  isLoopback(host) && development.has('app-details');

/** Whether an operation is switched off. */
export const isOff = (surface: Surface, development: ReadonlySet<DevelopmentPart>): surface is DevelopmentPart =>
  surface !== 'public' && surface !== 'api' && !development.has(surface);

const howTo = (part: DevelopmentPart): string =>
  `Start the server with --surface ${part} to allow it, or with --surface dev for all that development needs`;

/** Replaces an operation that is off: it throws `development_route_off`. */
export function refusal(operation: Operation, part: DevelopmentPart): Operation {
  const { method, paths, tag, summary, response } = operation;
  return {
    method,
    paths,
    tag,
    summary,
    response,
    handle: () => {
      throw new AppError('development_route_off', `This route is for development and is off. ${howTo(part)}`);
    },
  };
}

/** What callers may write into sessions. */
export interface WriteRights {
  /** Throws `app_state_not_allowed` for keys that all users of an app share. */
  checkState(state: State | undefined): void;
  /** Throws `import_not_allowed` for imported events, and what `checkState` throws. */
  checkSession(session: { readonly state?: State | undefined; readonly events?: readonly Event[] | undefined }): void;
}

export function writeRights(development: ReadonlySet<DevelopmentPart>): WriteRights {
  const checkState: WriteRights['checkState'] = (state) => {
    if (state === undefined || development.has('app-state')) return;
    for (const key in state) {
      if (!key.startsWith('app:')) continue;
      const shown = JSON.stringify(key.slice(0, 100));
      throw new AppError(
        'app_state_not_allowed',
        `Clients may not write the app's state (${shown}). ${howTo('app-state')}`,
      );
    }
  };
  return {
    checkState,
    checkSession({ state, events = [] }) {
      checkState(state);
      if (events.length > 0 && !development.has('import')) {
        throw new AppError('import_not_allowed', `Clients may not import events. ${howTo('import')}`);
      }
      for (const { actions } of events) checkState(actions.stateDelta);
    },
  };
}
