import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newEvent } from '../../src/core/new-event.ts';
import type { Frame } from '../../src/core/runs.ts';
import { RunFeed, start } from '../../src/runner/run-feed.ts';
import { textContent } from '../../src/schemas/content.ts';
import type { Event } from '../../src/schemas/event.ts';
import { open } from '../support/run.ts';

const event = (text: string, partial?: true): Event =>
  newEvent({ invocationId: 'e-1' }, 'a', { content: textContent('model', text), ...(partial && { partial }) });
const place = ({ whole, piece }: Frame): string => `${whole}.${piece}`;

it('gives every reader every event once, wherever it was cut off', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 30 }), fc.array(fc.nat(30)), async (pieces, cuts) => {
      const feed = new RunFeed();
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
        feed.put(each);
        await Promise.resolve();
      }
      feed.end(undefined);

      expect((await reading).map((frame) => frame.event)).toEqual(events);
    }),
  );
});

it('throws at the end what ended the run', async () => {
  const feed = new RunFeed([event('a')]);
  feed.end(new Error('over'));
  const seen: string[] = [];

  const reading = (async () => {
    for await (const frame of feed.read(start, open)) seen.push(place(frame));
  })();

  await expect(reading).rejects.toThrow('over');
  expect(seen).toEqual(['1.0']);
});

it('keeps whole events and lets the oldest pieces go when there are too many', async () => {
  const feed = new RunFeed();
  const big = 'x'.repeat(1024 * 1024);
  for (const text of ['a', 'b', 'c']) feed.put(event(text + big, true));
  feed.put(event('whole'));
  for (let count = 0; count < 10; count += 1) feed.put(event(big, true));
  feed.end(undefined);

  const frames = await Array.fromAsync(feed.read(start, open));

  expect(frames[0]).toMatchObject({ whole: 1, piece: 0 });
  expect(frames.length).toBeLessThan(7);
  expect(frames.at(-1)).toMatchObject({ whole: 1, piece: 10 });
  expect(feed.weight).toBeLessThanOrEqual(4 * 1024 * 1024);
});

it('lets a reader go when its signal aborts', async () => {
  const controller = new AbortController();
  const reading = Array.fromAsync(new RunFeed().read(start, controller.signal));
  controller.abort(new Error('left'));

  await expect(reading).rejects.toThrow('left');
});

it('leaves out what a reader has who is ahead of the feed', async () => {
  const feed = new RunFeed();
  const reading = Array.fromAsync(feed.read({ whole: 1, piece: 1 }, open));
  for (const each of [event('a'), event('b', true), event('c', true), event('d')]) feed.put(each);
  feed.end(undefined);

  expect((await reading).map(place)).toEqual(['1.2', '2.0']);
});
