import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { type Model, ModelError } from '../../../src/core/model.ts';
import { withRetry } from '../../../src/models/retry.ts';
import { routedModel } from '../../../src/models/routed.ts';
import { Conversation, summary } from '../../support/fake-run.ts';
import { failingModel, replyModel, text } from '../../support/reply-model.ts';

function failingTwice(): Model {
  let tries = 0;
  return {
    name: 'flaky',
    async *generate() {
      tries += 1;
      if (tries < 3) throw new ModelError('RATE_LIMITED', `quota of AIzaSyA1234567890 used up`, { retryAfter: 0 });
      yield text('at last');
    },
  };
}

it('shows the tries that failed in the trace of the model call, and nowhere else', async () => {
  const conversation = new Conversation(llmAgent({ name: 'a', model: withRetry(failingTwice()) }));

  const events = await conversation.send('go');

  expect(summary(events)).toEqual(['a: at last']);
  const span = conversation.spans.find(({ name }) => name === 'call_llm');
  expect(span?.attributes['agent_server.model.retries']).toBe(2);
  expect(span?.attributes['agent_server.model.retry_reasons']).toEqual([
    expect.stringMatching(/^try 1: quota of \[redacted\] used up \(next after \d+ ms\)$/),
    expect.stringMatching(/^try 2: quota of \[redacted\] used up \(next after \d+ ms\)$/),
  ]);
});

it('shows in the trace that another model took over', async () => {
  const model = routedModel({ models: [failingModel(new ModelError('SERVER_ERROR', 'down')), replyModel(text('hi'))] });
  const conversation = new Conversation(llmAgent({ name: 'a', model }));

  await conversation.send('go');

  const span = conversation.spans.find(({ name }) => name === 'call_llm');
  expect(span?.attributes['agent_server.model.retry_reasons']).toEqual(['try 1: down (next after 0 ms)']);
});
