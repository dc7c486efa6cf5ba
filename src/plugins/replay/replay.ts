import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ModelResponse } from '../../core/model.ts';
import type { CallbackContext, Plugin, Tool } from '../../core/runtime.ts';
import { lenient } from '../../schemas/lenient.ts';
import { StreamingMode } from '../../schemas/run.ts';
import { type Recording, readCassette } from './cassette.ts';
import { Cursor } from './cursor.ts';

/** What a client puts into the session state to have its run replayed or recorded. */
export const CassetteConfig = lenient({
  dir: z.string().min(1),
  userMessageIndex: z.number().int().nonnegative(),
  streamingMode: StreamingMode.default('none'),
});
export type CassetteConfig = z.infer<typeof CassetteConfig>;

/** Session state key of the conformance clients. */
export const replayKey = '_adk_replay_config';

/** Built-in tools that run when the cassette does not hold their calls. */
const runtimeTools = new Set(['transfer_to_agent', 'set_model_response', 'exit_loop']);

/**
 * Answers model and tool calls from a recorded conversation instead of making them, for runs whose state has
 * `_adk_replay_config`; other runs do not change. Cassettes are read below `root` only. Callbacks run as usual. Tools
 * still run for their state changes, except those of remote toolsets, but the recorded response is used.
 */
export function replayPlugin({ root }: { root: string }): Plugin {
  return {
    name: 'replay',
    appliesTo: ({ session }) => session.state[replayKey] !== undefined,
    async *aroundModel({ context, next }) {
      const cursor = await cursorOf(context, root);
      if (cursor) yield* recordedResponses(context, cursor);
      else yield* next();
    },
    async beforeTool({ tool, args, context }) {
      // Taken before the agent's own callbacks can replace the call: their results were recorded, too.
      (await cursorOf(context, root))?.tool(context.agentName, tool.name, { id: context.functionCallId, args });
    },
    async aroundTool({ tool, args, context, next }) {
      const cursor = await cursorOf(context, root);
      if (!cursor) return next();
      const recording = cursor.tool(context.agentName, tool.name, { id: context.functionCallId, args });
      if (!recording) {
        if (!tool.run || runtimeTools.has(tool.name)) return next();
        throw noRecording(context, `call of tool "${tool.name}"`);
      }
      if (context.run.branch !== undefined) await cursor.waitForTurn(recording);
      const response = recording.toolRecording?.toolResponse?.response ?? {};
      if (tool.customMetadata?.['agent'] !== undefined) cursor.setToolResponse(context.signal, asText(response));
      await ignoringFailure(next);
      return isLater(tool, response) ? undefined : response;
    },
    async afterTool({ context }) {
      (await cursorOf(context, root))?.finish(context.functionCallId);
    },
    async replaceToolset({ toolset, context }) {
      if (toolset.isRemote) return [];
      try {
        return await toolset.getTools(context);
      } catch {
        return []; // its calls are answered from the cassette
      }
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

async function cursorOf(ctx: CallbackContext, root: string): Promise<Cursor | undefined> {
  const config = cassetteConfig(ctx, replayKey);
  if (!config) return undefined;
  // Stored as a promise: parallel agents call this at the same time and must share one cursor.
  const known = ctx.data.get(replayKey) as Promise<Cursor> | undefined;
  if (known) return known;
  const place = { root, dir: config.dir, streaming: config.streamingMode === 'sse' };
  const cursor = readCassette(place).then((recordings) => new Cursor(recordings, config.userMessageIndex));
  ctx.data.set(replayKey, cursor);
  return cursor;
}

async function* recordedResponses(ctx: CallbackContext, cursor: Cursor): AsyncGenerator<ModelResponse, void, void> {
  const recording = cursor.model(ctx.agentName);
  if (!recording) {
    yield unrecorded(ctx, cursor);
    return;
  }
  if (ctx.run.branch !== undefined) await cursor.waitForTurn(recording);
  try {
    yield* responsesOf(recording, ctx.run.runConfig.streamingMode === 'sse');
  } finally {
    cursor.done(recording);
  }
}

/** The responses of a recorded model call. Chunks are for streaming; if there is no complete response, it is made of them. */
function responsesOf({ llmRecording }: Recording, streaming: boolean): ModelResponse[] {
  const responses = llmRecording?.llmResponses ?? (llmRecording?.llmResponse ? [llmRecording.llmResponse] : []);
  const whole = responses.filter(({ partial }) => !partial);
  const last = responses.at(-1);
  if (whole.length > 0 || !last) return streaming ? responses : whole;
  const { partial: _, ...rest } = last;
  const parts = responses.flatMap(({ content }) => content?.parts ?? []);
  return [...(streaming ? responses : []), { ...rest, content: { role: 'model', parts } }];
}

/** ADK does not record the model calls of an agent that runs as a tool: the tool's response is its last answer. */
function unrecorded(ctx: CallbackContext, cursor: Cursor): ModelResponse {
  const text = cursor.toolResponseOf(ctx.signal);
  if (text === undefined) throw noRecording(ctx, 'model call');
  return { content: { role: 'model', parts: [{ text }] } };
}

const asText = (response: JsonObject): string =>
  typeof response['result'] === 'string' ? response['result'] : JSON.stringify(response);

function noRecording(ctx: CallbackContext, what: string): AppError {
  const { userMessageIndex } = cassetteConfig(ctx, replayKey) ?? {};
  return new AppError(
    'ConfigurationException',
    `The cassette has no further ${what} of agent "${ctx.agentName}" for user message ${userMessageIndex}`,
  );
}

/** A long-running tool without a response yet is recorded with no result, or with null as the result. */
const isLater = (tool: Tool, response: JsonObject): boolean =>
  tool.isLongRunning === true && Object.values(response).every((value) => value === null);

async function ignoringFailure(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch {
    // The recorded response is used, whatever the tool does now.
  }
}
