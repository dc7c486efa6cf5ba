import { z } from 'zod';
import { isJsonObject } from '../base/json.ts';
import { budgetScopes } from '../core/usage-store.ts';
import type { BudgetKind, Budgets, BudgetScope } from '../schemas/budget.ts';

interface Naming {
  /** Absent: the key in kebab-case. */
  readonly flag?: string;
  /** Absent: AGENT_SERVER_ and the flag in capitals. */
  readonly env?: string;
  /** The placeholder for the value in `--help`. */
  readonly value?: string;
  /** The default in words, where the value does not read well. */
  readonly shown?: string;
  /** Where the schema does not tell it: the flag may be repeated. */
  readonly kind?: 'list';
}

/** A setting: what it may be, its description, and its names where they are not the usual ones. */
export function setting<Schema extends z.ZodType>(schema: Schema, description: string, naming: Naming = {}): Schema {
  return schema.meta({ description, ...naming });
}

// A value comes as text (flag, environment) or typed (file). These schemas accept both.

const sizes: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
const times: Readonly<Record<string, number>> = { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  const error =
    most === Number.MAX_SAFE_INTEGER
      ? `must be a whole number, ${least} or more`
      : `must be a whole number from ${least} to ${most}`;
  return z.preprocess(
    (value) => (typeof value === 'string' && /^[+-]?\d+$/.test(value.trim()) ? Number(value) : value),
    z.int({ error }).min(least, { error }).max(most, { error }),
  );
}

/** Milliseconds, from `500ms`, `10s`, `5m`, `1h`, `30d`; a bare number counts seconds. */
export function time(most = 24 * 3_600_000) {
  return measure(times, most, 'must be a time such as 500ms, 10s or 5m');
}

/** Milliseconds until something is deleted for its age; `undefined` for `never`. */
export function timeToLive() {
  const century = 100 * 366 * 86_400_000;
  return z.preprocess(
    (value) => (String(value).trim().toLowerCase() === 'never' ? undefined : value),
    measure(times, century, 'must be a time such as 30d, 12h or 10m, or never').optional(),
  );
}

/** Bytes, from `512kb`, `10mb`, `1gb`; a bare number counts bytes. */
export function size(most = 1024 ** 3) {
  return measure(sizes, most, 'must be a size such as 512kb or 10mb');
}

function measure(units: Readonly<Record<string, number>>, most: number, error: string) {
  return z.preprocess(
    (value) => {
      const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(String(value).trim().toLowerCase());
      const unit = units[match?.[2] ?? '?'];
      return match && unit !== undefined ? Math.round(Number(match[1]) * unit) : value;
    },
    z
      .number({ error })
      .min(0, { error })
      .max(most, { error: `${error}, not that large` }),
  );
}

export function onOff() {
  return z.preprocess(
    (value) => {
      const word = String(value).trim().toLowerCase();
      if (['on', 'true', 'yes', '1'].includes(word)) return true;
      return ['off', 'false', 'no', '0'].includes(word) ? false : value;
    },
    z.boolean({ error: 'must be on or off' }),
  );
}

/** A list; as text, its items are separated by commas. */
export function list<Item extends z.ZodType<string>>(item: Item) {
  return z.preprocess((value) => {
    const given: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    return given.flatMap((entry) =>
      typeof entry === 'string'
        ? entry
            .split(',')
            .map((part) => part.trim())
            .filter((part) => part !== '')
        : [entry],
    );
  }, z.array(item));
}

export const text = (error: string) => z.string({ error }).trim().min(1, { error });

/** An origin as browsers send it (scheme, host, port and no path), or `*`. */
export const Origin = text('must be an origin such as https://app.example.com').refine(
  (value) => value === '*' || (URL.canParse(value) && new URL(value).origin === value),
  { error: 'must be an origin such as https://app.example.com, without a path' },
);

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '');
const scopeNames: ReadonlyMap<string, BudgetScope> = new Map(budgetScopes.map((scope) => [plain(scope), scope]));
const budgetAmounts: ReadonlyMap<string, { readonly kind: BudgetKind; readonly amount: z.ZodType<number> }> = new Map([
  ['tokens', { kind: 'tokens', amount: wholeNumber(0) }],
  ['cost', { kind: 'cost', amount: dollars() }],
  ['modelcalls', { kind: 'modelCalls', amount: wholeNumber(0) }],
  ['toolcalls', { kind: 'toolCalls', amount: wholeNumber(0) }],
  ['walltime', { kind: 'wallTimeMs', amount: time(400 * 86_400_000) }],
  ['walltimems', { kind: 'wallTimeMs', amount: wholeNumber(0) }],
]);
const budgetError = 'must be budgets such as run.tokens=100000 or user-day.cost=5';

function dollars() {
  const error = 'must be an amount of US dollars such as 2.50';
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value),
    z.number({ error }).min(0, { error }),
  );
}

/**
 * Budgets as a mapping (`{ userDay: { cost: 5 } }`) or as texts (`user-day.cost=5`, several in one text separated by
 * commas). Of two limits for the same, the smaller counts.
 */
export function budgets() {
  return z.unknown().transform((value, ctx): Budgets => {
    const found: Budgets = {};
    for (const [scopeName, kindName, raw] of budgetEntries(value)) {
      const scope = scopeNames.get(plain(scopeName));
      const known = budgetAmounts.get(plain(kindName));
      const amount = known?.amount.safeParse(raw);
      if (scope && known && amount?.success) {
        const { kind } = known;
        found[scope] = { ...found[scope], [kind]: Math.min(amount.data, found[scope]?.[kind] ?? Infinity) };
        continue;
      }
      const why = scope && known ? (amount?.error?.issues[0]?.message ?? budgetError) : budgetError;
      ctx.addIssue(scope && known ? `${scopeName}.${kindName} ${why}` : why);
    }
    return found;
  });
}

/** Scope, kind and amount of each budget; names that are missing are empty. */
function budgetEntries(value: unknown): (readonly [string, string, unknown])[] {
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([scope, kinds]): (readonly [string, string, unknown])[] =>
      isJsonObject(kinds)
        ? Object.entries(kinds).flatMap(([kind, amount]) => (amount == null ? [] : [[scope, kind, amount] as const]))
        : [[scope, '', kinds] as const],
    );
  }
  const given: unknown[] = Array.isArray(value) ? value : [value];
  const texts = given.flatMap((entry) => (typeof entry === 'string' ? entry.split(',') : [String(entry)]));
  return texts.map((entry) => {
    const [, scope = '', kind = '', amount = ''] = /^\s*([\w-]+)\.([\w-]+)\s*=\s*(\S+)\s*$/.exec(entry) ?? [];
    return [scope, kind, amount] as const;
  });
}
