import { z } from 'zod';

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** All fields of a value from outside, those that its type does not name included. */
export const openFields = (value: object): Readonly<Record<string, unknown>> => value as Record<string, unknown>;

/** Closed to the compiler, which finds misspelled fields that way; open at run time. */
type ClosedSchema<Shape extends z.ZodRawShape> = z.ZodPreprocess<z.ZodObject<Shape>>;

/**
 * An object schema for JSON from clients and stores. It accepts known keys in camelCase and snake_case (ADK clients use
 * both), treats `null` as absent (ADK servers send both), and keeps unknown keys unchanged,
 * although the type of the result does not have them.
 */
export function lenient<Shape extends z.ZodRawShape>(shape: Shape): ClosedSchema<Shape> {
  const aliases = new Map<string, string>();
  for (const key of Object.keys(shape)) {
    const alias = snake(key);
    if (alias !== key) aliases.set(alias, key);
  }
  const known = new Set(Object.keys(shape));

  const normalize = (input: unknown): unknown => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
    let copy: Record<string, unknown> | undefined;
    const source = input as Record<string, unknown>;
    for (const key in source) {
      const name = aliases.get(key) ?? key;
      const dropped = source[key] === null && known.has(name);
      if (name === key && !dropped) continue;
      copy ??= { ...source };
      delete copy[key];
      if (!dropped && (source[name] ?? undefined) === undefined) copy[name] = source[key];
    }
    return copy ?? source;
  };

  // `z.preprocess`, but with the core's transform: the other one hangs a closure on every value it sees, garbage that
  // survives to the collector's slow side.
  const first = new z.core.$ZodTransform({ type: 'transform', transform: normalize });
  const out = z.looseObject(shape);
  return new z.ZodPreprocess({ type: 'pipe', in: first, out }) as unknown as ClosedSchema<Shape>;
}
