import { expect, it } from 'vitest';
import type { SessionService } from '../../core/services.ts';
import { keyOf } from '../../schemas/session.ts';
import { freshOwner, saying } from './events.ts';
import { because, type SessionExceptions } from './promises.ts';

/** The part of the session contract that is about state. Called inside the suite of `sessionServiceContract`. */
export function sessionStateContract(start: () => Promise<SessionService>, { sharedState }: SessionExceptions): void {
  it.skipIf(sharedState !== undefined)(
    `shares app state with all users of the app and user state with all sessions of the user${because(sharedState)}`,
    async () => {
      const sessions = await start();
      const ada = freshOwner();
      const bob = { ...ada, userId: 'bob' };
      await sessions.createSession(ada, {
        state: { 'app:theme': 'dark', 'user:name': 'Ada', topic: 'looms' },
      });

      const mine = await sessions.createSession(ada);
      const his = await sessions.createSession(bob);
      const elsewhere = await sessions.createSession(freshOwner());

      expect(mine.state).toEqual({ 'app:theme': 'dark', 'user:name': 'Ada' });
      expect(his.state).toEqual({ 'app:theme': 'dark' });
      expect(elsewhere.state).toEqual({});
    },
  );

  it.skipIf(sharedState !== undefined)(`carries a delta to each scope it names${because(sharedState)}`, async () => {
    const sessions = await start();
    const ada = freshOwner();
    const session = await sessions.createSession(ada);

    await sessions.appendEvent(session, saying('hi', { 'app:theme': 'dark', 'user:name': 'Ada', topic: 'looms' }));

    expect((await sessions.getSession(keyOf(session)))?.state).toEqual(session.state);
    expect((await sessions.createSession(ada)).state).toEqual({ 'app:theme': 'dark', 'user:name': 'Ada' });
    expect((await sessions.createSession({ ...ada, userId: 'bob' })).state).toEqual({ 'app:theme': 'dark' });
    expect((await sessions.listSessions(ada)).map(({ state }) => state['app:theme'])).toEqual(['dark', 'dark']);
  });

  it.skipIf(sharedState !== undefined)(
    `keeps app and user state when the session that set it is deleted${because(sharedState)}`,
    async () => {
      const sessions = await start();
      const ada = freshOwner();
      const session = await sessions.createSession(ada, {
        state: { 'app:theme': 'dark', 'user:name': 'Ada', topic: 1 },
      });

      await sessions.deleteSession(keyOf(session));

      expect((await sessions.createSession(ada)).state).toEqual({ 'app:theme': 'dark', 'user:name': 'Ada' });
    },
  );

  it('deletes a key whose new value is null or the removal marker', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner(), { state: { a: 1, b: 2, 'user:c': 3, 'app:d': 4 } });

    await sessions.appendEvent(
      session,
      saying('bye', { a: null, b: '__ADK_SENTINEL_REMOVED__', 'user:c': null, 'app:d': null, never: null }),
    );

    expect(session.state).toEqual({});
    expect((await sessions.getSession(keyOf(session)))?.state).toEqual({});
    expect((await sessions.createSession(session)).state).toEqual({});
  });

  it('leaves out keys of the initial state whose value is null or the removal marker', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const state = { a: null, b: '__ADK_SENTINEL_REMOVED__', 'user:c': null, 'app:d': null, e: 5 };

    const session = await sessions.createSession(owner, { state, events: [saying('hi', { mood: 'blue' })] });

    expect(session.state).toEqual({ e: 5, mood: 'blue' });
    const again = await sessions.getSession(keyOf(session));
    expect(again?.state).toEqual({ e: 5, mood: 'blue' });
    expect((await sessions.initialState?.(session)) ?? { e: 5 }).toEqual({ e: 5 });
  });

  it('drops temp keys of the initial state', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner(), { state: { 'temp:a': 1, b: 2 } });

    expect(session.state).toEqual({ b: 2 });
  });

  it('keeps temp keys in the live session only, not in the event and not in the store', async () => {
    const sessions = await start();
    const session = await sessions.createSession(freshOwner());

    const stored = await sessions.appendEvent(session, saying('hi', { 'temp:step': 1, mood: 'blue' }));

    expect(session.state).toEqual({ 'temp:step': 1, mood: 'blue' });
    expect(stored.actions.stateDelta).toEqual({ mood: 'blue' });
    expect(session.events[0]?.actions.stateDelta).toEqual({ mood: 'blue' });
    const again = await sessions.getSession(keyOf(session));
    expect(again?.state).toEqual({ mood: 'blue' });
    expect(again?.events[0]?.actions.stateDelta).toEqual({ mood: 'blue' });
  });

  it('keeps falsy values and empty containers', async () => {
    const sessions = await start();
    const values = { zero: 0, no: false, empty: '', list: [], map: {}, 'app:': 'bare prefix' };
    const session = await sessions.createSession(freshOwner(), { state: values });

    expect((await sessions.getSession(keyOf(session)))?.state).toEqual(values);
  });

  it('takes keys that name prototype members as plain keys', async () => {
    const sessions = await start();
    const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":2,"app:__proto__":{"polluted":1}}');
    const owner = { appName: '__proto__', userId: 'constructor' };
    const session = await sessions.createSession(owner, { state: hostile });
    await sessions.appendEvent(session, saying('hi', JSON.parse('{"user:__proto__":3,"hasOwnProperty":4}')));

    const { state } = (await sessions.getSession(keyOf(session)))!;

    expect(JSON.parse(JSON.stringify(state))).toEqual({ ...hostile, 'user:__proto__': 3, hasOwnProperty: 4 });
    expect(Object.getPrototypeOf(state)).toBe(Object.prototype);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    await sessions.appendEvent(
      session,
      saying('bye', JSON.parse('{"__proto__":null,"app:__proto__":null,"user:__proto__":null}')),
    );
    expect(Object.keys((await sessions.getSession(keyOf(session)))!.state).toSorted()).toEqual([
      'constructor',
      'hasOwnProperty',
    ]);
    await sessions.deleteSession(keyOf(session));
  });

  it('remembers the state a session was created with, if it remembers any', async () => {
    const sessions = await start();
    const owner = freshOwner();
    const state = { color: 'red', 'user:name': 'Ada', 'temp:x': 1, odd: '\0\ud800' };
    const session = await sessions.createSession(owner, { state, events: [saying('one', { color: 'blue', more: 1 })] });
    await sessions.appendEvent(session, saying('two', { color: 'green', odd: null }));
    const plain = await sessions.createSession(owner);

    const initial = await sessions.initialState?.((await sessions.getSession(keyOf(session)))!);

    expect([undefined, { color: 'red', odd: '\0\ud800' }]).toContainEqual(initial);
    expect((await sessions.initialState?.(plain)) ?? {}).toEqual({});
  });

  it("sees state the caller changes after the call as the caller's own", async () => {
    const sessions = await start();
    const state = { list: [1] };
    const session = await sessions.createSession(freshOwner(), { state });

    state.list.push(2);

    expect((await sessions.getSession(keyOf(session)))?.state).toEqual({ list: [1] });
  });
}
