import { expect, it } from 'vitest';
import { isImported } from '../../core/events/imported-events.ts';
import type { SessionService } from '../../core/services.ts';
import type { Part } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import { type GetSessionConfig, keyOf } from '../../schemas/session.ts';
import { freshOwner, saying } from './events.ts';

type Start = () => Promise<SessionService>;

/** The part of the session contract that is about storing events. Called inside the suite of `sessionServiceContract`. */
export function appendingContract(start: Start): void {
  it('appends to the store and to the session it was given', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner());
    const event = saying('hi', { mood: 'blue' });

    const stored = await sessions.appendEvent(session, event);

    expect(stored).toEqual(event);
    expect(session.events).toEqual([event]);
    expect(session.state).toEqual({ mood: 'blue' });
    expect(await sessions.getSession(keyOf(session))).toEqual(session);
  });

  it('knows the events a client brought along from those that came later, wherever they are read', async () => {
    const sessions = await start();
    const events = [saying('one'), saying('two'), saying('three')];
    const created = await sessions.createSession(freshOwner(), { events, imported: 2 });
    const key = keyOf(created);
    const session = (await sessions.getSession(key))!;
    await sessions.appendEvent(session, saying('four'));

    const read = (await sessions.getSession(key))!;
    const recent = (await sessions.getSession(key, { numRecentEvents: 3 }))!;
    const page = await sessions.listEvents(key);

    const marks = [true, true, false, false];
    expect(created.events.map(isImported)).toEqual([true, true, false]);
    expect(session.events.map(isImported)).toEqual(marks);
    expect(read.events.map(isImported)).toEqual(marks);
    expect(recent.events.map(isImported)).toEqual(marks.slice(1));
    expect(page.events.map(isImported)).toEqual(marks);
    expect(JSON.stringify(read.events.slice(0, 3))).toBe(JSON.stringify(events));
  });

  it('returns a partial event unchanged and stores nothing of it', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner());
    const event = saying('h', { mood: 'blue' }, { partial: true });

    expect(await sessions.appendEvent(session, event)).toBe(event);

    expect(session).toMatchObject({ events: [], state: {} });
    expect(await sessions.getSession(keyOf(session))).toMatchObject({ events: [], state: {} });
  });

  it('refuses an event id it holds already', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner());
    const event = saying('hi', { count: 1 });
    await sessions.appendEvent(session, event);

    const again = sessions.appendEvent(session, saying('again', { count: 2 }, { id: event.id }));

    await expect(again).rejects.toMatchObject({ code: 'invalid_request' });
    const stored = await sessions.getSession(keyOf(session));
    expect(stored?.events).toEqual([event]);
    expect(stored?.state).toEqual({ count: 1 });
  });

  it('orders events by arrival, whatever their clocks say, and never moves its time back', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner());
    const late = saying('late', {}, { timestamp: session.lastUpdateTime + 3600 });
    const early = saying('early', {}, { timestamp: 12 });

    await sessions.appendEvent(session, late);
    await sessions.appendEvent(session, early);

    const stored = await sessions.getSession(keyOf(session));
    expect(stored?.events.map(({ id }) => id)).toEqual([late.id, early.id]);
    expect(stored?.lastUpdateTime).toBeCloseTo(late.timestamp, 3);
    expect(session.lastUpdateTime).toBe(stored?.lastUpdateTime);
  });

  it('keeps events of times that no calendar holds, and appends after them', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const events = [-1e300, 1e300, 12].map((timestamp) => saying(`${timestamp}`, {}, { timestamp }));

    const session = await sessions.createSession(owner, { sessionId: 's1', events: events.slice(0, 2) });
    await sessions.appendEvent(session, events[2]!);
    await sessions.appendEvent(session, saying('now'));

    const stored = await sessions.getSession(keyOf(session));
    expect(stored?.events.slice(0, 3)).toEqual(events);
    expect(stored?.lastUpdateTime).toBe(1e300);
  });

  it('keeps every field of an event, known or not', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner());
    const event = saying('Grüße, 世界 👋', { deep: { list: [1, { two: null }], 'snake_case kept': true } }, {
      branch: 'a.b',
      longRunningToolIds: ['adk-1'],
      usageMetadata: { totalTokenCount: 7 },
      customMetadata: { my_key: [1] },
      content: {
        role: 'model',
        parts: [
          { text: 'x', thought: true, thoughtSignature: 'c2ln' },
          { functionCall: { id: 'adk-1', name: 'add', args: { first_number: 1 } } },
          { newPart: { inner_field: 1 } } as Part,
        ],
      },
      newField: { inner_field: 1 },
    } as Partial<Event>);

    await sessions.appendEvent(session, structuredClone(event));

    expect((await sessions.getSession(keyOf(session)))?.events).toEqual([event]);
  });
}

/** The part about handing sessions and events out. */
export function readingContract(start: Start): void {
  it('hands out sessions that share no array and no map with the store', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner(), { state: { mood: 'grey' } });
    await sessions.appendEvent(session, saying('hi'));
    const copy = await sessions.getSession(keyOf(session));

    copy!.events.length = 0;
    copy!.state.mood = 'edited';
    copy!.state.extra = true;

    expect(await sessions.getSession(keyOf(session))).toMatchObject({ state: { mood: 'grey' }, events: [{}] });
    expect((await sessions.getSession(keyOf(session)))?.state).not.toHaveProperty('extra');
  });

  it('hands out events and state values that cannot be changed', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner(), { state: { list: [1] } });
    await sessions.appendEvent(session, saying('hi', { map: { a: 1 } }));

    const { events, state } = (await sessions.getSession(keyOf(session)))!;

    expect(() => Object.assign(events[0]!, { author: 'mallory' })).toThrow(TypeError);
    expect(() => events[0]!.content!.parts.pop()).toThrow(TypeError);
    expect(() => (state.list as number[]).push(2)).toThrow(TypeError);
    expect(() => Object.assign(state.map as object, { b: 2 })).toThrow(TypeError);
  });

  it('answers undefined for a session it does not know', async () => {
    const sessions = await start();
    expect(await sessions.getSession({ ...freshOwner(), sessionId: 'nobody' })).toBeUndefined();
  });

  it('narrows a history by count first and by time then, the boundary included', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const key = { ...owner, sessionId: 's1' };
    const events = [10, 40, 20, 30].map((timestamp) => saying(`at ${timestamp}`, {}, { timestamp }));
    await sessions.createSession(owner, { sessionId: 's1', events });
    const times = async (config: GetSessionConfig): Promise<number[] | undefined> =>
      (await sessions.getSession(key, config))?.events.map(({ timestamp }) => timestamp);

    expect(await times({ numRecentEvents: 2 })).toEqual([20, 30]);
    expect(await times({ numRecentEvents: 99 })).toEqual([10, 40, 20, 30]);
    expect(await times({ numRecentEvents: 0 })).toEqual([10, 40, 20, 30]);
    expect(await times({ afterTimestamp: 20 })).toEqual([40, 20, 30]);
    expect(await times({ numRecentEvents: 2, afterTimestamp: 30 })).toEqual([30]);
  });

  it('pages through events in stored order, also while more arrive', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const key = { ...owner, sessionId: 's1' };
    const events = Array.from({ length: 5 }, (_, index) => saying(`${index}`));
    const session = await sessions.createSession(owner, { sessionId: 's1', events });

    const first = await sessions.listEvents(key, { pageSize: 3 });
    const last = saying('5');
    await sessions.appendEvent(session, last);
    const second = await sessions.listEvents(key, { pageSize: 3, pageToken: first.nextPageToken! });

    expect(first.events).toEqual(events.slice(0, 3));
    expect(second.events).toEqual([...events.slice(3), last]);
    expect(second.nextPageToken).toBeUndefined();
    expect((await sessions.listEvents(key)).events).toHaveLength(6);
    expect([first.total, second.total]).toEqual([5, 6]);
  });

  it('refuses a page token it did not make and a page size below one', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const key = { ...owner, sessionId: 's1' };
    await sessions.createSession(owner, { sessionId: 's1' });

    for (const page of [{ pageToken: 'nonsense' }, { pageToken: '' }, { pageSize: 0 }, { pageSize: 1.5 }]) {
      await expect(sessions.listEvents(key, page)).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });
}
