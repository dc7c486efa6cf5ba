import type { Model } from '../core/model.ts';
import type { EventsSummarizer } from '../core/services.ts';
import { textContent, textOf } from '../schemas/content.ts';
import { type Event, functionCalls, functionResponses } from '../schemas/event.ts';

export interface LlmSummarizerOptions {
  /** Text of the request; `{conversation_history}` is replaced by the history. */
  readonly prompt?: string;
}

const placeholder = '{conversation_history}';
const defaultPrompt = `Below is a conversation between a user and one or more agents, oldest message first.
Write a short account of it that lets somebody go on with the conversation without having read it: keep the facts, names, numbers and decisions, what the user wants, and the questions that are still open. Leave out greetings and repetitions. Answer with the account alone.

${placeholder}`;

/** Summarises history with one model call: no tools, no system instruction, no streaming. */
export function llmSummarizer(model: Model, { prompt = defaultPrompt }: LlmSummarizerOptions = {}): EventsSummarizer {
  return {
    async summarize(events, signal) {
      const history = events.flatMap(linesOf).join('\n');
      if (history === '') return undefined;
      const request = {
        model: model.name,
        contents: [
          textContent(
            'user',
            prompt.replace(placeholder, () => history),
          ),
        ],
        config: {},
        stream: false,
      };
      let summary = '';
      for await (const response of model.generate(request, signal)) {
        if (!response.partial) summary = textOf(response.content);
      }
      return summary.trim() === '' ? undefined : textContent('model', summary);
    },
  };
}

/** One line for the text, one for each call and each response. Media are left out. */
function linesOf(event: Event): string[] {
  const text = textOf(event.content);
  const compacted = textOf(event.actions.compaction?.compactedContent);
  return [
    ...(compacted === '' ? [] : [`summary so far: ${compacted}`]),
    ...(text === '' ? [] : [`${event.author}: ${text}`]),
    ...functionCalls(event).map(
      ({ name, args }) => `${event.author} called ${name} with ${JSON.stringify(args ?? {})}`,
    ),
    ...functionResponses(event).map(({ name, response }) => `${name} answered ${JSON.stringify(response)}`),
  ];
}
