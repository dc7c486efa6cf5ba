import type { State } from '../../../../src/schemas/session.ts';
import { isInternalKey } from '../../app/names.ts';

export type Scope = 'session' | 'user' | 'app' | 'temp';

export const scopes: readonly { readonly id: Scope; readonly label: string; readonly about: string }[] = [
  { id: 'session', label: 'Session', about: 'of this session' },
  { id: 'user', label: 'User', about: 'shared by the sessions of this user' },
  { id: 'app', label: 'App', about: 'shared by all users of the app' },
  { id: 'temp', label: 'Temporary', about: 'gone when the run ends' },
];

export const prefixOf = (scope: Scope): string => (scope === 'session' ? '' : `${scope}:`);

export function scopeOf(key: string): Scope {
  const prefix = /^(user|app|temp):/.exec(key)?.[1];
  return (prefix as Scope | undefined) ?? 'session';
}

/** Keys by scope, sorted, without those of the protocol and of this page. */
export function grouped(state: State, filter: string): Map<Scope, string[]> {
  const groups = new Map<Scope, string[]>();
  const word = filter.trim().toLowerCase();
  for (const key of Object.keys(state).toSorted()) {
    if (isInternalKey(key) || !key.toLowerCase().includes(word)) continue;
    const scope = scopeOf(key);
    const keys = groups.get(scope);
    if (keys) keys.push(key);
    else groups.set(scope, [key]);
  }
  return groups;
}

/** A typed value: the parsed JSON, or a message why it is not valid. */
export function parsed(text: string): { readonly value: unknown } | { readonly fault: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const place = /position (\d+)/.exec(String(error))?.[1];
    const where = place === undefined ? '' : ` at character ${Number(place) + 1}`;
    return { fault: `Not valid JSON${where}. Put strings in double quotes.` };
  }
}

export const shownValue = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
