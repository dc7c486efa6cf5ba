import { expect, it } from 'vitest';
import type { LiveInput } from '../../../src/core/model.ts';
import { LiveInbox } from '../../../src/http/live/inbox.ts';

const sound = (size: number, mark = 'A'): LiveInput => ({
  kind: 'blob',
  blob: { mimeType: 'audio/pcm', data: mark.repeat(size) },
});
const message = (text: string): LiveInput => ({ kind: 'content', content: { role: 'user', parts: [{ text }] } });
const million = 1_000_000;

async function rest(inbox: LiveInbox): Promise<LiveInput[]> {
  inbox.end();
  return Array.fromAsync(inbox);
}

it('gives what came, in order, and then ends', async () => {
  const inbox = new LiveInbox(() => {});

  inbox.push(message('a'));
  inbox.push({ kind: 'activityStart' });

  expect(await rest(inbox)).toEqual([message('a'), { kind: 'activityStart' }]);
});

it('drops the oldest sound when nobody listens, and says how much', async () => {
  const inbox = new LiveInbox(() => {});

  expect(inbox.push(message('a'))).toBe(true);
  for (const mark of ['1', '2', '3', '4']) expect(inbox.push(sound(million, mark))).toBe(true);

  expect(inbox.dropped).toBe(2);
  expect(await rest(inbox)).toEqual([message('a'), sound(million, '3'), sound(million, '4')]);
});

it('is full when messages fill it, and has room again when half of them are read', async () => {
  let rooms = 0;
  const inbox = new LiveInbox(() => (rooms += 1));
  const reader = inbox[Symbol.asyncIterator]();
  const long = message('x'.repeat(million));

  expect([long, long, long].map((one) => inbox.push(one))).toEqual([true, true, false]);
  await reader.next();
  expect(rooms).toBe(0);
  await reader.next();

  expect(rooms).toBe(1);
  expect(inbox.push(message('short'))).toBe(true);
});

it('takes a single message of any size', () => {
  expect(new LiveInbox(() => {}).push(message('x'.repeat(5 * million)))).toBe(true);
});

it('knows whether somebody waits', async () => {
  const inbox = new LiveInbox(() => {});
  const reader = inbox[Symbol.asyncIterator]();

  expect(inbox.isAwaited).toBe(false);
  const next = reader.next();
  expect(inbox.isAwaited).toBe(true);
  inbox.push(message('a'));

  expect(await next).toEqual({ done: false, value: message('a') });
  expect(inbox.isAwaited).toBe(false);
});
