import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { Conversation, summary } from '../support/fake-run.ts';
import { call, calls, replyModel } from '../support/reply-model.ts';
import { answerOf, scene, tool } from '../support/tool-scene.ts';

it('gives up a tool that takes too long, tells it to stop, and goes on', async () => {
  let reason: unknown;
  const endless = tool('t', (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => (reason = ctx.signal.reason));
    return new Promise(() => {});
  });

  const { events } = await scene([endless], { toolTimeoutMs: 10 });

  expect(answerOf(events)).toEqual({ error: 'The tool "t" did not answer within 0.01 s' });
  expect(reason).toMatchObject({ code: 'timed_out' });
  expect(summary(events).at(-1)).toBe('a: done');
});

it('prefers the time limit of the tool to that of the run', async () => {
  const { events } = await scene([tool('t', () => new Promise(() => {}), { timeoutMs: 5 })], { toolTimeoutMs: 60_000 });

  expect(answerOf(events)).toEqual({ error: 'The tool "t" did not answer within 0.005 s' });
});

it('swallows what a tool rejects with after it was given up', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const late = tool('t', () => sleep(20).then(() => Promise.reject(new Error('too late'))));

  await scene([late], { toolTimeoutMs: 5 });
  await sleep(40);

  expect(unhandled).toEqual([]);
});

it('ends at once when the run is cancelled, whatever its tools do', async () => {
  const cancel = new AbortController();
  const deaf = tool('t', () => new Promise(() => {}));
  const model = replyModel(calls(call('t')));
  const conversation = new Conversation(llmAgent({ name: 'a', model, tools: [deaf] }));
  setTimeout(() => cancel.abort(new Error('cancelled')), 5);

  await expect(conversation.send('go', { signal: cancel.signal })).rejects.toThrow('cancelled');

  expect(summary(conversation.session!.events)).toEqual(['user: go', 'a: t({})']);
});

it('leaves no timer behind', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();

  await scene([tool('t', () => sleep(1))]);

  expect(timers()).toBeLessThanOrEqual(before);
});

it('cuts an answer of 5 MB and says so', async () => {
  const { events, model } = await scene([tool('t', () => ({ rows: 'x'.repeat(5_000_000) }))]);

  const answer = answerOf(events) as { result: string; truncated: string };
  expect(answer.result).toHaveLength(1024 * 1024);
  expect(answer.truncated).toContain('5000011 characters');
  expect(model.requests).toHaveLength(2);
});

it('answers that a result is nested too deeply instead of choking on it', async () => {
  const nested = (depth: number): unknown => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level += 1) value = { value };
    return value;
  };

  expect(answerOf((await scene([tool('t', () => nested(150))])).events)).toEqual(nested(150));
  for (const depth of [500, 100_000]) {
    expect(answerOf((await scene([tool('t', () => nested(depth))])).events)).toEqual({
      error: 'The answer is nested too deeply',
    });
  }
});

it('lets a tool that was given up change nothing any more', async () => {
  let failure: unknown;
  const late = tool('t', async (_args, ctx) => {
    await sleep(15);
    try {
      ctx.state.set('late', true);
    } catch (error) {
      failure = error;
    }
  });

  const { conversation } = await scene([late, tool('other', () => 1)], { toolTimeoutMs: 5 });
  await sleep(30);

  expect(failure).toBeInstanceOf(TypeError);
  expect(conversation.session?.state).toEqual({});
});
