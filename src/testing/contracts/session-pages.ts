import { expect, it } from 'vitest';
import type { EventPage, SessionService } from '../../core/services.ts';
import { freshOwner, saying } from './events.ts';

type Start = () => Promise<SessionService>;

/** The part of the session contract that is about reading a long history in pieces. */
export function pagingContract(start: Start): void {
  const longSession = async (count: number) => {
    const sessions = await start();
    const key = { ...freshOwner(), sessionId: 's1' };
    const events = Array.from({ length: count }, (_, index) => saying(`${index}`, {}, { id: `event-${index}` }));
    const session = await sessions.createSession(key, { sessionId: 's1', events });
    const read = async (page: EventPage) => {
      const { events: found, ...rest } = await sessions.listEvents(key, page);
      return { ids: found.map(({ id }) => Number(id.replace('event-', ''))), ...rest };
    };
    return { sessions, session, key, read };
  };

  it('reads a history from its end, page by page', async () => {
    const { read } = await longSession(7);

    const newest = await read({ pageSize: 3, order: 'desc' });
    const older = await read({ pageSize: 3, order: 'desc', pageToken: newest.nextPageToken! });
    const oldest = await read({ pageSize: 3, order: 'desc', pageToken: older.nextPageToken! });

    expect([newest.ids, older.ids, oldest.ids]).toEqual([[6, 5, 4], [3, 2, 1], [0]]);
    expect(oldest.nextPageToken).toBeUndefined();
    expect(newest.total).toBe(7);
  });

  it.each(['asc', 'desc'] as const)('ends a page with the event that reaches its bytes, in order %s', async (order) => {
    const { sessions, session, key } = await longSession(3);
    await sessions.appendEvent(session, saying('x'.repeat(40_000), {}, { id: 'large' }));
    await sessions.appendEvent(session, saying('small', {}, { id: 'last' }));
    const ids = async (maxBytes: number): Promise<string[][]> => {
      const pages: string[][] = [];
      let pageToken: string | undefined;
      do {
        const page = await sessions.listEvents(key, { maxBytes, order, ...(pageToken && { pageToken }) });
        pages.push(page.events.map(({ id }) => id));
        pageToken = page.nextPageToken;
      } while (pageToken);
      return pages;
    };

    expect(await ids(1)).toEqual(
      order === 'asc'
        ? [['event-0'], ['event-1'], ['event-2'], ['large'], ['last']]
        : [['last'], ['large'], ['event-2'], ['event-1'], ['event-0']],
    );
    expect(await ids(20_000)).toEqual(
      order === 'asc'
        ? [['event-0', 'event-1', 'event-2', 'large'], ['last']]
        : [
            ['last', 'large'],
            ['event-2', 'event-1', 'event-0'],
          ],
    );
  });

  it('reads a long session event by event where it can, as it reads it whole', async () => {
    const { sessions, key } = await longSession(600); // more than is read at a time
    for (const config of [{}, { numRecentEvents: 550 }, { numRecentEvents: 2 }, { afterTimestamp: 1e12 }]) {
      const whole = await sessions.getSession(key, config);
      const reading = (await sessions.readSession?.(key, config)) ?? whole;

      expect({ ...reading, events: await Array.fromAsync(reading?.events ?? []) }).toEqual(whole);
    }
  });

  it('keeps its place going down while events are appended', async () => {
    const { sessions, session, read } = await longSession(5);

    const newest = await read({ pageSize: 2, order: 'desc' });
    await sessions.appendEvent(session, saying('later', {}, { id: 'event-5' }));
    const older = await read({ pageSize: 2, order: 'desc', pageToken: newest.nextPageToken! });

    expect([newest.ids, older.ids]).toEqual([
      [4, 3],
      [2, 1],
    ]);
    expect([newest.total, older.total]).toEqual([5, 6]);
  });

  it('reads what came before and after an event, in both orders', async () => {
    const { read } = await longSession(40);
    const ids = async (page: EventPage): Promise<number[]> => (await read({ pageSize: 3, ...page })).ids;

    expect(await ids({ after: 'event-20' })).toEqual([21, 22, 23]);
    expect(await ids({ after: 'event-36', order: 'desc' })).toEqual([39, 38, 37]);
    expect(await ids({ before: 'event-20', order: 'desc' })).toEqual([19, 18, 17]);
    expect(await ids({ before: 'event-2' })).toEqual([0, 1]);
    expect(await ids({ from: 'event-20' })).toEqual([20, 21, 22]);
    expect(await ids({ from: 'event-20', order: 'desc' })).toEqual([20, 19, 18]);
    expect(await ids({ after: 'event-20', before: 'event-22' })).toEqual([21]);
    expect(await ids({ after: 'event-20', before: 'event-21' })).toEqual([]);
    expect(await ids({ after: 'event-30', before: 'event-20' })).toEqual([]);
    expect(await ids({ after: 'event-39' })).toEqual([]);
    expect(await ids({ before: 'event-0', order: 'desc' })).toEqual([]);
  });

  it('stays within its range from page to page', async () => {
    const { read } = await longSession(30);
    const up: EventPage = { after: 'event-9', before: 'event-15', pageSize: 3 };
    const down: EventPage = { ...up, order: 'desc' };

    const first = await read(up);
    const second = await read({ ...up, pageToken: first.nextPageToken! });
    const last = await read(down);
    const before = await read({ ...down, pageToken: last.nextPageToken! });

    expect([first.ids, second.ids, second.nextPageToken]).toEqual([[10, 11, 12], [13, 14], undefined]);
    expect([last.ids, before.ids, before.nextPageToken]).toEqual([[14, 13, 12], [11, 10], undefined]);
  });

  it('finds events that were appended as well as those it began with', async () => {
    const { sessions, session, read } = await longSession(20);
    await sessions.appendEvent(session, saying('20', {}, { id: 'event-20' }));
    await read({ after: 'event-20' });
    await sessions.appendEvent(session, saying('21', {}, { id: 'event-21' }));

    expect((await read({ after: 'event-20' })).ids).toEqual([21]);
    expect((await read({ from: 'event-21', order: 'desc', pageSize: 2 })).ids).toEqual([21, 20]);
  });

  it('refuses a page that refers to an event it does not have', async () => {
    const { sessions, key } = await longSession(3);

    for (const page of [{ after: 'nobody' }, { before: 'nobody' }, { from: 'nobody' }]) {
      await expect(sessions.listEvents(key, page)).rejects.toMatchObject({ code: 'event_not_found' });
    }
  });
}
