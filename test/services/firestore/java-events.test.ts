import { expect, it } from 'vitest';
import { textOf } from '../../../src/schemas/content.ts';
import { fromJavaEvents, fromJavaState, type JavaEvent } from '../../../src/services/firestore/java-events.ts';

const said = (id: string, author: string, timestamp: string, ...parts: object[]): JavaEvent => ({
  id,
  fields: { author, timestamp, appName: 'app', userId: 'ada', keywords: ['tea'], content: { parts } },
});

it('takes the user for the user, and begins an invocation with what the user says', () => {
  const events = fromJavaEvents(
    [
      said('a', 'ada', '2026-01-01T10:00:00Z', { text: 'Tea?' }),
      said('b', 'waiter', '2026-01-01T10:00:01.5Z', { text: 'Yes.' }),
      said('c', 'ada', '2026-01-01T10:01:00Z', { text: 'Thanks' }),
    ],
    'ada',
  );

  expect(events.map(({ id, author, invocationId, content }) => [id, author, invocationId, content?.role])).toEqual([
    ['a', 'user', 'e-a', 'user'],
    ['b', 'waiter', 'e-a', 'model'],
    ['c', 'user', 'e-c', 'user'],
  ]);
  expect(events[1]?.timestamp).toBe(Date.UTC(2026, 0, 1, 10, 0, 1, 500) / 1000);
});

it('orders by time, not by its text, and to the nanosecond', () => {
  const times = ['10:00:01Z', '10:00:00.5Z', '10:00:00Z', '10:00:00.000000002Z', '10:00:00.000000001Z'];
  const events = times.map((time) => said(time, 'waiter', `2026-01-01T${time}`, { text: time }));

  const ordered = fromJavaEvents(events, 'ada').map(({ content }) => textOf(content));

  expect(ordered).toEqual(['10:00:00Z', '10:00:00.000000001Z', '10:00:00.000000002Z', '10:00:00.5Z', '10:00:01Z']);
});

it('gives calls and their answers the same ids, the first call of a name first', () => {
  const call = (city: string): object => ({ functionCall: { name: 'weather', args: { city } } });
  const answer = (sky: string): object => ({ functionResponse: { name: 'weather', response: { sky } } });
  const events = fromJavaEvents(
    [
      said('a', 'ada', '2026-01-01T10:00:00Z', { text: 'Sun?' }),
      said('b', 'clerk', '2026-01-01T10:00:01Z', call('Rome'), call('Oslo')),
      said('c', 'ada', '2026-01-01T10:00:02Z', answer('blue'), answer('grey')),
    ],
    'ada',
  );

  const parts = events.flatMap(({ content }) => content?.parts ?? []);
  const ids = parts.map(({ functionCall, functionResponse }) => (functionCall ?? functionResponse)?.id);
  expect(ids).toEqual([undefined, 'adk-b-0', 'adk-b-1', 'adk-b-0', 'adk-b-1']);
  expect(events[2]).toMatchObject({ invocationId: 'e-a', content: { role: 'user' } });
});

it('keeps files, and leaves out what has no content or one that is none', () => {
  const file = { fileData: { fileUri: 'gs://b/cat', mimeType: 'image/png' } };
  const events: JavaEvent[] = [
    said('a', 'clerk', 'no time at all', file),
    { id: 'b', fields: { author: 'clerk', timestamp: '2026-01-01T10:00:00Z' } },
    { id: 'c', fields: { author: 'clerk', timestamp: '2026-01-01T10:00:00Z', content: { parts: 'none' } } },
  ];

  const found = fromJavaEvents(events, 'ada');

  expect(found.map(({ id, timestamp, content }) => [id, timestamp, content?.parts])).toEqual([['a', 0, [file]]]);
});

it('spells the scopes of a state as all others do', () => {
  expect(fromJavaState({ _app_theme: 'dark', _user_lang: 'de', own: { _app_: 1 } })).toEqual({
    'app:theme': 'dark',
    'user:lang': 'de',
    own: { _app_: 1 },
  });
  expect(fromJavaState({ theme: 'dark', _app_size: 1 }, 'app:')).toEqual({ 'app:theme': 'dark', 'app:size': 1 });
  expect(fromJavaState(undefined)).toEqual({});
});
