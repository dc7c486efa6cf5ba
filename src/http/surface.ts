import { isLoopback } from '../base/addresses.ts';
import { AppError } from '../base/errors.ts';
import { howToAllow } from './access/caller.ts';
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

/** Replaces an operation that is off: it throws `development_route_off`. */
export function refusal(operation: Operation, part: DevelopmentPart): Operation {
  const { method, paths, tag, access, summary, response } = operation;
  return {
    method,
    paths,
    tag,
    access,
    summary,
    response,
    handle: () => {
      throw new AppError('development_route_off', `This route is for development and is off. ${howToAllow(part)}`);
    },
  };
}
