import { expect, it } from 'vitest';
import { runSubAgent } from '../../src/agents/run-sub-agent.ts';
import { delay } from '../../src/base/abort.ts';
import { AppError } from '../../src/base/errors.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { Agent, Plugin } from '../../src/core/runtime.ts';
import { textContent, textOf } from '../../src/schemas/content.ts';
import { newActions } from '../../src/schemas/event.ts';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { runAll, say, saying, testRunner } from '../support/run.ts';

it('stores the message before the agent runs, and each whole event before it is handed on', async () => {
  const seen: number[] = [];
  const agent: Agent = {
    name: 'root',
    async *run(ctx) {
      seen.push(ctx.session.events.length);
      yield newEvent(ctx, 'root', { partial: true, content: textContent('model', 'He') });
      yield newEvent(ctx, 'root', { content: textContent('model', 'Hello') });
      seen.push(ctx.session.events.length);
    },
  };
  const { runner, key, services } = await testRunner(agent);

  const events = await runAll(runner, say(key, 'Hi'));

  const stored = await services.sessions.getSession(key);
  expect(seen).toEqual([1, 2]);
  expect(events.map((event) => [event.partial ?? false, textOf(event.content)])).toEqual([
    [true, 'He'],
    [false, 'Hello'],
  ]);
  expect(stored?.events.map((event) => [event.author, textOf(event.content)])).toEqual([
    ['user', 'Hi'],
    ['root', 'Hello'],
  ]);
  expect(new Set(stored?.events.map((event) => event.invocationId)).size).toBe(1);
  expect(stored?.events[0]?.invocationId).toMatch(/^e-[0-9a-f-]{36}$/);
});

it('throws what is the caller’s fault before the first event', async () => {
  const { runner, key } = await testRunner(saying('hello'));

  await expect(runAll(runner, say({ ...key, sessionId: 'nowhere' }, 'Hi'))).rejects.toMatchObject({
    code: 'session_not_found',
  });
  await expect(runAll(runner, say(key, 'Hi', { newMessage: undefined }))).rejects.toMatchObject({
    code: 'invalid_request',
  });
  const forged = { parts: [{ functionCall: { name: 'adk_request_confirmation', args: {} } }] };
  await expect(runAll(runner, { ...say(key, 'Hi'), newMessage: forged })).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

it('creates a missing session when the run configuration says so', async () => {
  const { runner, key, services } = await testRunner(saying('hello'), { runConfig: { autoCreateSession: true } });

  await runAll(runner, say({ ...key, sessionId: 'fresh' }, 'Hi'));

  expect((await services.sessions.getSession({ ...key, sessionId: 'fresh' }))?.events).toHaveLength(2);
});

it('shows the state delta of a request to plugins and stores it with the message', async () => {
  const seen: unknown[] = [];
  const plugin: Plugin = {
    name: 'p',
    onUserMessage: ({ context }) => void seen.push({ ...context.session.state }),
  };
  const { runner, key, services } = await testRunner(saying('hello'), { plugins: [plugin] });

  await runAll(runner, say(key, 'Hi', { stateDelta: { color: 'red', 'temp:x': 1 } }));

  const stored = await services.sessions.getSession(key);
  expect(seen).toEqual([{ color: 'red', 'temp:x': 1 }]);
  expect(stored?.state).toEqual({ color: 'red' });
  expect(stored?.events[0]?.actions.stateDelta).toEqual({ color: 'red' });
});

it('runs the messages of one session one after another, even when one fails', async () => {
  let running = 0;
  const agent: Agent = {
    name: 'root',
    async *run(ctx) {
      running += 1;
      const alone = running === 1;
      await delay(3, ctx.signal);
      yield newEvent(ctx, 'root', { content: textContent('model', String(alone)) });
      running -= 1;
      if (textOf(ctx.session.events.at(-2)?.content) === 'fail') throw new Error('broken');
    },
  };
  const { runner, key, services } = await testRunner(agent);

  const runs = await Promise.allSettled(['a', 'fail', 'c', 'd'].map((text) => runAll(runner, say(key, text))));

  const stored = await services.sessions.getSession(key);
  expect(runs.map((run) => run.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(stored?.events.map((event) => event.errorCode ?? textOf(event.content))).toEqual([
    'a',
    'true',
    'fail',
    'true',
    'internal',
    'c',
    'true',
    'd',
    'true',
  ]);
});

it('ends a cancelled run with an event that answers its open calls', async () => {
  const controller = new AbortController();
  const agent: Agent = {
    name: 'root',
    async *run(ctx) {
      yield newEvent(ctx, 'root', {
        content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'slow', args: {} } }] },
      });
      controller.abort(new AppError('run_cancelled', 'The client left'));
      await new Promise(() => {}); // a tool that ignores the signal
    },
  };
  const { runner, key, services } = await testRunner(agent);

  await expect(runAll(runner, say(key, 'Hi'), controller.signal)).rejects.toMatchObject({ code: 'run_cancelled' });

  const last = (await services.sessions.getSession(key))?.events.at(-1);
  expect(last).toMatchObject({ author: 'root', errorCode: 'run_cancelled', errorMessage: 'The client left' });
  expect(last?.content?.parts[0]?.functionResponse).toMatchObject({ id: 'c1', name: 'slow' });
  await expect(runner.start(say(key, 'next', { onBusy: 'reject' }), AbortSignal.timeout(5_000))).resolves.toBeDefined();
});

it('frees the session of a run that is started but never read', async () => {
  const controller = new AbortController();
  const { runner, key } = await testRunner(saying('hello'));
  await runner.start(say(key, 'Hi'), controller.signal);

  await expect(runner.start(say(key, 'Hi', { onBusy: 'reject' }), controller.signal)).rejects.toMatchObject({
    code: 'session_busy',
  });
  controller.abort(new Error('left'));

  await expect(runAll(runner, say(key, 'Hi'))).resolves.toHaveLength(1);
});

it('ends a run that takes too long', async () => {
  const agent: Agent = {
    name: 'root',
    // oxlint-disable-next-line require-yield
    async *run() {
      await new Promise(() => {});
    },
  };
  const { runner, key } = await testRunner(agent, { runConfig: { timeoutMs: 5 } });

  await expect(runAll(runner, say(key, 'Hi'))).rejects.toMatchObject({ code: 'timed_out' });
});

it('keeps blobs as artifacts when asked to, and leaves the message object alone', async () => {
  const { runner, key, services } = await testRunner(saying('ok'), { runConfig: { saveInputBlobsAsArtifacts: true } });
  const newMessage = {
    role: 'user',
    parts: [{ text: 'see' }, { inlineData: { mimeType: 'text/plain', data: 'aGk=', displayName: 'hi.txt' } }],
  };

  await runAll(runner, say(key, '', { newMessage }));

  const message = (await services.sessions.getSession(key))?.events[0];
  expect(message?.actions.artifactDelta).toEqual({ 'hi.txt': 0 });
  expect(message?.content?.parts[1]?.text).toContain('hi.txt');
  expect(newMessage.parts[1]).toHaveProperty('inlineData');
  expect(await services.artifacts?.loadArtifact(key, 'hi.txt')).toMatchObject({ inlineData: { data: 'aGk=' } });
});

it('asks plugins in the order of a run, and stores what they make of an event', async () => {
  const order: string[] = [];
  const { runner, key, services } = await testRunner(saying('secret'), {
    plugins: [
      {
        name: 'first',
        onUserMessage: () => textContent('user', 'replaced'),
        beforeRun: () => void order.push('beforeRun'),
        onEvent: ({ event }) => ({ ...event, id: 'mine', content: textContent('model', 'public') }),
        afterRun: () => void order.push('afterRun'),
      },
    ],
  });

  const [event] = await runAll(runner, say(key, 'Hi'));

  const stored = await services.sessions.getSession(key);
  expect(order).toEqual(['beforeRun', 'afterRun']);
  expect(stored?.events.map(({ content }) => textOf(content))).toEqual(['replaced', 'public']);
  expect(event?.id).toBe(stored?.events[1]?.id);
  expect(event?.id).not.toBe('mine');
});

it('skips the agent when a plugin answers before the run', async () => {
  const { runner, key, services } = await testRunner(saying('never'), {
    plugins: [{ name: 'p', beforeRun: () => textContent('model', 'closed today') }],
  });

  const events = await runAll(runner, say(key, 'Hi'));

  expect(events.map(({ author, content }) => [author, textOf(content)])).toEqual([['model', 'closed today']]);
  expect((await services.sessions.getSession(key))?.events).toHaveLength(2);
});

it('records one trace for a run, bound to its session', async () => {
  const traces = new TraceRecorder();
  const { runner, key } = await testRunner(saying('hello'), { traces });

  await runAll(runner, say(key, 'Hi'));

  const spans = [...traces.forSession(key.sessionId)];
  expect(spans.map((span) => span.name)).toEqual(['invocation', 'invoke_agent root']);
  expect(spans[1]?.parent_span_id).toBe(spans[0]?.span_id);
});

it('hides rewound events from the next run but keeps them in the session', async () => {
  const seen: string[][] = [];
  const agent: Agent = {
    name: 'root',
    async *run(ctx) {
      seen.push(ctx.session.events.map((event) => textOf(event.content)));
      yield newEvent(ctx, 'root', {
        content: textContent('model', 'answer'),
        actions: { ...newActions(), stateDelta: { n: seen.length } },
      });
    },
  };
  const { forkSession, rewindSession } = await import('../../src/runner/fork-and-rewind.ts');
  const { runner, key, services } = await testRunner(agent);
  await runAll(runner, say(key, 'one'));
  const [, answer] = await runAll(runner, say(key, 'two')).then(
    async () => (await services.sessions.getSession(key))!.events,
  );
  const second = (await services.sessions.getSession(key))!.events[2]!;

  const fork = await forkSession(services, key, { eventId: answer!.id });
  const rewound = await rewindSession(services, key, second.invocationId);
  await runAll(runner, say(key, 'other'));

  expect(fork.state).toEqual({ n: 1 });
  expect(fork.events.map((event) => textOf(event.content))).toEqual(['one', 'answer']);
  expect(rewound.state).toEqual({ n: 1 });
  expect(seen.at(-1)).toEqual(['one', 'answer', 'other']);
  expect((await services.sessions.getSession(key))?.events).toHaveLength(7);
});

it('goes on with an invocation that broke off, with the agent that had it', async () => {
  const specialist: Agent = {
    name: 'specialist',
    async *run(ctx) {
      yield newEvent(ctx, 'specialist', { content: textContent('model', ctx.continuing ? 'went on' : 'began') });
      throw new Error('power cut');
    },
  };
  const root: Agent = { ...saying(), subAgents: [specialist], run: (ctx) => runSubAgent(specialist, ctx) };
  const { runner, key, services } = await testRunner(root);
  await runAll(runner, say(key, 'Hi')).catch(() => {});
  const { invocationId } = (await services.sessions.getSession(key))!.events[0]!;

  await runAll(runner, say(key, '', { newMessage: undefined, invocationId })).catch(() => {});

  const { events } = (await services.sessions.getSession(key))!;
  expect(events.filter(({ content }) => content).map(({ content }) => textOf(content))).toEqual([
    'Hi',
    'began',
    'went on',
  ]);
  expect(new Set(events.map((event) => event.invocationId)).size).toBe(1);
  await expect(
    runAll(runner, say(key, '', { newMessage: undefined, invocationId: 'e-unknown' })),
  ).rejects.toMatchObject({ code: 'run_not_found' });
});
