import { expect, it } from 'vitest';
import { HistoryCache } from '../../../src/services/sessions/history-cache.ts';
import { saying } from '../../../src/testing/contracts/events.ts';

const position = (nextSeq: number, revision = 0) => ({ sessionNumber: 1, revision, nextSeq });
const [one, two, three] = ['1', '2', '3'].map((text) => saying(text)) as [
  ReturnType<typeof saying>,
  ReturnType<typeof saying>,
  ReturnType<typeof saying>,
];

it('adds an event only to a history that ends right before it', () => {
  const cache = new HistoryCache();
  cache.keep(position(2), [one], 10);

  cache.add(1, 3, three, 10);
  expect(cache.find(position(4))).toMatchObject({ events: [one], nextSeq: 2 });
  cache.add(1, 2, two, 10);
  cache.add(2, 1, three, 10);

  expect(cache.find(position(4))).toMatchObject({ events: [one, two], nextSeq: 3, size: 20 });
});

it('hands out arrays that do not grow when events are added', () => {
  const cache = new HistoryCache();
  const given = [one];
  cache.keep(position(2), given, 10);
  const found = cache.find(position(2))?.events;

  cache.add(1, 2, two, 10);

  expect(given).toEqual([one]);
  expect(found).toEqual([one]);
});

it('does not replace a history by a shorter one that was read before', () => {
  const cache = new HistoryCache();
  cache.keep(position(3), [one, two], 20);

  cache.keep(position(2), [one], 10);

  expect(cache.find(position(3))?.events).toEqual([one, two]);
});

it('forgets a history that was changed, or that the store has less of', () => {
  const cache = new HistoryCache();
  cache.keep(position(3), [one, two], 20);
  expect(cache.find(position(3, 1))).toBeUndefined();

  cache.keep(position(3), [one, two], 20);
  expect(cache.find(position(2))).toBeUndefined();
});

it('forgets the history that was not used for longest when there is no room', () => {
  const cache = new HistoryCache(25);
  const at = (sessionNumber: number) => ({ sessionNumber, revision: 0, nextSeq: 2 });
  cache.keep(at(1), [one], 10);
  cache.keep(at(2), [two], 10);
  cache.find(at(1));

  cache.keep(at(3), [three], 10);

  expect([1, 2, 3].map((number) => cache.find(at(number))?.events[0])).toEqual([one, undefined, three]);
});
