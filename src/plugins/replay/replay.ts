import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ModelResponse } from '../../core/model.ts';
import type { CallbackContext, Plugin, Tool, ToolContext } from '../../core/runtime.ts';
import { lenient } from '../../schemas/lenient.ts';
import { type Recording, readCassette } from './cassette.ts';

/** What a client puts into the session state to have its run replayed or recorded. */
export const CassetteConfig = lenient({
  dir: z.string().min(1),
  userMessageIndex: z.number().int().nonnegative(),
  streamingMode: z.enum(['none', 'sse', 'bidi']).default('none'),
});
export type CassetteConfig = z.infer<typeof CassetteConfig>;

/** Session state key of the conformance clients. */
export const replayKey = '_adk_replay_config';

/**
 * Answers model and tool calls from a recorded conversation instead of making them, for runs whose state carries
 * `_adk_replay_config`. Cassettes are read below `root` only. Tools are still run for what they do to the state; their
 * recorded answer is used. Other runs are left alone.
 */
export function replayPlugin({ root }: { root: string }): Plugin {
  return {
    name: 'replay',
    appliesTo: (session) => session.state[replayKey] !== undefined,
    async beforeModel(_request, ctx) {
      const cursor = await cursorOf(ctx, root);
      return cursor && whole(cursor.next(ctx.agentName, 'model'));
    },
    async beforeTool(tool, args, ctx) {
      const cursor = await cursorOf(ctx, root);
      if (!cursor) return undefined;
      const recording = cursor.next(ctx.agentName, 'tool', tool.name);
      await runForEffect(tool, args, ctx);
      return recording.toolRecording?.toolResponse?.response ?? {};
    },
  };
}

/** Reads and checks a cassette config in the state; `undefined` when the run asks for nothing. */
export function cassetteConfig(ctx: CallbackContext, key: string): CassetteConfig | undefined {
  const value = ctx.state.get(key);
  if (value === undefined) return undefined;
  const parsed = CassetteConfig.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AppError('ConfigurationException', `State "${key}": ${z.prettifyError(parsed.error)}`);
}

/** Walks the recordings of one user message; agents may interleave, so each agent's recordings are taken in their order. */
class Cursor {
  readonly #left: Recording[];
  readonly #index: number;

  constructor(recordings: readonly Recording[], index: number) {
    this.#left = recordings.filter((recording) => recording.userMessageIndex === index);
    this.#index = index;
  }

  next(agentName: string, kind: 'model' | 'tool', toolName?: string): Recording {
    const at = this.#left.findIndex(
      ({ agentName: name, llmRecording, toolRecording }) =>
        name === agentName &&
        (kind === 'model' ? llmRecording !== undefined : toolRecording?.toolCall.name === toolName),
    );
    const [found] = at < 0 ? [] : this.#left.splice(at, 1);
    if (found) return found;
    const what = kind === 'model' ? 'model call' : `call of tool "${toolName}"`;
    throw new AppError(
      'ConfigurationException',
      `The cassette has no further ${what} of agent "${agentName}" for user message ${this.#index}`,
    );
  }
}

async function cursorOf(ctx: CallbackContext, root: string): Promise<Cursor | undefined> {
  const config = cassetteConfig(ctx, replayKey);
  if (!config) return undefined;
  // Kept as a promise: parallel agents ask at the same time and must share one cursor.
  const known = ctx.data.get(replayKey) as Promise<Cursor> | undefined;
  if (known) return known;
  const place = { root, dir: config.dir, streaming: config.streamingMode === 'sse' };
  const cursor = readCassette(place).then((recordings) => new Cursor(recordings, config.userMessageIndex));
  ctx.data.set(replayKey, cursor);
  return cursor;
}

/** The stored (whole) response of a recorded model call; fragments of a streamed one are left out. */
function whole({ llmRecording }: Recording): ModelResponse {
  const responses = llmRecording?.llmResponses ?? (llmRecording?.llmResponse ? [llmRecording.llmResponse] : []);
  const response = responses.findLast(({ partial }) => !partial) ?? responses.at(-1);
  if (!response) throw new AppError('ConfigurationException', 'The cassette has a model call without a response');
  return response;
}

async function runForEffect(tool: Tool, args: JsonObject, ctx: ToolContext): Promise<void> {
  if (tool.customMetadata?.['agent'] !== undefined) return; // an agent as a tool would make model calls of its own
  try {
    await tool.run?.(args, ctx);
  } catch {
    // The recorded answer counts, whatever the tool does today.
  }
}
