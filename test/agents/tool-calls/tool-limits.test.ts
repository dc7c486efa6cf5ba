import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { InMemoryArtifacts } from '../../../src/services/artifacts/in-memory.ts';
import { Conversation, summary } from '../../support/fake-run.ts';
import { call, calls, replyModel, text } from '../../support/reply-model.ts';
import { answerOf, scene, tool } from '../../support/tool-scene.ts';

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

it('gives a tool all the time it needs when there is no limit', async () => {
  const slow = tool('t', () => sleep(20, { slept: true }));

  for (const toolTimeoutMs of [0, Infinity, 3_000_000_000]) {
    expect(answerOf((await scene([slow], { toolTimeoutMs })).events)).toEqual({ slept: true });
  }
});

it('refuses an agent with a tool whose time limit is none', () => {
  for (const timeoutMs of [0, -1, Number.NaN]) {
    const broken = tool('t', () => 'ok', { timeoutMs });
    expect(() => llmAgent({ name: 'a', model: replyModel(), tools: [broken] })).toThrow('timeoutMs of tool "t"');
  }
});

it('lets a tool that was given up change nothing any more', async () => {
  const fates: unknown[] = [];
  const over = Promise.withResolvers<void>();
  const late = tool('t', async (_args, ctx) => {
    ctx.state.set('early', 1);
    await ctx.saveArtifact('early.txt', { text: 'x' });
    await sleep(30);
    const tries = [
      () => ctx.state.set('late', 1),
      () => ctx.saveArtifact('late.txt', { text: 'x' }),
      () => ctx.requestConfirmation(),
      () => ctx.requestCredential({}),
      () => ctx.endInvocation(),
      () => void (ctx.actions.escalate = true),
    ];
    for (const attempt of tries) {
      fates.push(
        await Promise.resolve()
          .then(attempt)
          .then(
            () => 'done',
            () => 'refused',
          ),
      );
    }
    over.resolve();
  });

  const { events, conversation } = await scene(
    [late],
    { toolTimeoutMs: 10 },
    {
      onToolError: ({ context }) => {
        context.state.set('mended', 1);
        return { mended: true };
      },
    },
  );
  await over.promise;

  expect(fates).toEqual(Array(6).fill('refused'));
  expect(answerOf(events)).toEqual({ mended: true });
  expect(events[1]?.actions).toMatchObject({ stateDelta: { early: 1, mended: 1 }, artifactDelta: { 'early.txt': 0 } });
  expect(events[1]?.actions.escalate).toBeUndefined();
  expect(conversation.session?.state).toEqual({ early: 1, mended: 1 });
  expect(summary(events).at(-1)).toBe('a: done');
});

it('tells of an artifact that was being saved when the tool was given up', async () => {
  const late = tool('t', (_args, ctx) => ctx.saveArtifact('late.txt', { text: 'x' }));
  const artifacts = new InMemoryArtifacts();
  const save = artifacts.saveArtifact.bind(artifacts);
  artifacts.saveArtifact = (...given) => sleep(30).then(() => save(...given));

  const agent = llmAgent({ name: 'a', model: replyModel(calls(call('t')), text('done')), tools: [late] });
  const events = await new Conversation(agent, { artifacts }).send('go', { runConfig: { toolTimeoutMs: 10 } });

  expect(answerOf(events)).toHaveProperty('error');
  expect(events[1]?.actions.artifactDelta).toEqual({ 'late.txt': 0 });
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
  const deaf = tool('t', () => {
    setImmediate(() => cancel.abort(new Error('cancelled')));
    return new Promise(() => {});
  });
  const model = replyModel(calls(call('t')));
  const conversation = new Conversation(llmAgent({ name: 'a', model, tools: [deaf] }));

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
      error: 'A value is nested deeper than 200 levels',
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
