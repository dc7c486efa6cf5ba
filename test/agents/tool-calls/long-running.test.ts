import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { loopAgent, parallelAgent, sequentialAgent } from '../../../src/agents/workflow.ts';
import type { Agent } from '../../../src/core/runtime.ts';
import type { Content } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { functionTool } from '../../../src/tools/function-tool.ts';
import { Conversation, summary } from '../../support/fake-run.ts';
import { outline } from '../../support/history.ts';
import { call, calls, replyModel, text } from '../../support/reply-model.ts';

const slow = (result: unknown) =>
  functionTool({ name: 'ask', description: 'Asks.', isLongRunning: true, run: () => result });
const resumable = { app: { resumability: { isResumable: true } } };

const reply = (event: Event | undefined, response: Record<string, unknown>): Content => {
  const { id, name = '' } = event?.content?.parts[0]?.functionCall ?? {};
  return { role: 'user', parts: [{ functionResponse: { id, name, response } }] };
};

it('stops after one model call when the answer comes later', async () => {
  const model = replyModel(calls(call('ask')), text('never'));

  const events = await new Conversation(llmAgent({ name: 'a', model, tools: [slow(undefined)] })).send('go');

  expect(summary(events)).toEqual(['a: ask({})']);
  expect(events[0]?.longRunningToolIds).toEqual([events[0]?.content?.parts[0]?.functionCall?.id]);
  expect(model.requests).toHaveLength(1);
});

it('asks the model again when there is a first answer, and pairs the later one with the call', async () => {
  const model = replyModel(calls(call('ask')), text('It is pending.'), text('Approved!'));
  const conversation = new Conversation(llmAgent({ name: 'a', model, tools: [slow({ ticket: 7 })] }));

  const first = await conversation.send('go');
  const second = await conversation.send(reply(first[0], { approved: true }));

  expect(summary(first)).toEqual(['a: ask({})', 'a: ask -> {"ticket":7}', 'a: It is pending.']);
  expect(summary(second)).toEqual(['a: Approved!']);
  const id = first[0]?.longRunningToolIds?.[0];
  expect(outline(model.requests[2]!.contents)).toEqual(['user: go', `model: ask(${id})`, `user: ask=${id}`]);
  expect(model.requests[2]?.contents[2]?.parts[0]?.functionResponse?.response).toEqual({ approved: true });
});

it('pauses a resumable app even when there is a first answer', async () => {
  const model = replyModel(calls(call('ask')), text('Approved!'));
  const conversation = new Conversation(llmAgent({ name: 'a', model, tools: [slow({ ticket: 7 })] }), resumable);

  const first = await conversation.send('go');

  expect(summary(first)).toEqual(['a: ask({})', 'a: ask -> {"ticket":7}']);
  expect(summary(await conversation.send(reply(first[0], { approved: true })))).toEqual(['a: Approved!']);
});

const waiting = (): Agent =>
  llmAgent({
    name: 'a',
    model: replyModel(calls(call('ask')), text('got it')),
    tools: [slow(undefined)],
  });
const other = (): Agent => llmAgent({ name: 'b', model: replyModel(text('b speaks')) });

it('holds a resumable sequence at the child that waits, and goes on there', async () => {
  const root = sequentialAgent({ name: 'root', subAgents: [waiting(), other()] });
  const conversation = new Conversation(root, resumable);

  const first = await conversation.send('go');
  const second = await conversation.send(reply(first[0], { ok: true }));

  expect(summary(first)).toEqual(['a: ask({})']);
  expect(summary(second)).toEqual(['a: got it', 'b: b speaks']);
});

it('lets the rest of a sequence run when the app is not resumable', async () => {
  const root = sequentialAgent({ name: 'root', subAgents: [waiting(), other()] });

  expect(summary(await new Conversation(root).send('go'))).toEqual(['a: ask({})', 'b: b speaks']);
});

it('holds a resumable loop in its first round', async () => {
  const root = loopAgent({ name: 'root', subAgents: [waiting(), other()], maxIterations: 3 });

  expect(summary(await new Conversation(root, resumable).send('go'))).toEqual(['a: ask({})']);
});

it('lets the other branches of a parallel agent finish', async () => {
  const root = parallelAgent({ name: 'root', subAgents: [waiting(), other()] });

  const events = await new Conversation(root, resumable).send('go');

  expect(summary(events).toSorted()).toEqual(['a: ask({})', 'b: b speaks']);
});

it('keeps what a later answer leaves open: state that the tool set is stored at once', async () => {
  const noting = functionTool({
    name: 'ask',
    description: 'Asks.',
    isLongRunning: true,
    run: (_args, ctx) => ctx.state.set('asked', true),
  });
  const conversation = new Conversation(
    llmAgent({ name: 'a', model: replyModel(calls(call('ask')), text('never')), tools: [noting] }),
  );

  expect(summary(await conversation.send('go'))).toEqual(['a: ask({})', 'a: state {"asked":true}']);
  expect(conversation.session?.state).toEqual({ asked: true });
});
