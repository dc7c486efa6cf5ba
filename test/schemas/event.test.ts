import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Event } from '../../src/schemas/event-schema.ts';
import { eventJson, isFinalResponse, newActions } from '../../src/schemas/event.ts';

const base = { id: 'e1', invocationId: 'e-1', author: 'agent', timestamp: 1, actions: newActions() };

it('reads snake_case and camelCase events alike', () => {
  const snake = {
    id: 'e1',
    invocation_id: 'e-1',
    author: 'agent',
    timestamp: 1,
    content: { role: 'model', parts: [{ function_call: { name: 'f', args: { some_key: 1 } } }] },
    long_running_tool_ids: ['c1'],
    actions: { state_delta: { my_key: 1 } },
  };

  const event = Event.parse(snake);

  expect(event.invocationId).toBe('e-1');
  expect(event.content?.parts[0]?.functionCall).toEqual({ name: 'f', args: { some_key: 1 } });
  expect(event.actions.stateDelta).toEqual({ my_key: 1 });
  expect(event.longRunningToolIds).toEqual(['c1']);
});

it('reads times in seconds, milliseconds and RFC 3339', () => {
  const at = (timestamp: unknown): number => Event.parse({ ...base, timestamp }).timestamp;

  expect(at(1_700_000_000.5)).toBe(1_700_000_000.5);
  expect(at(1_700_000_000_500)).toBe(1_700_000_000.5);
  expect(at('2023-11-14T22:13:20.500Z')).toBe(1_700_000_000.5);
});

it('reads the times of a summary in seconds and in milliseconds, as Java writes them', () => {
  const compaction = { startTimestamp: 1_700_000_000_500, endTimestamp: 1_700_000_001.5, compactedContent: {} };
  const { actions } = Event.parse({ ...base, actions: { compaction } });

  expect(actions.compaction).toMatchObject({ startTimestamp: 1_700_000_000.5, endTimestamp: 1_700_000_001.5 });
});

it('keeps unknown fields of events and parts through a JSON round trip', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      const event = Event.parse({ ...base, extra: value ?? 1, content: { parts: [{ text, novel: value ?? 1 }] } });

      expect(Event.parse(JSON.parse(eventJson(event)))).toEqual(JSON.parse(JSON.stringify(event)));
    }),
  );
});

it.each([
  ['text', { content: { parts: [{ text: 'hi' }] } }, true],
  ['nothing at all', {}, true],
  ['a partial', { partial: true, content: { parts: [{ text: 'h' }] } }, false],
  ['a call', { content: { parts: [{ functionCall: { name: 'f' } }] } }, false],
  ['a response', { content: { parts: [{ functionResponse: { name: 'f', response: {} } }] } }, false],
  ['a trailing code result', { content: { parts: [{ codeExecutionResult: { outcome: 'OUTCOME_OK' } }] } }, false],
  ['a long-running call', { longRunningToolIds: ['c'], content: { parts: [{ functionCall: { name: 'f' } }] } }, true],
  [
    'a response that skips summarization',
    {
      actions: { ...newActions(), skipSummarization: true },
      content: { parts: [{ functionResponse: { name: 'f', response: {} } }] },
    },
    true,
  ],
])('knows whether an event with %s is final', (_, fields, final) => {
  expect(isFinalResponse({ ...base, ...fields })).toBe(final);
});
