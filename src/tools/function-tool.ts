import { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { FunctionDeclaration } from '../core/model.ts';
import type { MaybePromise, Tool, ToolContext } from '../core/runtime.ts';
import type { ArgsChecked, ArgsGiven, SchemaSource } from './schema-types.ts';
import { type Checked, type ValueSchema, valueSchema } from './value-schema.ts';

export interface FunctionToolSpec<Source extends SchemaSource = JsonObject> {
  readonly name: string;
  /** What the tool does and when to use it, for the model. */
  readonly description: string;
  /** The arguments, as a zod object, another Standard Schema or JSON Schema. Absent: the tool takes none. */
  readonly parameters?: Source;
  /** The schema of the response: sent to the model, not checked. */
  readonly response?: SchemaSource;
  /** Executes a call, with arguments that fit `parameters`. The model gets a result that is not an object as `{ result }`. */
  run(args: ArgsChecked<Source>, ctx: ToolContext): unknown;
  /** Whether the application responds later. */
  readonly isLongRunning?: boolean;
  /** Whether the user is asked before the tool runs. */
  readonly requireConfirmation?: boolean | ((args: ArgsChecked<Source>, ctx: ToolContext) => MaybePromise<boolean>);
  readonly timeoutMs?: number;
  readonly customMetadata?: JsonObject;
}

// What Gemini accepts; other providers accept less, and their adapters convert names.
const toolName = /^[A-Za-z_][\w.:-]{0,63}$/;

/**
 * A function that the model may call. Its type keeps the arguments that a caller gives, for `callTool`. Arguments that do
 * not fit get an error response, so that the model can correct the call; neither the user nor `run` sees them. Throws
 * ConfigurationException for a name or a schema that no model accepts.
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

/** The response to a call with invalid arguments. */
export function invalidArguments(name: string, problems: readonly string[]): { error: string } {
  return {
    error: `Invalid arguments for "${name}":\n${problems.map((problem) => `- ${problem}`).join('\n')}\nCorrect them and call again.`,
  };
}

const withLongRunningNote = (description: string): string =>
  `${description}\n\nThis operation takes long: its first answer may only say that it is pending. Do not call it again while it is.`.trim();
