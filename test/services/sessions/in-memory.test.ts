import { afterEach, expect, it, vi } from 'vitest';
import { keyOf } from '../../../src/schemas/session.ts';
import { InMemorySessions } from '../../../src/services/sessions/in-memory.ts';
import { freshOwner, saying } from '../../../src/testing/contracts/events.ts';
import { sessionServiceContract } from '../../../src/testing/contracts/sessions.ts';

sessionServiceContract('InMemorySessions', () => new InMemorySessions());

afterEach(() => {
  vi.useRealTimers();
});

it('stores the very event it was given and shares it with every reader', async () => {
  const sessions = new InMemorySessions();
  const session = await sessions.createSession(freshOwner());
  const event = saying('hi');

  const stored = await sessions.appendEvent(session, event);

  expect(stored).toBe(event);
  expect(Object.isFrozen(event.content?.parts[0])).toBe(true);
  const [first, second] = [await sessions.getSession(keyOf(session)), await sessions.getSession(keyOf(session))];
  expect(first?.events[0]).toBe(event);
  expect(second?.events[0]).toBe(event);
});

it('forgets the least recently used session when there are too many', async () => {
  const evicted: string[] = [];
  const sessions = new InMemorySessions({ maxSessions: 2, onEvicted: ({ sessionId }) => evicted.push(sessionId) });
  const owner = freshOwner();
  const first = await sessions.createSession(owner, { sessionId: 'first' });
  await sessions.createSession(owner, { sessionId: 'second' });
  await sessions.appendEvent(first, saying('still here'));

  await sessions.createSession(owner, { sessionId: 'third' });

  expect(evicted).toEqual(['second']);
  expect((await sessions.listSessions(owner)).map(({ id }) => id)).toEqual(['first', 'third']);
});

it('forgets sessions that were not used for the idle time', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const sessions = new InMemorySessions({ idleMs: 1000 });
  const owner = freshOwner();
  const used = await sessions.createSession(owner, { sessionId: 'used' });
  await sessions.createSession(owner, { sessionId: 'idle' });

  vi.advanceTimersByTime(900);
  await sessions.appendEvent(used, saying('here'));
  vi.advanceTimersByTime(900);

  expect((await sessions.listSessions(owner)).map(({ id }) => id)).toEqual(['used']);
  expect((await sessions.createSession(owner, { sessionId: 'idle' })).events).toEqual([]);
});

it('does not let a list keep sessions alive', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const sessions = new InMemorySessions({ idleMs: 1000 });
  const owner = freshOwner();
  await sessions.createSession(owner);

  vi.advanceTimersByTime(900);
  await sessions.listSessions(owner);
  vi.advanceTimersByTime(900);

  expect(await sessions.listSessions(owner)).toEqual([]);
});

it('refuses what would take more bytes than it may, and takes it once something is deleted', async () => {
  const sessions = new InMemorySessions({ maxBytes: 100_000 });
  const owner = { appName: 'app', userId: 'u' };
  const first = await sessions.createSession(owner, { sessionId: 'first' });
  const second = await sessions.createSession(owner, { sessionId: 'second' });
  await sessions.appendEvent(first, saying('x'.repeat(60_000)));

  await expect(sessions.appendEvent(second, saying('x'.repeat(60_000)))).rejects.toMatchObject({
    code: 'storage_full',
  });
  await expect(sessions.createSession(owner, { events: [saying('x'.repeat(60_000))] })).rejects.toMatchObject({
    code: 'storage_full',
  });
  await sessions.appendEvent(second, saying('small'));
  expect((await sessions.listEvents({ ...owner, sessionId: 'second' })).total).toBe(1);
  await sessions.deleteSession({ ...owner, sessionId: 'first' });

  await sessions.appendEvent(second, saying('x'.repeat(60_000)));
});
