import { expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { EventsCompactionConfig, Tool } from '../../src/core/runtime.ts';
import { type Content, textContent } from '../../src/schemas/content.ts';
import type { Event } from '../../src/schemas/event.ts';
import { Conversation, summary } from '../support/fake-run.ts';
import { outline } from '../support/history.ts';
import { call, calls, type ReplyModel, replyModel, text } from '../support/reply-model.ts';

const counted = (value: string, promptTokenCount: number) => ({ ...text(value), usageMetadata: { promptTokenCount } });
const tick: Tool = { kind: 'tool', name: 'tick', description: 'x', run: () => 'tock' };

/** A summarizer that keeps what it was given, and says how much it was. */
function counting(): { given: string[][]; summarize(events: readonly Event[]): Promise<Content> } {
  const given: string[][] = [];
  return {
    given,
    async summarize(events) {
      given.push(summary(events));
      return textContent('model', `summary ${given.length}`);
    },
  };
}

function conversationWith(model: ReplyModel, eventsCompaction: EventsCompactionConfig): Conversation {
  return new Conversation(llmAgent({ name: 'a', model, tools: [tick] }), { app: { eventsCompaction } });
}

it('sums up all but the newest events once a prompt was too long', async () => {
  const summarizer = counting();
  const model = replyModel(
    counted('one', 50),
    counted('two', 150),
    counted('three', 40),
    counted('four', 160),
    text('five'),
  );
  const conversation = conversationWith(model, { tokenThreshold: 100, eventRetentionSize: 2, summarizer });

  for (const message of ['1', '2', '3', '4', '5']) await conversation.send(message);

  expect(summarizer.given).toEqual([
    ['user: 1', 'a: one', 'user: 2'],
    ['user: ', 'a: two', 'user: 3', 'a: three', 'user: 4'],
  ]);
  expect(model.requests.map(({ contents }) => outline(contents))).toEqual([
    ['user: 1'],
    ['user: 1', 'model: one', 'user: 2'],
    ['model: summary 1', 'model: two', 'user: 3'],
    ['model: summary 1', 'model: two', 'user: 3', 'model: three', 'user: 4'],
    ['model: summary 2', 'model: four', 'user: 5'],
  ]);
});

it('does not part a call from its response', async () => {
  const summarizer = counting();
  const model = replyModel(
    { ...calls(call('tick'), call('tick')), usageMetadata: { promptTokenCount: 500 } },
    text('done'),
  );
  const conversation = conversationWith(model, { tokenThreshold: 100, eventRetentionSize: 1, summarizer });

  await conversation.send('go');

  expect(summarizer.given).toEqual([['user: go']]);
  expect(model.requests[1]?.contents.map(({ parts }) => Object.keys(parts[0] ?? {})[0])).toEqual([
    'text',
    'functionCall',
    'functionResponse',
  ]);
});

it('estimates the length of prompts that nobody counted', async () => {
  const summarizer = counting();
  const conversation = conversationWith(replyModel(text('x'.repeat(500))), {
    tokenThreshold: 100,
    eventRetentionSize: 1,
    summarizer,
  });

  await conversation.send('short');
  await conversation.send('again');

  expect(summarizer.given).toHaveLength(1);
});

it('asks the model of the agent for a summary when the app names no summarizer', async () => {
  const model = replyModel(counted('one', 500), text('a summary'), text('two'));
  const conversation = conversationWith(model, { tokenThreshold: 100, eventRetentionSize: 1 });
  await conversation.send('1');

  await conversation.send('2');

  expect(outline(model.requests[2]!.contents)).toEqual(['model: a summary', 'user: 2']);
});

it('goes on without a summary when that fails', async () => {
  const summarizer = { summarize: () => Promise.reject(new Error('no')) };
  const model = replyModel(counted('one', 500), text('two'));
  const conversation = conversationWith(model, { tokenThreshold: 100, eventRetentionSize: 1, summarizer });
  await conversation.send('1');

  expect(summary(await conversation.send('2'))).toEqual(['a: two']);
  expect(conversation.log).toEqual([{ agent: 'a', reason: 'no' }]);
});

it('leaves history alone without a threshold', async () => {
  const summarizer = counting();
  const conversation = conversationWith(replyModel(counted('one', 5_000)), {
    compactionInterval: 2,
    overlapSize: 1,
    summarizer,
  });

  await conversation.send('1');
  await conversation.send('2');

  expect(summarizer.given).toEqual([]);
});
