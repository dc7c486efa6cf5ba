import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';
import type { StreamedEvent } from '../../../src/core/runs.ts';
import { EventLogMemory } from '../../../src/runner/queue/event-log-memory.ts';
import { RunEventLog, logStart } from '../../../src/runner/queue/event-log.ts';
import { textContent } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { open } from '../../support/run.ts';

const event = (text: string, partial?: true): Event =>
  newEvent({ invocationId: 'e-1' }, 'a', { content: textContent('model', text), ...(partial && { partial }) });
/** A log whose events are stored beside it, as those of a run are in its session. */
function logOf(events: readonly Event[] = [], room?: EventLogMemory) {
  const stored: StreamedEvent[] = [];
  const log = new RunEventLog(async function* (after) {
    for (const frame of stored) if (frame.events > after) yield frame;
  }, room);
  const put = (each: Event): void => {
    if (!each.partial) stored.push({ event: each, events: stored.length + 1, chunks: 0 });
    log.append(each);
  };
  for (const each of events) put(each);
  return { log, put };
}
const place = ({ events, chunks }: StreamedEvent): string => `${events}.${chunks}`;

it('gives every reader every event once, wherever it was cut off', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 30 }), fc.array(fc.nat(30)), async (pieces, cuts) => {
      const { log, put } = logOf();
      const events = pieces.map((isPiece, index) => event(String(index), isPiece || undefined));
      const reading = (async () => {
        const seen: StreamedEvent[] = [];
        for (const cut of [...cuts, Infinity]) {
          let left = cut;
          for await (const frame of log.read(seen.at(-1) ?? logStart, open)) {
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
      log.end(undefined);

      expect((await reading).map((frame) => frame.event)).toEqual(events);
    }),
  );
});

it('throws at the end what ended the run', async () => {
  const { log } = logOf([event('a')]);
  log.end(new Error('over'));
  const seen: string[] = [];

  const reading = (async () => {
    for await (const frame of log.read(logStart, open)) seen.push(place(frame));
  })();

  await expect(reading).rejects.toThrow('over');
  expect(seen).toEqual(['1.0']);
});

it('lets the oldest pieces go when there are too many', async () => {
  const { log, put } = logOf();
  const big = 'x'.repeat(1024 * 1024);
  for (const text of ['a', 'b', 'c']) put(event(text + big, true));
  put(event('whole'));
  for (let count = 0; count < 10; count += 1) put(event(big, true));
  log.end(undefined);

  const frames = await Array.fromAsync(log.read(logStart, open));

  expect(frames[0]).toMatchObject({ events: 1, chunks: 0 });
  expect(frames.length).toBeLessThan(7);
  expect(frames.at(-1)).toMatchObject({ events: 1, chunks: 10 });
  expect(log.size).toBeLessThanOrEqual(4 * 1024 * 1024);
});

it('lets a reader go when its signal aborts', async () => {
  const controller = new AbortController();
  const reading = Array.fromAsync(logOf().log.read(logStart, controller.signal));
  controller.abort(new Error('left'));

  await expect(reading).rejects.toThrow('left');
});

it('leaves out what a reader has who is ahead of the log', async () => {
  const { log } = logOf();
  const reading = Array.fromAsync(log.read({ events: 1, chunks: 1 }, open));
  for (const each of [event('a'), event('b', true), event('c', true), event('d')]) log.append(each);
  log.end(undefined);

  expect((await reading).map(place)).toEqual(['1.2', '2.0']);
});

it('holds a few megabytes of whole events, and gives every one to readers of any pace from where they are stored', async () => {
  const { log, put } = logOf();
  const places = Array.from({ length: 2_000 }, (_, index) => `${index + 1}.0`);
  const eager = Array.fromAsync(log.read(logStart, open));
  const slow = log.read(logStart, open);
  const first = slow.next();
  for (const [index] of places.entries()) {
    put(event(`${index} ${'x'.repeat(10_000)}`));
    if (index % 10 === 0) await Promise.resolve();
    expect(log.size).toBeLessThanOrEqual(4 * 1024 * 1024);
  }
  log.end(undefined);

  expect((await eager).map(place)).toEqual(places);
  expect([(await first).value as StreamedEvent, ...(await Array.fromAsync(slow))].map(place)).toEqual(places);
  expect((await Array.fromAsync(log.read({ events: 1, chunks: 7 }, open))).map(place)).toEqual(places.slice(1));
  expect((await Array.fromAsync(log.read({ events: 1_999, chunks: 0 }, open))).map(place)).toEqual(places.slice(1_999));
});

it('shares one bound among all logs', async () => {
  const room = new EventLogMemory(100_000);
  const logs = Array.from({ length: 20 }, (_, index) => logOf([event(`${index} ${'x'.repeat(9_000)}`)], room).log);
  for (const log of logs) log.end(undefined);

  expect(logs.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(100_000);
  expect(logs.filter(({ size }) => size > 0).length).toBeGreaterThan(5);
  for (const log of logs) expect((await Array.fromAsync(log.read(logStart, open))).map(place)).toEqual(['1.0']);
});

it('says so when what it let go of is stored no longer', async () => {
  const log = new RunEventLog(async function* () {});
  log.append(event('a'));
  log.clear();
  log.end(undefined);

  await expect(Array.fromAsync(log.read(logStart, open))).rejects.toMatchObject({ code: 'run_not_found' });
});
