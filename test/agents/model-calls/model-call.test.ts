import { expect, it } from 'vitest';
import type { LlmAgentSpec } from '../../../src/agents/definition/llm-spec.ts';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { type Model, ModelError, type ModelResponse } from '../../../src/core/model.ts';
import type { AfterModelParams, Plugin } from '../../../src/core/runtime.ts';
import type { RunConfig } from '../../../src/schemas/run.ts';
import { functionTool } from '../../../src/tools/function-tool.ts';
import { Conversation, lateText, summary } from '../../support/fake-run.ts';
import { call, calls, failingModel, partial, replyModel, text } from '../../support/reply-model.ts';

const tick = functionTool({ name: 'tick', description: 'Ticks.', run: () => ({ ok: true }) });
const conversationWith = (spec: Partial<LlmAgentSpec>, plugins: readonly Plugin[] = []): Conversation =>
  new Conversation(llmAgent({ name: 'a', ...spec }), { plugins });
const turn = async (spec: Partial<LlmAgentSpec>, runConfig: RunConfig = {}): Promise<string[]> =>
  summary(await conversationWith(spec).send('go', { runConfig }));

it('ends quietly after as many steps as the agent may take', async () => {
  const model = replyModel(...Array.from({ length: 9 }, () => calls(call('tick'))));

  expect(await turn({ model, tools: [tick], maxSteps: 2 })).toHaveLength(4);
  expect(model.requests).toHaveLength(2);
});

it.each([0, -1, 1.5])('refuses maxSteps %d', (maxSteps) => {
  expect(() => llmAgent({ name: 'a', maxSteps })).toThrow('maxSteps of "a"');
});

it('throws before the model call that is one too many for the run', async () => {
  const model = replyModel(...Array.from({ length: 9 }, () => calls(call('tick'))));

  await expect(turn({ model, tools: [tick] }, { maxLlmCalls: 3 })).rejects.toMatchObject({
    code: 'LlmCallsLimitExceededException',
  });
  expect(model.requests).toHaveLength(3);
});

it('knows no limit of model calls when it is 0, and 500 when none is given', async () => {
  const model = replyModel(...Array.from({ length: 600 }, () => calls(call('tick'))));

  expect(await turn({ model, tools: [tick] }, { maxLlmCalls: 0 })).toHaveLength(1_201);
  await expect(
    turn({ model: replyModel(...Array.from({ length: 600 }, () => calls(call('tick')))), tools: [tick] }),
  ).rejects.toThrow('500 model calls');
});

it('leaves an error event behind, without secrets, and fails as the model did', async () => {
  const error = new ModelError('RATE_LIMITED', 'quota of key AIzaSyA1234567890 used up', {
    providerCode: 'RESOURCE_EXHAUSTED',
  });
  const conversation = conversationWith({ model: failingModel(error) });
  const shown: string[] = [];

  await expect(
    (async () => {
      for await (const event of conversation.stream('go')) shown.push(`${event.errorCode}: ${event.errorMessage}`);
    })(),
  ).rejects.toBe(error);

  expect(shown).toEqual(['RESOURCE_EXHAUSTED: quota of key [redacted] used up']);
  expect(conversation.session?.events.at(-1)?.errorCode).toBe('RESOURCE_EXHAUSTED');
  expect(conversation.spans.find(({ name }) => name === 'call_llm')?.attributes).toMatchObject({
    'error.type': 'AppError',
    'gcp.vertex.agent.event_id': conversation.session?.events.at(-1)?.id,
  });
});

it.each([
  ['an empty name', { name: '' }],
  ['no name', { args: {} }],
  ['null', { name: null }],
  ['a number', { name: 7 }],
  ['a text', 'tick'],
])('fails once, with an event, when the model calls a function without naming it (%s)', async (_what, functionCall) => {
  const model = replyModel(...Array.from({ length: 9 }, () => calls({ functionCall } as never)));
  const conversation = conversationWith({ model, tools: [tick] });

  await expect(conversation.send('go')).rejects.toMatchObject({ code: 'GenAiFieldMissingException' });

  const last = conversation.session?.events.at(-1);
  expect([last?.errorCode, last?.content]).toEqual(['GenAiFieldMissingException', undefined]);
  expect(model.requests).toHaveLength(1);
});

it('takes a failure for an answer when the run says so', async () => {
  const conversation = conversationWith({ model: failingModel(new ModelError('RATE_LIMITED', 'later')) });

  const events = await conversation.send('go', { runConfig: { onModelFailure: 'end' } });

  expect(events.map(({ errorCode, errorMessage }) => [errorCode, errorMessage])).toEqual([['RATE_LIMITED', 'later']]);
});

it.each<[unknown, string, string]>([
  [new ModelError('AUTH_ERROR', 'no'), 'AUTH_ERROR', 'model_failed'],
  [new TypeError('fetch failed'), 'UNKNOWN_ERROR', 'model_failed'],
  ['just text', 'UNKNOWN_ERROR', 'model_failed'],
])('reports %s as %s', async (error, errorCode, code) => {
  const conversation = conversationWith({ model: failingModel(error) });

  await expect(conversation.send('go')).rejects.toMatchObject({ code });

  expect(conversation.session?.events.at(-1)?.errorCode).toBe(errorCode);
});

it('shows what the provider reports as an error, and ends', async () => {
  expect(await turn({ model: replyModel({ errorCode: 'SAFETY', errorMessage: 'blocked' }) })).toEqual([
    'a: error SAFETY',
  ]);
});

it('makes an event of grounding and transcriptions alone', async () => {
  expect(await turn({ model: replyModel({ groundingMetadata: { webSearchQueries: ['x'] } }) })).toEqual(['a: ']);
  expect(await turn({ model: replyModel({ outputTranscription: { text: 'x' } }) })).toEqual(['a: ']);
});

it('uses what a before-model callback answers, runs its calls, and does not count or review it', async () => {
  const model = replyModel(text('never'));
  let asked = 0;
  const reviewed: unknown[] = [];

  const events = await turn(
    {
      model,
      tools: [tick],
      beforeModel: () => ((asked += 1) === 1 ? calls(call('tick')) : text('cached')),
      afterModel: ({ response }) => void reviewed.push(response),
    },
    { maxLlmCalls: 1 },
  );

  expect(events).toEqual(['a: tick({})', 'a: tick -> {"ok":true}', 'a: cached']);
  expect([model.requests.length, reviewed.length]).toEqual([0, 0]);
});

it('lets a before-model callback edit the request, not the history', async () => {
  const model = replyModel(text('ok'));
  const conversation = conversationWith({
    model,
    generateContentConfig: { temperature: 0.5, thinkingConfig: { thinkingBudget: 1 } },
    beforeModel: ({ request }) => {
      request.config.temperature = 1;
      request.config.systemInstruction = 'Edited.';
      request.config.thinkingConfig!['thinkingBudget'] = 2;
      request.contents[0]!.parts[0]!.text = 'edited';
      request.contents.push({ role: 'user', parts: [{ text: 'more' }] });
    },
  });

  await conversation.send('go');
  await conversation.send('again');

  expect(model.requests[0]).toMatchObject({
    config: { temperature: 1, systemInstruction: 'Edited.', thinkingConfig: { thinkingBudget: 2 } },
    contents: [{ parts: [{ text: 'edited' }] }, { parts: [{ text: 'more' }] }],
  });
  expect(model.requests[1]?.contents.map(({ parts }) => parts[0]?.text)).toEqual(['edited', 'ok', 'again', 'more']);
  expect(summary(conversation.session!.events)).toEqual(['user: go', 'a: ok', 'user: again', 'a: done']);
});

it('reviews every response, fragments too, and sends the state of callbacks with the whole answer', async () => {
  const louder = ({ response }: AfterModelParams): ModelResponse => ({
    ...response,
    content: { role: 'model', parts: [{ text: (response.content?.parts[0]?.text ?? '').toUpperCase() }] },
  });

  const events = await turn({
    model: replyModel([partial('hel'), text('hello')]),
    beforeModel: ({ context }) => context.state.set('before', true),
    afterModel: [
      ({ context: { state } }) => {
        state.set('seen', state.get<number>('seen', 0) + 1);
      },
      louder,
      () => text('too late'),
    ],
  });

  expect(events).toEqual(['a: HEL + partial', 'a: HELLO + state {"before":true,"seen":2}']);
});

it('shows what an on-model-error callback answers instead of the error, reviewed like any answer', async () => {
  const events = await turn({
    model: failingModel(new Error('down')),
    onModelError: ({ request, error }) => text(`${request.model}: ${(error as Error).message}`),
    afterModel: ({ response }) => ({ ...response, finishReason: 'STOP' }),
  });

  expect(events).toEqual(['a: failing-model: down']);
});

it('asks on-model-error callbacks about the model only', async () => {
  const asked: unknown[] = [];
  const onModelError = ({ error }: { error: unknown }): void => void asked.push(error);
  const afterModel = (): never => {
    throw new Error('callback broken');
  };

  await expect(turn({ model: replyModel(text('x')), afterModel, onModelError })).rejects.toThrow('callback broken');

  expect(asked).toEqual([]);
});

it('asks plugins before the callbacks of the agent', async () => {
  const asked: string[] = [];
  const plugin: Plugin = { name: 'p', beforeModel: () => void asked.push('plugin'), afterModel: () => text('plugin') };
  const conversation = conversationWith(
    { model: replyModel(text('model')), beforeModel: () => void asked.push('agent'), afterModel: () => text('agent') },
    [plugin],
  );

  expect(summary(await conversation.send('go'))).toEqual(['a: plugin']);
  expect(asked).toEqual(['plugin', 'agent']);
});

it('does not ask the model once a callback has ended the turn', async () => {
  const model = replyModel(text('never'));

  expect(await turn({ model, beforeModel: ({ context }) => context.endInvocation() })).toEqual([]);
  expect(model.requests).toEqual([]);
});

it('stops waiting for a model that does not listen when the run is cancelled', async () => {
  const deaf: Model = {
    name: 'deaf',
    async *generate() {
      yield partial('x');
      await new Promise(() => {});
    },
  };
  const cancel = new AbortController();
  const seen: string[] = [];

  const conversation = conversationWith({ model: deaf });
  await expect(
    (async () => {
      for await (const event of conversation.stream('go', { signal: cancel.signal })) {
        seen.push(...summary([event]));
        setImmediate(() => cancel.abort(new Error('cancelled')));
      }
    })(),
  ).rejects.toThrow('cancelled');

  expect(seen).toEqual(['a: x + partial']);
  expect(summary(conversation.session!.events)).toEqual(['user: go']);
});

it('closes the model when the caller stops listening', async () => {
  let closed = false;
  const endless: Model = {
    name: 'endless',
    async *generate() {
      try {
        for (;;) yield partial('x');
      } finally {
        closed = true;
      }
    },
  };

  for await (const event of conversationWith({ model: endless }).stream('go')) {
    expect(event.partial).toBe(true);
    break;
  }

  expect(closed).toBe(true);
});

it('spans the call with its request, its answer and its tokens', async () => {
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 7, thoughtsTokenCount: 2, totalTokenCount: 14 };
  const conversation = conversationWith({
    model: replyModel({ ...text('hi'), usageMetadata }),
    generateContentConfig: { topP: 0.9, maxOutputTokens: 50 },
  });

  const [event] = await conversation.send({
    role: 'user',
    parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
  });

  const span = conversation.spans.find(({ name }) => name === 'call_llm');
  expect(span?.attributes).toMatchObject({
    'gen_ai.operation.name': 'call_llm',
    'gen_ai.request.model': 'reply-model',
    'gen_ai.request.top_p': 0.9,
    'gen_ai.request.max_tokens': 50,
    'gen_ai.usage.input_tokens': 5,
    'gen_ai.usage.output_tokens': 9,
    'gen_ai.response.finish_reasons': ['stop'],
    'gcp.vertex.agent.event_id': event?.id,
    'gcp.vertex.agent.invocation_id': event?.invocationId,
    'gcp.vertex.agent.session_id': conversation.session?.id,
  });
  const request = lateText(span, 'gcp.vertex.agent.llm_request') ?? '';
  expect(JSON.parse(request)).toMatchObject({ model: 'reply-model', contents: [{ parts: [{ text: 'look' }, {}] }] });
  expect(request).not.toContain('AAAA');
  expect(JSON.parse(lateText(span, 'gcp.vertex.agent.llm_response') ?? '')).toMatchObject({
    finishReason: 'STOP',
  });
});
