import { expect, it } from 'vitest';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { Agent, AgentCallbacks, Plugin } from '../../src/core/runtime.ts';
import { Conversation, summary } from '../support/fake-run.ts';

const said: Agent['run'] = async function* (ctx) {
  yield newEvent(ctx, ctx.agent.name, { content: { role: 'model', parts: [{ text: 'body' }] } });
};
const agent = (callbacks: AgentCallbacks): Agent => ({ name: 'a', callbacks, run: said });
const words = (text: string) => ({ parts: [{ text }] });

it('shows what a before-agent callback answers instead of the agent', async () => {
  const conversation = new Conversation(
    agent({
      beforeAgent: [
        () => undefined,
        ({ context }) => {
          context.state.set('asked', true);
          return words('no need');
        },
        () => words('too late'),
      ],
      afterAgent: [() => words('skipped')],
    }),
  );

  const events = await conversation.send('go');

  expect(summary(events)).toEqual(['a: no need + state {"asked":true}']);
  expect(events[0]?.content?.role).toBe('model');
  expect(conversation.session?.state).toEqual({ asked: true });
});

it('sends the state that callbacks change as events of their own', async () => {
  const conversation = new Conversation(
    agent({
      beforeAgent: [({ context: { state } }) => state.set('before', 1)],
      afterAgent: [({ context: { state } }) => state.set('after', state.get<number>('before', 0) + 1)],
    }),
  );

  expect(summary(await conversation.send('go'))).toEqual(['a: state {"before":1}', 'a: body', 'a: state {"after":2}']);
  expect(conversation.session?.events).toHaveLength(4);
});

it('adds what an after-agent callback answers', async () => {
  const events = await new Conversation(agent({ afterAgent: [() => words('more')] })).send('go');

  expect(summary(events)).toEqual(['a: body', 'a: more']);
});

it('asks plugins before the callbacks of the agent, and the first answer wins', async () => {
  const asked: string[] = [];
  const plugin = (name: string, answer?: string): Plugin => ({
    name,
    beforeAgent({ context }) {
      asked.push(`${name} ${context.agentName}`);
      return answer === undefined ? undefined : words(answer);
    },
  });
  const root = agent({ beforeAgent: [() => words('agent')] });

  const events = await new Conversation(root, { plugins: [plugin('p1'), plugin('p2', 'two'), plugin('p3')] }).send(
    'go',
  );

  expect(summary(events)).toEqual(['a: two']);
  expect(asked).toEqual(['p1 a', 'p2 a']);
});

it('names the plugin and the hook when a plugin fails', async () => {
  const cause = new Error('out of order');
  const plugin: Plugin = { name: 'p1', beforeAgent: () => Promise.reject(cause) };

  await expect(new Conversation(agent({}), { plugins: [plugin] }).send('go')).rejects.toMatchObject({
    message: 'Plugin "p1" failed in beforeAgent: out of order',
    cause,
  });
});

it('leaves out body and after-agent callbacks once a callback ends the turn', async () => {
  const root = agent({ beforeAgent: [({ context }) => context.endInvocation()], afterAgent: [() => words('more')] });

  expect(await new Conversation(root).send('go')).toEqual([]);
});

it('opens a span for the agent that names the session', async () => {
  const conversation = new Conversation(agent({}));

  await conversation.send('go');

  expect(conversation.spans).toMatchObject([
    {
      name: 'invoke_agent a',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'a',
        'gen_ai.conversation.id': conversation.session?.id,
      },
    },
  ]);
});

it('stops waiting for an agent that does not listen to the signal', async () => {
  const deaf: Agent = {
    name: 'a',
    async *run(ctx) {
      await new Promise(() => {});
      yield newEvent(ctx, 'a');
    },
  };
  const cancel = new AbortController();
  setTimeout(() => cancel.abort(new Error('cancelled')), 5);

  await expect(new Conversation(deaf).send('go', { signal: cancel.signal })).rejects.toThrow('cancelled');
});
