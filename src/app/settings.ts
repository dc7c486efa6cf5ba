import { z } from 'zod';
import { Config } from './config.ts';

/** One setting with all its names. */
export interface Setting {
  /** As in agent-server.yaml: `port`, `cors.maxAge`. */
  readonly key: string;
  readonly path: readonly string[];
  readonly flag: string;
  readonly env: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly kind: 'value' | 'list' | 'switch';
  /** The placeholder for the value in `--help`; empty for switches. */
  readonly value: string;
  /** The default as people write it. */
  readonly shown: string;
}

/** Every setting of the config, in order. */
export const settings: readonly Setting[] = settingsOf(Config, []);

function settingsOf(object: z.ZodObject, path: readonly string[]): Setting[] {
  return Object.entries(object.shape).flatMap(([name, schema]) => {
    const here = [...path, name];
    const inner = bare(schema as z.ZodType);
    return inner instanceof z.ZodObject ? settingsOf(inner, here) : [settingOf(schema as z.ZodType, inner, here)];
  });
}

function settingOf(schema: z.ZodType, inner: z.ZodType, path: readonly string[]): Setting {
  const meta = schema.meta() ?? {};
  const named = (key: string): string | undefined => (typeof meta[key] === 'string' ? meta[key] : undefined);
  const flag = named('flag') ?? path.map(kebab).join('-');
  const isList = inner instanceof z.ZodArray || meta['kind'] === 'list';
  const usual: unknown = schema.safeParse(undefined).data;
  return {
    key: path.join('.'),
    path,
    flag,
    env: named('env') ?? `AGENT_SERVER_${flag.replaceAll('-', '_').toUpperCase()}`,
    description: meta.description ?? '',
    schema,
    kind: inner instanceof z.ZodBoolean ? 'switch' : isList ? 'list' : 'value',
    value: named('value') ?? '',
    shown: named('shown') ?? show(usual),
  };
}

/** The schema inside defaults, optionals and conversions: it says what kind of value it is. */
function bare(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return bare(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodPipe ? bare(schema.out as z.ZodType) : schema;
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function show(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
