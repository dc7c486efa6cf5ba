import type { LlmAgentSpec } from '../../src/agents/definition/llm-spec.ts';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { Tool } from '../../src/core/runtime.ts';
import type { Event } from '../../src/schemas/event.ts';
import type { RunConfig } from '../../src/schemas/run.ts';
import { Conversation } from './fake-run.ts';
import { call, calls, type ReplyModel, replyModel, text } from './reply-model.ts';

/** A tool without parameters. */
export const tool = (name: string, run: NonNullable<Tool['run']>, more: Partial<Tool> = {}): Tool => ({
  kind: 'tool',
  name,
  description: `Does ${name}.`,
  declaration: { name, description: `Does ${name}.` },
  run,
  ...more,
});

export interface Scene {
  readonly events: Event[];
  readonly model: ReplyModel;
  readonly conversation: Conversation;
}

/** One turn in which the model calls each tool once (or makes the given calls), then says "done". */
export async function scene(
  tools: readonly Tool[],
  runConfig: RunConfig = {},
  {
    made = tools.map(({ name }) => call(name)),
    ...spec
  }: Partial<LlmAgentSpec> & { made?: ReturnType<typeof call>[] } = {},
): Promise<Scene> {
  const model = replyModel(calls(...made), text('done'));
  const conversation = new Conversation(llmAgent({ name: 'a', model, tools, ...spec }));
  return { events: await conversation.send('go', { runConfig }), model, conversation };
}

/** The response to a call of the first answer. */
export const answerOf = (events: readonly Event[], at = 0): unknown =>
  events[1]?.content?.parts[at]?.functionResponse?.response;
