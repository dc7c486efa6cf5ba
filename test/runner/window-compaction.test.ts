import { expect, it } from 'vitest';
import { llmSummarizer } from '../../src/models/llm-summarizer.ts';
import { scriptedModel } from '../../src/models/scripted/scripted.ts';
import { windowToCompact } from '../../src/runner/window-compaction.ts';
import { textContent, textOf } from '../../src/schemas/content.ts';
import { type Event, newActions } from '../../src/schemas/event.ts';
import { open, runAll, say, saying, testRunner } from '../support/run.ts';

const event = (invocation: number, timestamp: number, covers?: [number, number]): Event => ({
  id: `${invocation}-${timestamp}`,
  invocationId: `e-${invocation}`,
  author: 'root',
  timestamp,
  content: textContent('model', String(timestamp)),
  actions: covers
    ? {
        ...newActions(),
        compaction: {
          startTimestamp: covers[0],
          endTimestamp: covers[1],
          compactedContent: textContent('model', 'summary'),
        },
      }
    : newActions(),
});
const times = (events: readonly Event[]): number[] => events.map(({ timestamp }) => timestamp);

it('waits until enough invocations are not covered by a summary', () => {
  const history = [event(1, 1), event(1, 2), event(2, 3)];

  expect(windowToCompact(history, { compactionInterval: 3, overlapSize: 0 })).toEqual([]);
  expect(times(windowToCompact(history, { compactionInterval: 2, overlapSize: 0 }))).toEqual([1, 2, 3]);
});

it('starts after what is covered, and takes the overlap along', () => {
  const history = [event(1, 1), event(2, 2), event(9, 3, [1, 2]), event(3, 4), event(4, 5)];

  expect(times(windowToCompact(history, { compactionInterval: 2, overlapSize: 0 }))).toEqual([4, 5]);
  expect(times(windowToCompact(history, { compactionInterval: 2, overlapSize: 1 }))).toEqual([2, 4, 5]);
});

it('does nothing unless both sizes are set', () => {
  const history = [event(1, 1), event(2, 2)];

  expect(windowToCompact(history, { compactionInterval: 1 })).toEqual([]);
  expect(windowToCompact(history, {})).toEqual([]);
});

it('adds a summary to the session after a run, and none when the summarizer has nothing to say', async () => {
  const said: string[] = [];
  const summarizer = {
    async summarize(events: readonly Event[]) {
      said.push(events.map(({ content }) => textOf(content)).join('|'));
      return said.length === 1 ? textContent('model', 'They greeted.') : undefined;
    },
  };
  const eventsCompaction = { compactionInterval: 1, overlapSize: 0, summarizer };
  const { runner, key, services } = await testRunner(saying('hello'), { app: { eventsCompaction } });

  await runAll(runner, say(key, 'hi'));
  await runAll(runner, say(key, 'again'));

  const { events } = (await services.sessions.getSession(key))!;
  const summaries = events.flatMap(({ actions }) => (actions.compaction ? [actions.compaction] : []));
  expect(said).toEqual(['hi|hello', 'again|hello']);
  expect(summaries.map(({ compactedContent }) => textOf(compactedContent))).toEqual(['They greeted.']);
  expect(summaries[0]).toMatchObject({ startTimestamp: events[0]?.timestamp, endTimestamp: events[1]?.timestamp });
});

it('sums up nothing that a rewind hides, neither its words nor its place in the count', async () => {
  const said: string[] = [];
  const summarizer = {
    async summarize(events: readonly Event[]) {
      said.push(events.map(({ content }) => textOf(content)).join('|'));
      return textContent('model', 'They greeted.');
    },
  };
  const eventsCompaction = { compactionInterval: 2, overlapSize: 1, summarizer };
  const { runner, key } = await testRunner(saying('hello'), { app: { eventsCompaction } });
  const [hidden] = await runAll(runner, say(key, 'the password'));
  await runner.rewind(key, hidden!.invocationId);

  await runAll(runner, say(key, 'hi'));
  expect(said).toEqual([]);
  await runAll(runner, say(key, 'again'));

  expect(said).toEqual(['hi|hello|again|hello']);
});

it('lets an answer stand when the summary fails', async () => {
  const summarizer = { summarize: () => Promise.reject(new Error('no model')) };
  const eventsCompaction = { compactionInterval: 1, overlapSize: 0, summarizer };
  const { runner, key } = await testRunner(saying('hello'), { app: { eventsCompaction } });

  await expect(runAll(runner, say(key, 'hi'))).resolves.toHaveLength(1);
});

it('sums up with one model call that sees what was said, called and answered', async () => {
  const calls: Event = {
    ...event(1, 1),
    content: { role: 'model', parts: [{ functionCall: { name: 'roll', args: { sides: 6 } } }] },
  };
  const answers: Event = {
    ...event(1, 2),
    content: { role: 'user', parts: [{ functionResponse: { name: 'roll', response: { value: 4 } } }] },
  };
  const echo = scriptedModel([{ match: 'root called roll with .*6[^]*roll answered .*4', text: 'A four.' }]);

  const summary = await llmSummarizer(echo).summarize([calls, answers], open);

  expect(summary).toEqual(textContent('model', 'A four.'));
  expect(await llmSummarizer(echo).summarize([{ ...calls, content: { parts: [] } }], open)).toBeUndefined();
});
