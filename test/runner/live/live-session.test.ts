import { expect, it, vi } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { newEvent } from '../../../src/core/events/new-event.ts';
import type { LiveInput, Model } from '../../../src/core/model.ts';
import type { Agent, Plugin } from '../../../src/core/runtime.ts';
import { LiveInbox } from '../../../src/http/live/inbox.ts';
import type { Event } from '../../../src/schemas/event.ts';
import type { SpanRecord } from '../../../src/telemetry/spans.ts';
import { lateText, summary } from '../../support/fake-run.ts';
import { replyModel, text } from '../../support/reply-model.ts';
import { open, testRunner } from '../../support/run.ts';

const say = (words: string): LiveInput => ({ kind: 'content', content: { role: 'user', parts: [{ text: words }] } });

function inputOf(...inputs: readonly LiveInput[]): LiveInbox {
  const inbox = new LiveInbox(() => {});
  for (const input of inputs) inbox.push(input);
  inbox.end();
  return inbox;
}

/** A model that says back, over a connection, what it hears. */
const parrot = (): Model => ({
  name: 'parrot',
  async *generate() {
    yield text('unheard');
  },
  async *connect(_request, input) {
    for await (const heard of input) {
      if (heard.kind === 'content') yield { ...text(heard.content.parts[0]?.text ?? ''), turnComplete: true };
      if (heard.kind === 'blob') {
        yield { content: { role: 'model', parts: [{ inlineData: heard.blob }] }, partial: true };
      }
    }
  },
});

it('asks plugins before, during and after a conversation, and what they change is stored and shown', async () => {
  const asked: string[] = [];
  const plugin: Plugin = {
    name: 'p',
    beforeRun: () => void asked.push('beforeRun'),
    onUserMessage: ({ userMessage }) => ({ ...userMessage, parts: [{ text: `${userMessage.parts[0]?.text}!` }] }),
    onEvent: ({ event }) =>
      event.content ? { ...event, content: { ...event.content, parts: [{ text: 'changed' }] } } : undefined,
    afterRun: () => void asked.push('afterRun'),
  };
  const model = replyModel((request) => text(request.contents.at(-1)?.parts[0]?.text ?? ''));
  const { runner, key, services } = await testRunner(llmAgent({ name: 'a', model }), { plugins: [plugin] });

  const events = await Array.fromAsync(await runner.startLive(key, inputOf(say('hi')), open));

  expect(asked).toEqual(['beforeRun', 'afterRun']);
  expect(summary(events)).toEqual(['a: changed', 'a: ']);
  expect(summary((await services.sessions.getSession(key))?.events ?? [])).toEqual(['user: hi!', 'a: changed']);
});

it('lets a plugin answer in the place of the agents', async () => {
  const plugin: Plugin = { name: 'p', beforeRun: () => ({ role: 'model', parts: [{ text: 'closed today' }] }) };
  const { runner, key } = await testRunner(llmAgent({ name: 'a', model: parrot() }), { plugins: [plugin] });

  const events = await Array.fromAsync(await runner.startLive(key, inputOf(say('hi')), open));

  expect(summary(events)).toEqual(['model: closed today']);
});

it('talks through any model with a connection, and stores what is said but not what sounds', async () => {
  const { runner, key, services } = await testRunner(llmAgent({ name: 'a', model: parrot(), outputKey: 'said' }));
  const sound: LiveInput = { kind: 'blob', blob: { mimeType: 'audio/pcm', data: 'AAAA' } };

  const run = await runner.startLive(key, inputOf(sound, say('hi'), { kind: 'activityStart' }), open);
  const events = await Array.fromAsync(run);

  expect(summary(events)).toEqual(['a: inlineData + partial', 'a: hi + state {"said":"hi"}']);
  const session = await services.sessions.getSession(key);
  expect(summary(session?.events ?? [])).toEqual(['user: hi', 'a: hi + state {"said":"hi"}']);
  expect(session?.state).toEqual({ said: 'hi' });
});

it('leaves a span for each answer, and the whole request in it', async () => {
  const spans: SpanRecord[] = [];
  const traces = { ended: (span: SpanRecord) => void spans.push(span) };
  const { runner, key } = await testRunner(llmAgent({ name: 'a', model: parrot(), instruction: 'Talk.' }), { traces });

  const events = await Array.fromAsync(await runner.startLive(key, inputOf(say('one'), say('two')), open));

  const calls = spans.filter(({ name }) => name === 'call_llm');
  expect(calls.map(({ attributes }) => attributes['gcp.vertex.agent.event_id'])).toEqual(events.map(({ id }) => id));
  const asked = lateText(calls[0], 'gcp.vertex.agent.llm_request');
  expect(asked).toContain('Talk.');
  expect(spans.map(({ name }) => name)).toContain('invocation');
});

it('yields and does not store sound that an agent of one’s own does not call partial', async () => {
  const speaker: Agent = {
    name: 'speaker',
    async *run() {},
    async *runLive(ctx): AsyncIterable<Event> {
      const inlineData = { mimeType: 'audio/wav', data: 'AAAA' };
      yield newEvent(ctx, 'speaker', { content: { role: 'model', parts: [{ inlineData }] } });
      yield newEvent(ctx, 'speaker', { content: { role: 'model', parts: [{ text: 'said' }] } });
    },
  };
  const { runner, key, services } = await testRunner(speaker);

  const events = await Array.fromAsync(await runner.startLive(key, inputOf(), open));

  expect(summary(events)).toEqual(['speaker: inlineData', 'speaker: said']);
  expect(summary((await services.sessions.getSession(key))?.events ?? [])).toEqual(['speaker: said']);
});

it.each([
  ['a custom agent', { name: 'root', async *run() {} } satisfies Agent],
  ['a loop', { name: 'root', kind: 'loop', async *run() {} } satisfies Agent],
])('refuses %s that has no live side', async (_name, agent) => {
  const { runner, key } = await testRunner(agent);

  const run = await runner.startLive(key, inputOf(say('hi')), open);

  await expect(Array.fromAsync(run)).rejects.toMatchObject({ code: 'not_supported' });
});

it.each([
  ['waits for its client', []],
  ['works', [say('hi')]],
])('ends when it is cancelled while an agent %s, and lets the next run in', async (_name, inputs) => {
  const leaving = new AbortController();
  const inbox = new LiveInbox(() => {});
  for (const input of inputs) inbox.push(input);
  const busy = Promise.withResolvers<void>();
  const model: Model = {
    name: 'busy',
    async *generate(_request, signal) {
      busy.resolve();
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      yield text('never');
    },
  };
  const { runner, key } = await testRunner(llmAgent({ name: 'a', model }));
  const all = Array.fromAsync(await runner.startLive(key, inbox, leaving.signal));
  if (inputs.length > 0) await busy.promise;
  else await vi.waitUntil(() => inbox.isAwaited);

  leaving.abort(new Error('left'));

  await expect(all).rejects.toThrow('left');
  const next = await runner.startLive(key, inputOf(), open);
  expect(await Array.fromAsync(next)).toEqual([]);
});

it('throws before the first event what is the caller’s fault', async () => {
  const { runner, key } = await testRunner(llmAgent({ name: 'a', model: parrot() }));

  await expect(runner.startLive({ ...key, sessionId: 'nope' }, inputOf(), open)).rejects.toMatchObject({
    code: 'session_not_found',
  });
});
