import { afterEach, describe, expect, it } from 'vitest';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { SessionService } from '../../src/core/services.ts';
import { saying } from '../../src/testing/contracts/events.ts';
import { type AdkEvent, adkEvent, adkSession, adkSessionHere } from '../support/adk-database.ts';

/** A database that ADK for TypeScript has open, too. */
export interface SharedWithAdk {
  /** Another session service of ours on the database. */
  readonly open: () => SessionService;
  /** What ADK does when it makes the tables, creates a session, appends and replaces an event, and deletes. */
  readonly makeTables: () => Promise<void>;
  readonly create: () => Promise<void>;
  readonly append: (event: AdkEvent) => Promise<void>;
  readonly replace: (event: AdkEvent) => Promise<void>;
  readonly deleteSession: () => Promise<void>;
  /** What ADK finds: events in the order of their times, in milliseconds, and the session's state. */
  readonly events: () => Promise<{ ms: number; data: Record<string, unknown> }[]>;
  readonly state: () => Promise<unknown>;
  /** Rows of ours that are left of sessions. */
  readonly leftovers: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** What a relational session store promises to those who use its database with ADK as well. */
export function adkDatabaseContract(name: string, connect: () => Promise<SharedWithAdk>): void {
  describe(`${name} shared with ADK`, () => {
    const connected: SharedWithAdk[] = [];
    const start = async (): Promise<SharedWithAdk> => {
      const adk = await connect();
      connected.push(adk);
      return adk;
    };
    afterEach(async () => {
      for (const adk of connected.splice(0)) await adk.close();
    });
    reading(start);
    writing(start);
  });
}

type Start = () => Promise<SharedWithAdk>;
const { key } = adkSession;
const { sessionId } = key;

function reading(start: Start): void {
  it('opens a database of ADK, in order and with its state', async () => {
    const adk = await start();
    await adk.makeTables();
    await adk.create();
    for (const event of adkSession.events) await adk.append(event);

    const session = await adk.open().getSession(key);

    expect(session).toMatchObject(adkSessionHere);
    expect(session?.state).toEqual(adkSessionHere.state);
  });

  it('reads a session with events that no schema would take, without what makes them so', async () => {
    const adk = await start();
    await adk.makeTables();
    await adk.create();
    const parts = [{ text: 'kept' }, null, { inline_data: { mime_type: 'image/png' } }];
    const odd = { content: { role: 'model', parts }, author: undefined, finish_reason: 7, usage_metadata: 'much' };
    await adk.append(adkEvent('odd', 1_795_291_522_900, odd));
    await adk.append(adkEvent('of-nobody', 1_795_291_522_901, { author: undefined }));

    const events = (await adk.open().getSession(key))?.events ?? [];

    expect(events.map(({ id, author }) => [id, author])).toEqual([
      ['odd', 'model'],
      ['of-nobody', 'user'],
    ]);
    expect(events[0]?.content?.parts).toEqual([{ text: 'kept' }, {}]);
    expect(events[0]).not.toHaveProperty('usageMetadata');
  });

  it('reads what ADK wrote as it stands, whatever characters we use ourselves to hide others', async () => {
    const adk = await start();
    await adk.makeTables();
    await adk.create();
    await adk.append(
      adkEvent('logo', 1_795_291_522_900, { content: { role: 'user', parts: [{ text: '\uf8ff2024' }] } }),
    );

    expect((await adk.open().getSession(key))?.events[0]?.content?.parts).toEqual([{ text: '\uf8ff2024' }]);
  });

  it('continues in turn with ADK, each reading what the other wrote, in one order', async () => {
    const adk = await start();
    await adk.makeTables();
    await adk.create();
    const [first, second, ...rest] = adkSession.events;
    await adk.append(first!);
    const sessions = adk.open();

    await sessions.appendEvent((await sessions.getSession(key))!, { ...saying('ours 1'), timestamp: 1 });
    await adk.append(second!);
    for (const text of ['ours 2', 'ours 3']) {
      await sessions.appendEvent((await sessions.getSession(key))!, saying(text));
    }
    for (const event of rest) await adk.append(event);

    const ids = (await sessions.getSession(key))?.events.map((event) => event.content?.parts[0]?.text ?? event.id);
    expect(ids).toEqual(['hi', 'ours 1', 'uMYzqbau', 'ours 2', 'ours 3', 'URplCCWI', 'Three 👋']);
    expect((await sessions.listEvents(key, { after: 'URplCCWI' })).events.map(({ id }) => id)).toEqual(['I8hKrnmX']);
  });

  it('sees an event that ADK replaced', async () => {
    const adk = await start();
    const sessions = adk.open();
    const session = await sessions.createSession(key, { sessionId });
    await sessions.appendEvent(session, saying('before', {}, { id: 'one' }));
    await sessions.getSession(key);
    await adk.replace(adkEvent('one', Date.now(), { content: { role: 'model', parts: [{ text: 'after' }] } }));

    expect((await sessions.getSession(key))?.events[0]?.content?.parts[0]?.text).toBe('after');
  });

  it('forgets what it kept of a session that ADK deleted, and takes the same id for a new one', async () => {
    const adk = await start();
    const sessions = adk.open();
    const session = await sessions.createSession(key, { sessionId });
    await sessions.appendEvent(session, saying('old'));
    await adk.deleteSession();
    expect(await sessions.getSession(key)).toBeUndefined();
    expect(await adk.leftovers()).toBe(0);

    await adk.create();
    await adk.append(adkSession.events[0]!);

    expect((await sessions.getSession(key))?.events.map(({ id }) => id)).toEqual(['10EwYzu9']);
  });
}

function writing(start: Start): void {
  it('leaves events that ADK reads: keys in snake_case but for data, its time in milliseconds, times that grow', async () => {
    const adk = await start();
    const sessions = adk.open();
    const session = await sessions.createSession(key, { sessionId, state: { topic: 'looms' } });
    const call = { functionCall: { name: 'add', args: { aB: 1, c_d: 2 } } };
    const content = { role: 'model', parts: [call, { text: '\uf8ff logo' }] };
    const event = newEvent({ invocationId: 'e-7' }, 'bot', { content });
    for (const given of [event, saying('same time', { aB: 1 }, { timestamp: event.timestamp })]) {
      await sessions.appendEvent(session, given);
    }

    const [first, second] = await adk.events();

    expect(first?.data).toMatchObject({
      id: event.id,
      invocation_id: 'e-7',
      timestamp: Math.floor(event.timestamp * 1000),
      content: { parts: [{ function_call: { name: 'add', args: { aB: 1, c_d: 2 } } }, { text: '\uf8ff logo' }] },
    });
    expect(second?.data).toMatchObject({ actions: { state_delta: { aB: 1 } } });
    expect(second!.ms).toBeGreaterThan(first!.ms);
    expect(await adk.state()).toEqual({ topic: 'looms', aB: 1 });
  });

  it('appends behind events that a session was created with, in the order of ADK too, whatever their times', async () => {
    const adk = await start();
    const sessions = adk.open();
    const ahead = Date.now() / 1000 + 5;
    const times = [ahead, 5, ahead, 1];
    const events = times.map((timestamp, index) => saying(`given ${index}`, {}, { timestamp }));
    const session = await sessions.createSession(key, { sessionId, events });
    await sessions.appendEvent(session, saying('appended'));

    const found = await adk.events();

    expect(found.map(({ data }) => data['id'])).toEqual(session.events.map(({ id }) => id));
    expect(new Set(found.map(({ ms }) => ms)).size).toBe(5);
  });

  it('leaves nothing of a session it deletes', async () => {
    const adk = await start();
    const sessions = adk.open();
    const session = await sessions.createSession(key, { sessionId });
    await sessions.appendEvent(session, saying('one'));
    await adk.append(adkSession.events[0]!);

    await sessions.deleteSession(key);

    expect(await adk.events()).toEqual([]);
    expect(await adk.leftovers()).toBe(0);
  });
}
