import { z } from 'zod';

/** The longest app, user, session, artifact or evaluation name, in UTF-16 units. */
export const maxNameLength = 256;

// Control characters (C0, DEL, C1), and line and paragraph separators. Lone surrogates are tested by isWellFormed.
// oxlint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/**
 * Why a text is not a name, or `undefined` when it is one. One grammar for all ids: no control character, no lone
 * surrogate, no `.` or `..` segment, no slash or backslash, 1 to 256 characters. `slashes` allows `/` between
 * segments (artifact names).
 */
export function nameFault(name: string, slashes = false): string | undefined {
  if (name.length === 0) return 'is empty';
  if (name.length > maxNameLength) return `is longer than ${maxNameLength} characters`;
  if (!name.isWellFormed()) return 'holds a lone surrogate';
  if (forbidden.test(name)) return 'holds a control character';
  if (name.includes('\\')) return 'holds a backslash';
  if (!slashes && name.includes('/')) return 'holds a slash';
  if (name.trim().length === 0) return 'is blank';
  if (!slashes) return isDots(name) ? 'holds a "." or ".." segment' : undefined;
  const segments = name.split('/');
  if (segments.some(isDots)) return 'holds a "." or ".." segment';
  return segments.includes('') ? 'holds an empty segment' : undefined;
}

const isDots = (segment: string): boolean => segment === '.' || segment === '..';

// Not `superRefine`: what it hangs on every value it checks is garbage that survives to the collector's slow side.
const named = (slashes: boolean): z.ZodString =>
  z.string().check((ctx) => {
    const fault = nameFault(ctx.value, slashes);
    if (fault) ctx.issues.push({ code: 'custom', message: fault, input: ctx.value });
  });

/**
 * An identifier (hyphens allowed), as the ADKs for Python and TypeScript take it, or letters and digits with single
 * separators between them, as the one for Java does; with the letters of all scripts.
 */
export const agentNamePattern =
  /^(?:[\p{ID_Start}_][\p{ID_Continue}-]*|_?[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:[._ -][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*)$/u;

/** Why a text names no agent, or `undefined` when it does. */
export function agentNameFault(name: string): string | undefined {
  if (name === 'user') return 'must not be "user", which stands for the user';
  if (agentNamePattern.test(name)) return undefined;
  return 'must be a name: letters and digits, with single ".", "_", "-" or spaces between them ("_" may come first)';
}

/** Whether other servers take the agent name too: Python's ADK takes identifiers only. */
export const isIdentifier = (name: string): boolean => /^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name);

/** What JSON Schema can say of it: the rest is in `nameFault`. */
const grammar = (alsoForbidden: string) => ({
  minLength: 1,
  maxLength: maxNameLength,
  pattern: String.raw`^[^\\${alsoForbidden}\u0000-\u001f\u007f-\u009f\u2028\u2029]+$`,
});

/** An app, user, session or evaluation id. */
export const Name = named(false).meta(grammar('/'));
/** An artifact name; `user:` in front makes it the user's, and it may hold `/`. */
export const ArtifactName = named(true).meta(grammar(''));
