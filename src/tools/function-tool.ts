import { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { FunctionDeclaration } from '../core/model.ts';
import type { MaybePromise, Tool, ToolContext } from '../core/runtime.ts';
import type { ArgsChecked, ArgsGiven, SchemaSource } from './schema-types.ts';
import { type Checked, type ValueSchema, valueSchema } from './value-schema.ts';

export interface FunctionToolSpec<Source extends SchemaSource = JsonObject> {
  readonly name: string;
  /** What the tool does and when to use it: the model decides by this. */
  readonly description: string;
  /** The arguments, as a zod object, another Standard Schema or JSON Schema. Absent: the tool takes none. */
  readonly parameters?: Source;
  /** What it answers with: told to the model, not checked. */
  readonly response?: SchemaSource;
  /** Answers a call; gets arguments that fit `parameters`. What is not an object reaches the model as `{ result }`. */
  run(args: ArgsChecked<Source>, ctx: ToolContext): unknown;
  /** The answer comes later, from the application. */
  readonly isLongRunning?: boolean;
  /** Whether the user is asked before the tool runs. */
  readonly requireConfirmation?: boolean | ((args: ArgsChecked<Source>, ctx: ToolContext) => MaybePromise<boolean>);
  readonly timeoutMs?: number;
  readonly customMetadata?: JsonObject;
}

// Gemini's grammar; other providers take less, which their adapters see to.
const toolName = /^[A-Za-z_][\w.:-]{0,63}$/;

/**
 * A function the model may call. Its type keeps what a caller gives, for `callTool`. Arguments that do not fit are answered with what is wrong, so that the model can mend
 * the call, and neither the user nor `run` is bothered with them. Throws ConfigurationException for a name or a schema
 * no model would take.
 */
export function functionTool<const Source extends SchemaSource = JsonObject>(
  spec: FunctionToolSpec<Source>,
): Tool<ArgsGiven<Source>> {
  const { name, isLongRunning, timeoutMs, customMetadata } = spec;
  checkToolName(name);
  const parameters = spec.parameters && argumentSchema(name, spec.parameters);
  const description = isLongRunning ? withLongRunningNote(spec.description) : spec.description;
  const declaration: FunctionDeclaration = {
    name,
    description,
    ...(parameters && { parameters: parameters.json }),
    ...(spec.response && { response: valueSchema(spec.response).json }),
  };
  return {
    kind: 'tool',
    name,
    description,
    declaration,
    ...(isLongRunning && { isLongRunning }),
    ...(spec.requireConfirmation && { requireConfirmation: confirmationOf(spec, parameters) }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(customMetadata && { customMetadata }),
    run(args, ctx) {
      if (!parameters) return spec.run(args as ArgsChecked<Source>, ctx);
      const answer = (checked: Checked<ArgsChecked<Source>>): unknown =>
        checked.ok ? spec.run(checked.value, ctx) : invalidArguments(name, checked.problems);
      const checked = parameters.check(args);
      return checked instanceof Promise ? checked.then(answer) : answer(checked);
    },
  };
}

export function checkToolName(name: string): void {
  if (toolName.test(name)) return;
  throw new AppError(
    'ConfigurationException',
    `Tool name ${JSON.stringify(name)} must start with a letter or "_" and hold at most 64 letters, digits, "_", ".", ":" or "-"`,
  );
}

export function argumentSchema<Source extends SchemaSource>(
  name: string,
  source: Source,
): ValueSchema<ArgsChecked<Source>> {
  // `ArgsChecked` reads off the type of a schema what its check gives, which the compiler cannot follow.
  const schema = valueSchema(source as SchemaSource<ArgsChecked<Source>>);
  const { type } = schema.json;
  if (type !== undefined && type !== 'object') {
    throw new AppError(
      'ConfigurationException',
      `The parameters of tool "${name}" must be an object, not ${JSON.stringify(type)}`,
    );
  }
  return schema;
}

function confirmationOf<Source extends SchemaSource>(
  { requireConfirmation = false }: FunctionToolSpec<Source>,
  parameters: ValueSchema<ArgsChecked<Source>> | undefined,
): Tool['requireConfirmation'] {
  if (typeof requireConfirmation === 'boolean' && !parameters) return requireConfirmation;
  return async (args, ctx) => {
    const checked = parameters
      ? await parameters.check(args)
      : { ok: true as const, value: args as ArgsChecked<Source> };
    if (!checked.ok) return false;
    return typeof requireConfirmation === 'boolean' ? requireConfirmation : requireConfirmation(checked.value, ctx);
  };
}

/** The answer to a call whose arguments do not fit. */
export function invalidArguments(name: string, problems: readonly string[]): { error: string } {
  return {
    error: `Invalid arguments for "${name}":\n${problems.map((problem) => `- ${problem}`).join('\n')}\nCorrect them and call again.`,
  };
}

const withLongRunningNote = (description: string): string =>
  `${description}\n\nThis operation takes long: its first answer may only say that it is pending. Do not call it again while it is.`.trim();
