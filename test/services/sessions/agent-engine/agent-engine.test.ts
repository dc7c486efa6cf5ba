import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../../../../src/schemas/session.ts';
import { AgentEngineSessions } from '../../../../src/services/sessions/agent-engine/agent-engine.ts';
import { VertexApi } from '../../../../src/services/vertex/vertex-api.ts';
import { freshOwner, saying } from '../../../../src/testing/contracts/events.ts';
import { sessionServiceContract } from '../../../../src/testing/contracts/sessions.ts';
import { cloudToken } from '../../../../src/tools/auth/machine-token.ts';
import { retentionContract } from '../../../contracts/retention.ts';
import { AgentEngineDouble } from '../../../support/vertex-double.ts';

// The REST API against a double; against a real engine with TEST_AGENT_ENGINE=projects/…/reasoningEngines/ID.
const real = process.env['TEST_AGENT_ENGINE'];
if (real === undefined) console.info('Agent Engine: a local double; TEST_AGENT_ENGINE names a real one');
let double: AgentEngineDouble;
beforeAll(async () => {
  double = await AgentEngineDouble.start();
});
afterAll(() => double.close());

let engines = 0;
const engine = (resource: string): AgentEngineSessions => {
  const [, project = '', , location = ''] = resource.split('/');
  const access = real === undefined ? { baseUrl: double.http.url } : { token: cloudToken() };
  return new AgentEngineSessions(new VertexApi({ project, location, resource }, access));
};
const named = (id: number): string => `projects/p/locations/eu/reasoningEngines/${id}`;
const open = (): AgentEngineSessions => engine(real ?? named((engines += 1)));

sessionServiceContract('Agent Engine', open, {
  idsByOwner: 'an engine has one space of ids',
  sharedState: 'Agent Engine keeps state by session',
});
if (real === undefined) retentionContract('Agent Engine', async () => open(), { ownClock: true });
else console.info('Agent Engine as an archive: not run, the tests would delete what is in the real engine');

describe.skipIf(real !== undefined)('With a double (a real engine cannot be told to fail)', () => {
  const start = async (): Promise<{ sessions: AgentEngineSessions; resource: string }> => {
    const sessions = open();
    return { sessions, resource: named(engines) };
  };
  const kept = (resource: string, id: string) => double.sessions.get(`${resource}/sessions/${id}`)!;

  it('sends what other servers read, and keeps its own account from users', async () => {
    const { sessions, resource } = await start();
    const session = await sessions.createSession(freshOwner(), { sessionId: 's1', state: { mood: 'grey' } });
    const event = saying('hi', { mood: 'blue', gone: null }, { branch: 'a.b', longRunningToolIds: ['x'] });

    await sessions.appendEvent(session, event);

    expect(kept(resource, 's1').events).toMatchObject([
      {
        author: 'poet',
        invocationId: 'e-1',
        content: { role: 'model', parts: [{ text: 'hi' }] },
        eventMetadata: { branch: 'a.b', longRunningToolIds: ['x'], partial: false },
        actions: { stateDelta: { mood: 'blue', gone: null } },
        rawEvent: event,
      },
    ]);
    const read = await sessions.getSession(keyOf(session));
    expect([read?.state, read?.events[0]?.actions.stateDelta]).toEqual([
      { mood: 'blue' },
      { mood: 'blue', gone: null },
    ]);
    await sessions.close();
  });

  it('reads and continues sessions of other servers, in any app', async () => {
    const { sessions, resource } = await start();
    const time = '2026-01-01T10:00:00.5Z';
    const name = `${resource}/sessions/77`;
    const said = {
      name: `${name}/events/5`,
      author: 'clerk',
      invocationId: 'e-9',
      timestamp: time,
      content: { role: 'model', parts: [{ text: 'hello' }] },
      eventMetadata: { branch: 'root', turnComplete: true },
      actions: { transferAgent: 'other' },
    };
    const session = { name, userId: 'ada', createTime: time, updateTime: time };
    double.sessions.set(name, { session, state: { mood: 'grey', gone: null }, events: [said] });
    const key = { appName: 'any', userId: 'ada', sessionId: '77' };

    const found = await sessions.getSession(key);
    await sessions.appendEvent(structuredClone(found!), saying('ours'));

    expect(found?.events[0]).toMatchObject({ id: '5', author: 'clerk', branch: 'root', timestamp: 1_767_261_600.5 });
    expect(found).toMatchObject({ state: { mood: 'grey' }, lastUpdateTime: 1_767_261_600.5 });
    expect(found?.events[0]?.actions.transferToAgent).toBe('other');
    expect((await sessions.getSession({ ...key, appName: 'other' }))?.events).toHaveLength(2);
    expect(await sessions.getSession({ ...key, userId: 'bob' })).toBeUndefined();
    expect(await sessions.outdatedSessions({ sessionTtlMs: -1e9 }, 10)).toEqual([]);
    await sessions.close();
  });

  it('refuses an id that another app or user has, and shows nobody else what is there', async () => {
    const { sessions } = await start();
    const owner = freshOwner();
    await sessions.createSession(owner, { sessionId: 's1' });

    for (const other of [freshOwner(), { ...owner, userId: 'bob' }]) {
      const taken = sessions.createSession(other, { sessionId: 's1' });
      await expect(taken).rejects.toMatchObject({ code: 'session_exists' });
      expect(await sessions.getSession({ ...other, sessionId: 's1' })).toBeUndefined();
      await sessions.deleteSession({ ...other, sessionId: 's1' });
      const claimed = { ...other, id: 's1', state: {}, events: [], lastUpdateTime: 0 };
      await expect(sessions.appendEvent(claimed, saying('not mine'))).rejects.toMatchObject({
        code: 'session_not_found',
      });
    }

    expect(await sessions.getSession({ ...owner, sessionId: 's1' })).toBeDefined();
    await sessions.close();
  });

  it('takes ids that the service does not take', async () => {
    const { sessions } = await start();
    const owner = freshOwner();
    const sessionId = 'Größe_1.'.repeat(30);

    const session = await sessions.createSession(owner, { sessionId });
    await sessions.appendEvent(session, saying('hi'));

    expect((await sessions.getSession({ ...owner, sessionId }))?.events).toHaveLength(1);
    expect((await sessions.listSessions(owner)).map(({ id }) => id)).toEqual([sessionId]);
    await sessions.close();
  });

  it('stores an event once when answers are lost', async () => {
    const { sessions, resource } = await start();
    const session = await sessions.createSession(freshOwner(), { sessionId: 's1' });

    double.lostAnswers = 1;
    await sessions.appendEvent(session, saying('one'));

    expect(kept(resource, 's1').events).toHaveLength(1);
    await sessions.close();
  });

  it('loses and doubles nothing when several servers append at the same time', async () => {
    const [one, other] = [open(), engine(named(engines))];
    const session = await one.createSession(freshOwner(), { sessionId: 's1' });

    const appends = Array.from({ length: 20 }, (_, index) =>
      [one, other][index % 2]!.appendEvent(structuredClone(session), saying(`${index}`, { [`key${index}`]: index })),
    );
    await Promise.all(appends);

    const stored = await other.getSession(keyOf(session));
    const texts = stored?.events.map(({ content }) => Number(content?.parts[0]?.text)) ?? [];
    expect(Object.keys(stored!.state)).toHaveLength(20);
    expect(texts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    // Each server's own are in order.
    for (const rest of [0, 1]) {
      const own = texts.filter((index) => index % 2 === rest);
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
    await one.close();
    await other.close();
  });

  it('says that it is unavailable, and that an engine does not exist', async () => {
    const { sessions } = await start();
    double.outage = 503;
    await expect(sessions.check()).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 });
    double.outage = 404;
    await expect(sessions.check()).rejects.toMatchObject({
      code: 'unavailable',
      message: `"${named(engines)}" does not exist`,
    });
    double.outage = 400;
    await expect(sessions.check()).rejects.toMatchObject({ code: 'invalid_request' });
    double.outage = undefined;
    await sessions.check();
    await sessions.close();
  });

  it('stops waiting for an operation when it is closed', async () => {
    const { sessions } = await start();
    double.looks = 1e6;
    const creation = Promise.allSettled([sessions.createSession(freshOwner())]);

    await double.http.received(double.http.requests.length + 2);
    await sessions.close();

    expect(await creation).toMatchObject([{ status: 'rejected', reason: { code: 'unavailable' } }]);
    double.looks = 1;
  });
});
