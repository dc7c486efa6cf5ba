import type { Tool, ToolContext } from '../core/runtime.ts';
import { functionTool, type FunctionToolSpec, invalidArguments } from './function-tool.ts';
import { valueSchema } from './value-schema.ts';

export interface StreamingToolSpec<Args> extends Omit<FunctionToolSpec<Args>, 'run' | 'isLongRunning'> {
  /** Yields what the model should hear of, as it comes. Stops soon after `ctx.signal` aborts. */
  readonly run: (args: Args, ctx: ToolContext) => AsyncIterable<unknown>;
  /** Items after which a call outside a live conversation ends; default 1,000. */
  readonly maxItems?: number;
}

/**
 * A tool that goes on telling: in a live conversation each item reaches the model as it comes. Elsewhere one answer
 * holds them all: texts joined, other items as a list.
 */
export function streamingTool<Args>({ run, maxItems = 1000, ...spec }: StreamingToolSpec<Args>): Tool {
  const parameters = spec.parameters && valueSchema(spec.parameters);
  const whole = functionTool<Args>({ ...spec, run: (args, ctx) => collect(run(args, ctx), maxItems) });
  return {
    ...whole,
    async *stream(args, ctx) {
      const checked = parameters ? await parameters.check(args) : { ok: true as const, value: args as Args };
      if (checked.ok) yield* run(checked.value, ctx);
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
