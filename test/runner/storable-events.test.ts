import { expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { Agent, RunContext, ToolContext } from '../../src/core/runtime.ts';
import { type Event, eventJson, newActions } from '../../src/schemas/event.ts';
import type { SessionKey } from '../../src/schemas/session.ts';
import type { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { calls, call, replyModel, text } from '../support/reply-model.ts';
import { runAll, say, testRunner } from '../support/run.ts';

const circle: Record<string, unknown> = {};
circle['self'] = circle;
const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
};
const faults: readonly (readonly [string, unknown])[] = [
  ['a bigint', 1n],
  ['a circle', circle],
  ['5,000 levels', deep(5_000)],
  ['a function', () => 1],
];

/** The stored events, each as JSON: what every reader of the session needs. */
async function storedBy(sessions: Pick<InMemorySessions, 'getSession'>, key: SessionKey): Promise<Event[]> {
  const session = await sessions.getSession(key);
  return (session?.events ?? []).map((event) => JSON.parse(eventJson(event)) as Event);
}

it.each(faults)(
  'fails, and keeps the session readable, when an agent yields an event with %s',
  async (_what, value) => {
    const agent: Agent = {
      name: 'odd',
      async *run(ctx: RunContext) {
        yield newEvent(ctx, 'odd', { actions: { ...newActions(), stateDelta: { value } } });
      },
    };
    const { runner, key, services } = await testRunner(agent);

    await expect(runAll(runner, say(key, 'go'))).rejects.toMatchObject({ code: 'agent_failed' });

    const events = await storedBy(services.sessions, key);
    expect(events.map(({ author, errorCode }) => [author, errorCode])).toEqual([
      ['user', undefined],
      ['odd', 'agent_failed'],
    ]);
    expect((await services.sessions.getSession(key))?.state).toEqual({});
  },
);

it.each(faults)('fails, and answers the call, when a tool writes %s past the state', async (_what, value) => {
  const tool = functionTool({
    name: 'spoil',
    description: '',
    run: (_args: object, ctx: ToolContext) => {
      ctx.actions.stateDelta['value'] = value;
      return 'ok';
    },
  });
  const agent = llmAgent({ name: 'a', model: replyModel(calls(call('spoil', {}, 'c1'))), tools: [tool] });
  const { runner, key, services } = await testRunner(agent);

  await expect(runAll(runner, say(key, 'go'))).rejects.toMatchObject({ code: 'agent_failed' });

  const events = await storedBy(services.sessions, key);
  expect(events.at(-1)).toMatchObject({
    errorCode: 'agent_failed',
    content: { parts: [{ functionResponse: { id: 'c1', name: 'spoil' } }] },
  });
});

it('tells the model that a value it set in the state is nested too deeply', async () => {
  const tool = functionTool({
    name: 'set',
    description: '',
    run: (_args: object, ctx: ToolContext) => ctx.state.set('value', deep(5_000)),
  });
  const agent = llmAgent({ name: 'a', model: replyModel(calls(call('set')), text('sorry')), tools: [tool] });
  const { runner, key } = await testRunner(agent);

  const events = await runAll(runner, say(key, 'go'));

  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toMatchObject({
    error: expect.stringContaining('nested deeper than 200'),
  });
});
