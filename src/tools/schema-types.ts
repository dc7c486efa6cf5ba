import type { z } from 'zod';
import type { JsonObject } from '../base/json.ts';
import type { MaybePromise } from '../core/runtime.ts';

/** A schema from an author: a zod type, another Standard Schema, or JSON Schema (also with Gemini's upper-case types). */
export type SchemaSource<T = unknown> = z.ZodType<T> | StandardSchema<T> | JsonObject;

/** The part of https://standardschema.dev that this server uses. */
export interface StandardSchema<T, Input = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => MaybePromise<StandardResult<T>>;
    /** For the compiler only. */
    readonly types?: { readonly input: Input; readonly output: T } | undefined;
    /** Standard JSON Schema, which the model needs to know the arguments. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** The arguments that a caller gives for a schema: those with a default may be missing. */
export type ArgsGiven<Source> = ObjectOf<ValueOf<Source, 'input'>>;
/** The arguments that a tool gets: checked, with the defaults filled in. */
export type ArgsChecked<Source> = ObjectOf<ValueOf<Source, 'output'>>;

/** Arguments are an object; a schema that the compiler cannot read may hold anything. */
type ObjectOf<T> = unknown extends T ? JsonObject : T extends object ? T : JsonObject;

type Side = 'input' | 'output';

type ValueOf<Source, At extends Side> = Source extends { readonly _zod: Readonly<Record<At, infer T>> }
  ? T
  : Source extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends Readonly<Record<At, infer T>>
      ? T
      : unknown
    : JsonValue<Source, At>;

/** The value that a JSON Schema describes, as far as its literal type shows; `unknown` beyond that. */
type JsonValue<Schema, At extends Side> = Schema extends { readonly const: infer T }
  ? T
  : Schema extends { readonly enum: readonly (infer T)[] }
    ? T
    : Schema extends { readonly anyOf: readonly (infer Choice)[] }
      ? JsonValue<Choice, At>
      : Schema extends { readonly type: infer Type }
        ? TypedValue<Schema, Type extends readonly (infer One)[] ? One : Type, At>
        : unknown;

type TypedValue<Schema, Type, At extends Side> = Type extends string
  ? {
      string: string;
      number: number;
      integer: number;
      boolean: boolean;
      null: null;
      array: Schema extends { readonly items: infer Items } ? JsonValue<Items, At>[] : unknown[];
      object: Schema extends { readonly properties: infer Properties }
        ? PropertyValues<Properties, RequiredKeys<Schema, Properties, At>, At>
        : JsonObject;
    }[Lowercase<Type> & JsonType]
  : unknown;

type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

type RequiredKeys<Schema, Properties, At extends Side> =
  | (Schema extends { readonly required: readonly (infer Key)[] } ? Key : never)
  | (At extends 'output' ? KeysWithDefault<Properties> : never);

type KeysWithDefault<Properties> = {
  [Key in keyof Properties]: Properties[Key] extends { readonly default: unknown } ? Key : never;
}[keyof Properties];

type PropertyValues<Properties, Required, At extends Side> = Flat<
  { -readonly [Key in keyof Properties as Key extends Required ? Key : never]: JsonValue<Properties[Key], At> } & {
    -readonly [Key in keyof Properties as Key extends Required ? never : Key]?: JsonValue<Properties[Key], At>;
  }
>;

/** One object type, as people read it, instead of an intersection. */
type Flat<T> = { [Key in keyof T]: T[Key] };
