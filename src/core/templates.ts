import { AppError } from '../base/errors.ts';
import { keyOf } from '../schemas/session.ts';
import type { RunContext } from './runtime.ts';

interface Hole {
  readonly source: string;
  readonly optional: boolean;
  /** A state key. */
  readonly key?: string;
  /** An artifact name. */
  readonly artifact?: string;
}

/** A parsed instruction: texts and placeholders. Parsed once for all runs. */
export type Template = readonly (string | Hole)[];

// One or more pairs of braces around text without braces.
const token = /\{+[^{}]*\}+/g;
const stateKey = /^(?:(?:app|user|temp):)?[\p{ID_Start}_][\p{ID_Continue}]*$/u;
const artifactPrefix = 'artifact.';

/** Parses `{key}`, `{app:key}`, `{user:key}`, `{temp:key}` and `{artifact.name}`, each with an optional `?`. Other braces are text. */
export function compileTemplate(text: string): Template {
  const pieces: (string | Hole)[] = [];
  let from = 0;
  for (const match of text.matchAll(token)) {
    const hole = holeOf(match[0]);
    if (!hole) continue;
    if (match.index > from) pieces.push(text.slice(from, match.index));
    pieces.push(hole);
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

function holeOf(source: string): Hole | undefined {
  const name = source.replaceAll(/^\{+|\}+$/g, '').trim();
  const optional = name.endsWith('?');
  const key = optional ? name.slice(0, -1).trim() : name;
  if (key.startsWith(artifactPrefix) && key.length > artifactPrefix.length) {
    return { source, optional, artifact: key.slice(artifactPrefix.length) };
  }
  return stateKey.test(key) ? { source, optional, key } : undefined;
}

/** Fills the placeholders from state and artifacts. Throws ConfigurationException if a required one is missing. */
export async function fillTemplate(template: Template, ctx: RunContext): Promise<string> {
  let text = '';
  for (const piece of template) text += typeof piece === 'string' ? piece : await valueOf(piece, ctx);
  return text;
}

async function valueOf(hole: Hole, ctx: RunContext): Promise<string> {
  if (hole.artifact !== undefined) return artifactText(hole.artifact, hole.optional, ctx);
  const { state } = ctx.session;
  const key = hole.key ?? '';
  if (Object.hasOwn(state, key)) return asText(state[key]);
  if (hole.optional) return '';
  throw new AppError(
    'ConfigurationException',
    `The instruction of "${ctx.agent.name}" uses ${hole.source}, but the session state has no "${key}"`,
  );
}

async function artifactText(name: string, optional: boolean, ctx: RunContext): Promise<string> {
  const part = await ctx.services.artifacts?.loadArtifact(keyOf(ctx.session), name);
  if (part) return part.text ?? JSON.stringify(part);
  if (optional) return '';
  throw new AppError(
    'ConfigurationException',
    `The instruction of "${ctx.agent.name}" uses the artifact "${name}", which does not exist`,
  );
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return JSON.stringify(value) ?? '';
}
