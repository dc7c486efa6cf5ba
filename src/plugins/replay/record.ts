import type { JsonObject } from '../../base/json.ts';
import type { CallbackContext, Plugin } from '../../core/runtime.ts';
import { type Recording, readCassette, writeCassette } from './cassette.ts';
import { cassetteConfig } from './replay.ts';

/** Session state key of the conformance clients. */
export const recordKey = '_adk_recordings_config';

interface CassetteDraft {
  readonly recordings: Recording[];
  readonly open: Map<string, Recording>;
}

/**
 * Records every model and tool call of a run whose state has `_adk_recordings_config` in a cassette below `root`, for
 * the replay plugin. The recordings of a message replace earlier ones of the same message.
 */
export function recordPlugin({ root }: { root: string }): Plugin {
  return {
    name: 'record',
    appliesTo: ({ session }) => session.state[recordKey] !== undefined,
    beforeModel({ request, context }) {
      const config = cassetteConfig(context, recordKey);
      if (!config) return;
      const { model, contents, config: settings } = request;
      const recording: Recording = {
        userMessageIndex: config.userMessageIndex,
        agentName: context.agentName,
        llmRecording: {
          llmRequest: structuredClone({ model, contents, config: settings }),
          llmResponses: [],
        },
      };
      const draft = draftOf(context);
      draft.recordings.push(recording);
      draft.open.set(context.agentName, recording);
    },
    afterModel({ response, context }) {
      if (cassetteConfig(context, recordKey)) {
        draftOf(context).open.get(context.agentName)?.llmRecording?.llmResponses?.push(structuredClone(response));
      }
    },
    beforeTool({ tool, args, context }) {
      const config = cassetteConfig(context, recordKey);
      if (!config) return;
      const recording: Recording = {
        userMessageIndex: config.userMessageIndex,
        agentName: context.agentName,
        toolRecording: { toolCall: { id: context.functionCallId, name: tool.name, args: structuredClone(args) } },
      };
      const draft = draftOf(context);
      draft.recordings.push(recording);
      draft.open.set(context.functionCallId, recording);
    },
    afterTool({ tool, context, result }) {
      const recording =
        cassetteConfig(context, recordKey) && draftOf(context).open.get(context.functionCallId)?.toolRecording;
      if (recording)
        recording.toolResponse = { id: context.functionCallId, name: tool.name, response: structuredClone(result) };
    },
    async afterRun({ context }) {
      const draft = context.data.get(recordKey) as CassetteDraft | undefined;
      const value = context.session.state[recordKey];
      if (!draft || typeof value !== 'object' || value === null) return;
      const { dir, streaming, index } = placeOf(value as JsonObject);
      const place = { root, dir, streaming };
      const earlier = await readCassette(place).catch(() => []);
      const kept = earlier.filter((recording) => recording.userMessageIndex !== index);
      const all = [...kept, ...draft.recordings].toSorted((a, b) => a.userMessageIndex - b.userMessageIndex);
      await writeCassette(place, all);
    },
  };
}

function draftOf(ctx: CallbackContext): CassetteDraft {
  const known = ctx.data.get(recordKey) as CassetteDraft | undefined;
  if (known) return known;
  const draft: CassetteDraft = { recordings: [], open: new Map() };
  ctx.data.set(recordKey, draft);
  return draft;
}

function placeOf(value: JsonObject): { dir: string; streaming: boolean; index: number } {
  return {
    dir: String(value['dir']),
    streaming: (value['streamingMode'] ?? value['streaming_mode']) === 'sse',
    index: Number(value['userMessageIndex'] ?? value['user_message_index']),
  };
}
