import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newEvent } from '../../../src/core/new-event.ts';
import type { Frame } from '../../../src/core/runs.ts';
import { FeedRoom } from '../../../src/runner/queue/event-log-memory.ts';
import { RunFeed, start } from '../../../src/runner/queue/event-log.ts';
import { textContent } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { open } from '../../support/run.ts';

const event = (text: string, partial?: true): Event =>
  newEvent({ invocationId: 'e-1' }, 'a', { content: textContent('model', text), ...(partial && { partial }) });
/** A feed whose whole events are stored beside it, as a run's are in its session. */
function feedOf(events: readonly Event[] = [], room?: FeedRoom) {
  const stored: Frame[] = [];
  const feed = new RunFeed(async function* (after) {
    for (const frame of stored) if (frame.whole > after) yield frame;
  }, room);
  const put = (each: Event): void => {
    if (!each.partial) stored.push({ event: each, whole: stored.length + 1, piece: 0 });
    feed.put(each);
  };
  for (const each of events) put(each);
  return { feed, put };
}
const place = ({ whole, piece }: Frame): string => `${whole}.${piece}`;

it('gives every reader every event once, wherever it was cut off', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 30 }), fc.array(fc.nat(30)), async (pieces, cuts) => {
      const { feed, put } = feedOf();
      const events = pieces.map((isPiece, index) => event(String(index), isPiece || undefined));
      const reading = (async () => {
        const seen: Frame[] = [];
        for (const cut of [...cuts, Infinity]) {
          let left = cut;
          for await (const frame of feed.read(seen.at(-1) ?? start, open)) {
            seen.push(frame);
            if ((left -= 1) <= 0) break;
          }
        }
        return seen;
      })();
      for (const each of events) {
        put(each);
        await Promise.resolve();
      }
      feed.end(undefined);

      expect((await reading).map((frame) => frame.event)).toEqual(events);
    }),
  );
});

it('throws at the end what ended the run', async () => {
  const { feed } = feedOf([event('a')]);
  feed.end(new Error('over'));
  const seen: string[] = [];

  const reading = (async () => {
    for await (const frame of feed.read(start, open)) seen.push(place(frame));
  })();

  await expect(reading).rejects.toThrow('over');
  expect(seen).toEqual(['1.0']);
});

it('lets the oldest pieces go when there are too many', async () => {
  const { feed, put } = feedOf();
  const big = 'x'.repeat(1024 * 1024);
  for (const text of ['a', 'b', 'c']) put(event(text + big, true));
  put(event('whole'));
  for (let count = 0; count < 10; count += 1) put(event(big, true));
  feed.end(undefined);

  const frames = await Array.fromAsync(feed.read(start, open));

  expect(frames[0]).toMatchObject({ whole: 1, piece: 0 });
  expect(frames.length).toBeLessThan(7);
  expect(frames.at(-1)).toMatchObject({ whole: 1, piece: 10 });
  expect(feed.size).toBeLessThanOrEqual(4 * 1024 * 1024);
});

it('lets a reader go when its signal aborts', async () => {
  const controller = new AbortController();
  const reading = Array.fromAsync(feedOf().feed.read(start, controller.signal));
  controller.abort(new Error('left'));

  await expect(reading).rejects.toThrow('left');
});

it('leaves out what a reader has who is ahead of the feed', async () => {
  const { feed } = feedOf();
  const reading = Array.fromAsync(feed.read({ whole: 1, piece: 1 }, open));
  for (const each of [event('a'), event('b', true), event('c', true), event('d')]) feed.put(each);
  feed.end(undefined);

  expect((await reading).map(place)).toEqual(['1.2', '2.0']);
});

it('holds a few megabytes of whole events, and gives every one to readers of any pace from where they are stored', async () => {
  const { feed, put } = feedOf();
  const places = Array.from({ length: 2_000 }, (_, index) => `${index + 1}.0`);
  const eager = Array.fromAsync(feed.read(start, open));
  const slow = feed.read(start, open);
  const first = slow.next();
  for (const [index] of places.entries()) {
    put(event(`${index} ${'x'.repeat(10_000)}`));
    if (index % 10 === 0) await Promise.resolve();
    expect(feed.size).toBeLessThanOrEqual(4 * 1024 * 1024);
  }
  feed.end(undefined);

  expect((await eager).map(place)).toEqual(places);
  expect([(await first).value as Frame, ...(await Array.fromAsync(slow))].map(place)).toEqual(places);
  expect((await Array.fromAsync(feed.read({ whole: 1, piece: 7 }, open))).map(place)).toEqual(places.slice(1));
  expect((await Array.fromAsync(feed.read({ whole: 1_999, piece: 0 }, open))).map(place)).toEqual(places.slice(1_999));
});

it('shares one bound among all feeds', async () => {
  const room = new FeedRoom(100_000);
  const feeds = Array.from({ length: 20 }, (_, index) => feedOf([event(`${index} ${'x'.repeat(9_000)}`)], room).feed);
  for (const feed of feeds) feed.end(undefined);

  expect(feeds.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(100_000);
  expect(feeds.filter(({ size }) => size > 0).length).toBeGreaterThan(5);
  for (const feed of feeds) expect((await Array.fromAsync(feed.read(start, open))).map(place)).toEqual(['1.0']);
});

it('says so when what it let go of is stored no longer', async () => {
  const feed = new RunFeed(async function* () {});
  feed.put(event('a'));
  feed.clear();
  feed.end(undefined);

  await expect(Array.fromAsync(feed.read(start, open))).rejects.toMatchObject({ code: 'run_not_found' });
});
