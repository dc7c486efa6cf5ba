import { useSyncExternalStore } from 'react';

/** The base path of the page: `/dev-ui/`, below the prefix of a proxy. Read at run time. */
const base = new URL(document.baseURI).pathname;

/** An address below the base: its path, still encoded, and its query. */
export interface PageLocation {
  /** Begins with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export type Query = Readonly<Record<string, string | undefined>>;

const listeners = new Set<() => void>();
let current = readLocation();

function readLocation(): PageLocation {
  const { pathname, search } = window.location;
  const path = pathname.startsWith(base) ? pathname.slice(base.length - 1) : '/';
  return { path, query: new URLSearchParams(search) };
}

function refresh(): void {
  current = readLocation();
  for (const listener of listeners) listener();
}

window.addEventListener('popstate', refresh);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The current address; a component that uses it renders again when it changes. */
export const useLocation = (): PageLocation => useSyncExternalStore(subscribe, getLocation);
export const getLocation = (): PageLocation => current;

/** Goes to an address that `to` made. */
export function navigate(address: string, { replace = false } = {}): void {
  const full = base + address.slice(1);
  if (full === window.location.pathname + window.location.search) return;
  if (replace) window.history.replaceState(null, '', full);
  else window.history.pushState(null, '', full);
  refresh();
}

/** Makes an address from a pattern such as `/apps/:app`: it encodes the values of the names. */
export function to(pattern: string, params: Readonly<Record<string, string>> = {}, query: Query = {}): string {
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return path + searchOf(new URLSearchParams(), query);
}

/** Goes to the same path with other query values; `undefined` removes one. */
export function setQuery(changes: Query, options: { replace?: boolean } = {}): void {
  navigate(current.path + searchOf(current.query, changes), options);
}

/** The address of the current path with other query values. */
export const withQuery = (changes: Query): string => current.path + searchOf(current.query, changes);

/** An address for `href`: with the base path. */
export const hrefOf = (address: string): string => base + address.slice(1);

/** The values of a pattern's names, decoded, when the path matches it. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.replace(/(.)\/$/, '$1').split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const value = decode(given[index] ?? '');
    if (value === undefined) return undefined;
    if (segment.startsWith(':') && value !== '') params[segment.slice(1)] = value;
    else if (segment !== value) return undefined;
  }
  return params;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function searchOf(query: URLSearchParams, changes: Query): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') changed.delete(name);
    else changed.set(name, value);
  }
  const text = changed.toString();
  return text === '' ? '' : `?${text}`;
}
