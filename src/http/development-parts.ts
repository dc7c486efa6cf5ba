import { isLoopback } from '../base/addresses.ts';

/**
 * What developers of apps need and users do not: routes that show how apps are made or what other users said, that change
 * files or cost money, and the rights to import a history and to write state that all users of an app share.
 */
export const developmentParts = [
  'app-details',
  'app-state',
  'builder',
  'evaluation',
  'import',
  'tools',
  'traces',
] as const;
export type DevelopmentPart = (typeof developmentParts)[number];

/** The parts that are on by default: all on a loopback address, else none. */
export const defaultParts = (host: string): ReadonlySet<DevelopmentPart> =>
  new Set(isLoopback(host) ? developmentParts : []);
