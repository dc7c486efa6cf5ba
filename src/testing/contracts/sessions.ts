import { afterEach, describe, expect, it } from 'vitest';
import type { SessionService } from '../../core/services.ts';
import { generation } from '../../schemas/session.ts';
import { freshOwner, saying } from './events.ts';
import { because, type SessionExceptions } from './promises.ts';
import { appendingContract, readingContract } from './session-events.ts';
import { pagingContract } from './session-pages.ts';
import { sessionStateContract } from './session-state.ts';

/**
 * What every session store promises. `open` is called for each test; it may open an empty store or a shared one. The
 * suite closes what it opened. `exceptions` are promises the store does not make.
 */
export function sessionServiceContract(
  name: string,
  open: () => SessionService | Promise<SessionService>,
  exceptions: SessionExceptions = {},
): void {
  describe(`${name} as a session service`, () => {
    const opened: SessionService[] = [];
    const start = async (): Promise<SessionService> => {
      const service = await open();
      opened.push(service);
      return service;
    };
    afterEach(async () => {
      for (const service of opened.splice(0)) await service.close?.();
    });
    lifecycle(start, exceptions);
    appendingContract(start);
    readingContract(start);
    pagingContract(start);
    sessionStateContract(start, exceptions);
  });
}

type Start = () => Promise<SessionService>;

function lifecycle(start: Start, { idsByOwner, sharedState, generations }: SessionExceptions): void {
  it('creates a session with a generated id when none or a blank one is given', async () => {
    const sessions = await start();
    const owner = freshOwner();

    const first = await sessions.createSession(owner);
    const second = await sessions.createSession(owner, { sessionId: '  ' });

    expect(first).toMatchObject({ ...owner, state: {}, events: [] });
    for (const { id } of [first, second]) expect(id).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
    expect(second.id).not.toBe(first.id);
    expect(Math.abs(first.lastUpdateTime - Date.now() / 1000)).toBeLessThan(600);
  });

  it('keeps a chosen id and refuses it the second time, leaving the first session alone', async () => {
    const sessions = await start();
    const owner = freshOwner();
    await sessions.createSession(owner, { sessionId: 's1', state: { kept: true } });

    await expect(sessions.createSession(owner, { sessionId: 's1' })).rejects.toMatchObject({ code: 'session_exists' });

    expect((await sessions.getSession({ ...owner, sessionId: 's1' }))?.state).toEqual({ kept: true });
  });

  it('keeps the blanks around a chosen id, and finds it with them only', async () => {
    const sessions = await start();
    const owner = freshOwner();

    const { id } = await sessions.createSession(owner, { sessionId: ' s1 ' });
    await sessions.createSession(owner, { sessionId: 's1 ', state: { other: true } });

    expect(id).toBe(' s1 ');
    expect(await sessions.getSession({ ...owner, sessionId: ' s1 ' })).toMatchObject({ id, state: {} });
    expect(await sessions.getSession({ ...owner, sessionId: 's1' })).toBeUndefined();
  });

  it('lets exactly one of many simultaneous creations of an id win', async () => {
    const sessions = await start();
    const owner = freshOwner();

    const attempts = Array.from({ length: 20 }, () => sessions.createSession(owner, { sessionId: 's1' }));
    const outcomes = await Promise.allSettled(attempts);

    const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(lost.map(({ reason }) => (reason as { code?: string }).code)).toEqual(Array(19).fill('session_exists'));
  });

  it.skipIf(idsByOwner !== undefined)(
    `keeps sessions of the same id apart by user and by app${because(idsByOwner)}`,
    async () => {
      const sessions = await start();
      const [one, other] = [freshOwner(), freshOwner()];
      await sessions.createSession(one, { sessionId: 's1', state: { who: 'one' } });
      await sessions.createSession({ ...one, userId: 'bob' }, { sessionId: 's1', state: { who: 'bob' } });
      await sessions.createSession(other, { sessionId: 's1', state: { who: 'other' } });

      expect((await sessions.getSession({ ...one, sessionId: 's1' }))?.state).toEqual({ who: 'one' });
      expect((await sessions.listSessions({ ...one, userId: 'bob' })).map(({ state }) => state)).toEqual([
        { who: 'bob' },
      ]);
    },
  );

  it('stores the events a session is created with, in order and with their state', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const events = [saying('one', { mood: 'grey', old: 1 }), saying('two', { mood: 'blue', old: null })];

    await sessions.createSession(owner, { sessionId: 's1', state: { mood: 'none' }, events });

    const session = await sessions.getSession({ ...owner, sessionId: 's1' });
    expect(session?.events).toEqual(events);
    expect(session?.state).toEqual({ mood: 'blue' });
  });

  it.skipIf(sharedState !== undefined)(
    `does not write the shared state of imported events again${because(sharedState)}`,
    async () => {
      const sessions = await start();
      const owner = freshOwner();
      await sessions.createSession(owner, { sessionId: 's1', state: { 'app:theme': 'new', 'user:lang': 'de' } });
      const event = saying('old', { 'app:theme': 'old', 'user:lang': 'en', own: 1 });

      const session = await sessions.createSession(owner, { sessionId: 's2', events: [event] });

      expect(session.state).toEqual({ 'app:theme': 'new', 'user:lang': 'de', own: 1 });
    },
  );

  it('keeps a session that was closed', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const session = await sessions.createSession(owner, { sessionId: 's1' });
    await sessions.appendEvent(session, saying('one'));

    await sessions.closeSession(session);

    expect((await sessions.getSession({ ...owner, sessionId: 's1' }))?.events).toHaveLength(1);
  });

  it('creates nothing from events of which two have the same id', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const event = saying('twice');

    const creation = sessions.createSession(owner, { sessionId: 's1', events: [event, { ...event }] });

    await expect(creation).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await sessions.listSessions(owner)).toEqual([]);
  });

  it('forgets a deleted session and takes the deletion of an unknown one calmly', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const key = { ...owner, sessionId: 's1' };
    const session = await sessions.createSession(owner, { sessionId: 's1' });
    await sessions.appendEvent(session, saying('hi'));

    await sessions.deleteSession(key);
    await sessions.deleteSession(key);

    expect(await sessions.getSession(key)).toBeUndefined();
    expect(await sessions.listSessions(owner)).toEqual([]);
    await expect(sessions.appendEvent(session, saying('late'))).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(sessions.listEvents(key)).rejects.toMatchObject({ code: 'session_not_found' });
    expect((await sessions.createSession(owner, { sessionId: 's1' })).events).toEqual([]);
  });

  it.skipIf(generations !== undefined)(
    `appends to no session that was created under the key of a deleted one${because(generations)}`,
    async () => {
      const sessions = await start();
      const owner = freshOwner();
      const key = { ...owner, sessionId: 's1' };
      const created = await sessions.createSession(owner, { sessionId: 's1' });
      await sessions.appendEvent(created, saying('old'));
      const read = await sessions.getSession(key);
      await sessions.deleteSession(key);
      const successor = await sessions.createSession(owner, { sessionId: 's1' });

      for (const old of [created, read!, { ...read! }]) {
        const late = sessions.appendEvent(old, saying('late', { mood: 'late' }));
        await expect(late).rejects.toMatchObject({ code: 'session_not_found' });
      }
      await sessions.deleteSession(key, read![generation]);
      await sessions.appendEvent(successor, saying('new'));

      const found = await sessions.getSession(key);
      expect(found).toMatchObject({ state: {}, events: [{ content: { parts: [{ text: 'new' }] } }] });
      await sessions.deleteSession(key, found![generation]);
      expect(await sessions.getSession(key)).toBeUndefined();
    },
  );

  it('lists sessions without their events', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const session = await sessions.createSession(owner, { sessionId: 's1' });
    await sessions.appendEvent(session, saying('hi', { title: 'talk' }));

    const [listed] = await sessions.listSessions(owner);

    expect(listed).toMatchObject({ id: 's1', ...owner, events: [], state: { title: 'talk' } });
    expect(listed?.lastUpdateTime).toBe(session.lastUpdateTime);
  });

  it('hides evaluation sessions from lists and finds them under any user of their app', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const sessionId = '___eval___session___42';
    await sessions.createSession(owner, { sessionId });

    expect(await sessions.listSessions(owner)).toEqual([]);
    expect((await sessions.getSession({ ...owner, userId: 'someone else', sessionId }))?.userId).toBe(owner.userId);
    expect(await sessions.getSession({ appName: freshOwner().appName, userId: owner.userId, sessionId })).toBe(
      undefined,
    );
  });
}
