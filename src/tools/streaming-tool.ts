import type { JsonObject } from '../base/json.ts';
import type { Tool, ToolContext } from '../core/runtime.ts';
import { argumentSchema, functionTool, type FunctionToolSpec, invalidArguments } from './function-tool.ts';
import type { ArgsChecked, ArgsGiven, SchemaSource } from './schema-types.ts';

export interface StreamingToolSpec<Source extends SchemaSource = JsonObject> extends Omit<
  FunctionToolSpec<Source>,
  'run' | 'isLongRunning'
> {
  /** Yields results for the model. Has to stop soon after `ctx.signal` aborts. */
  run(args: ArgsChecked<Source>, ctx: ToolContext): AsyncIterable<unknown>;
  /** Results after which a call outside a live conversation ends; default 1,000. */
  readonly maxItems?: number;
}

/**
 * A tool that yields several results. In a live conversation the model gets each at once. Elsewhere one response has all
 * of them: texts joined, other results as a list.
 */
export function streamingTool<const Source extends SchemaSource = JsonObject>(
  spec: StreamingToolSpec<Source>,
): Tool<ArgsGiven<Source>> {
  const { maxItems = 1000 } = spec;
  const parameters = spec.parameters && argumentSchema(spec.name, spec.parameters);
  const whole = functionTool<Source>({ ...spec, run: (args, ctx) => collect(spec.run(args, ctx), maxItems) });
  return {
    ...whole,
    async *stream(args, ctx) {
      const checked = parameters
        ? await parameters.check(args)
        : { ok: true as const, value: args as ArgsChecked<Source> };
      if (checked.ok) yield* spec.run(checked.value, ctx);
      else yield invalidArguments(spec.name, checked.problems);
    },
  };
}

async function collect(items: AsyncIterable<unknown>, maxItems: number): Promise<unknown> {
  const collected: unknown[] = [];
  for await (const item of items) {
    collected.push(item);
    if (collected.length >= maxItems) break;
  }
  return collected.every((item) => typeof item === 'string') ? collected.join('') : collected;
}
