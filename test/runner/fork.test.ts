import { expect, it, vi } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { Agent, Tool } from '../../src/core/runtime.ts';
import type { Part } from '../../src/schemas/content.ts';
import { functionResponses, newActions } from '../../src/schemas/event.ts';
import { RunRequest } from '../../src/schemas/run.ts';
import { keyOf, type SessionKey } from '../../src/schemas/session.ts';
import { open, runAll, say, testRunner } from '../support/run.ts';

const weather: Tool = {
  kind: 'tool',
  name: 'get_weather',
  description: 'Weather',
  declaration: { name: 'get_weather', description: 'Weather' },
  run: (_args, ctx) => {
    ctx.state.set('asked', true);
    return { report: 'sunny' };
  },
};
const forecaster = (): Agent =>
  llmAgent({
    name: 'root',
    tools: [weather],
    script: [{ after: 'get_weather', text: 'It is ${get_weather.report}.' }, { calls: [{ name: 'get_weather' }] }],
  });

async function afterOneTurn() {
  const { runner, key, services } = await testRunner(forecaster());
  const events = await runAll(runner, say(key, 'Weather?'));
  const stored = (await services.sessions.getSession(key))!.events;
  return { runner, key, services, events, stored };
}

it('runs on in a fork from a tool result as it might have been', async () => {
  const { runner, key, services, stored } = await afterOneTurn();
  const answered = stored.find((event) => functionResponses(event).length > 0)!;
  const [response] = functionResponses(answered);
  const content = { role: 'user', parts: [{ functionResponse: { ...response!, response: { report: 'stormy' } } }] };

  const fork = await runner.fork(key, { eventId: answered.id, content });
  const request = RunRequest.parse({ ...keyOf(fork), invocationId: answered.invocationId });
  const events = await Array.fromAsync(await runner.start(request, open));

  expect(events.map((event) => event.content?.parts)).toEqual([[{ text: 'It is stormy.' }]]);
  expect(fork.events.map(({ id }) => id).slice(0, -1)).toEqual(
    stored.slice(0, fork.events.length - 1).map(({ id }) => id),
  );
  expect(fork.events.at(-1)?.id).not.toBe(answered.id);
  expect((await services.sessions.getSession(key))?.events).toEqual(stored);
});

it('makes a call again in a fork that holds it with other arguments', async () => {
  const asked: unknown[] = [];
  const run: Tool['run'] = ({ city }) => {
    asked.push(city);
    return { report: String(city) };
  };
  const script = [
    { after: 'get_weather', text: 'It is ${get_weather.report}.' },
    { calls: [{ name: 'get_weather', args: { city: 'Rome' } }] },
  ];
  const { runner, key } = await testRunner(llmAgent({ name: 'root', tools: [{ ...weather, run }], script }));
  const [calling] = await runAll(runner, say(key, 'Weather?'));
  const [part] = calling!.content!.parts;
  const content = { role: 'model', parts: [{ functionCall: { ...part!.functionCall!, args: { city: 'Oslo' } } }] };

  const fork = await runner.fork(key, { eventId: calling!.id, content });
  const request = RunRequest.parse({ ...keyOf(fork), invocationId: calling!.invocationId });
  const events = await Array.fromAsync(await runner.start(request, open));

  expect(asked).toEqual(['Rome', 'Oslo']);
  expect(events.at(-1)?.content?.parts).toEqual([{ text: 'It is Oslo.' }]);
});

it('forks before an event, even before the first', async () => {
  const { runner, key, stored } = await afterOneTurn();

  const before = await runner.fork(key, { beforeEventId: stored[2]!.id });
  const empty = await runner.fork(key, { beforeEventId: stored[0]!.id });

  expect(before.events).toEqual(stored.slice(0, 2));
  expect(before.state).toEqual({});
  expect(empty.events).toEqual([]);
});

it('forks with a state of its own, also over what the history wrote', async () => {
  const { runner, key, services } = await testRunner(forecaster());
  const session = (await services.sessions.getSession(key))!;
  const write = (stateDelta: Record<string, unknown>) =>
    services.sessions.appendEvent(
      session,
      newEvent({ invocationId: 'e-1' }, 'user', { actions: { ...newActions(), stateDelta } }),
    );
  await write({ plan: 'A', kept: 1, gone: 2 });
  await write({ more: 3 });

  const changed = await runner.fork(key, { state: { plan: 'B', gone: null, extra: [1] } });
  const plain = await runner.fork(key, { state: { extra: [1] } });

  expect(changed.state).toEqual({ plan: 'B', kept: 1, more: 3, extra: [1] });
  expect((await services.sessions.getSession(keyOf(changed)))?.state).toEqual(changed.state);
  expect(plain.events.map(({ id }) => id)).toEqual(session.events.map(({ id }) => id));
  expect((await services.sessions.getSession(key))?.state).toEqual({ plan: 'A', kept: 1, gone: 2, more: 3 });
});

it('deletes keys of the state by null and by the removal marker, in its request and in the events it keeps', async () => {
  const removed = '__ADK_SENTINEL_REMOVED__';
  const { runner, key, services } = await testRunner(forecaster());
  const owner = { appName: key.appName, userId: key.userId };
  const session = await services.sessions.createSession(owner, { state: { plan: 'A', note: 'B', left: 'C' } });
  const actions = { ...newActions(), stateDelta: { left: removed } };
  await services.sessions.appendEvent(session, newEvent({ invocationId: 'e-1' }, 'root', { actions }));

  const fork = await runner.fork(keyOf(session), { state: { plan: removed, note: null } });

  expect(fork.state).toEqual({});
  expect(await services.sessions.initialState?.(fork)).toEqual({ left: 'C' });
});

it('leads back to the state a session was created with, in forks, their forks, and rewinds', async () => {
  const { runner, services } = await testRunner(forecaster());
  const owner = { appName: 'app', userId: 'u' };
  const session = await services.sessions.createSession(owner, { state: { color: 'red', size: 'S' } });
  const write = (invocationId: string, stateDelta: Record<string, unknown>) =>
    services.sessions.appendEvent(
      session,
      newEvent({ invocationId }, 'user', { actions: { ...newActions(), stateDelta } }),
    );
  const first = await write('e-1', { color: 'blue', size: null });
  await write('e-2', { color: 'green', shape: 'round' });

  const early = await runner.fork(keyOf(session), { beforeEventId: first.id });
  const late = await runner.fork(keyOf(session), {});
  const again = await runner.fork(keyOf(late), { eventId: first.id });
  const back = await runner.rewind(keyOf(late), 'e-1');
  const whole = await runner.rewind(keyOf(session), 'e-1');

  expect(early.state).toEqual({ color: 'red', size: 'S' });
  expect(late.state).toEqual({ color: 'green', shape: 'round' });
  expect(again.state).toEqual({ color: 'blue' });
  expect(back.state).toEqual({ color: 'red', size: 'S' });
  expect(whole.state).toEqual({ color: 'red', size: 'S' });
});

it('copies artifacts under the numbers they have, with what is noted of them', async () => {
  const { runner, services, key } = await testRunner(forecaster());
  const artifacts = services.artifacts!;
  const session = (await services.sessions.getSession(key))!;
  for (const text of ['one', 'two', 'three', 'four']) {
    await artifacts.saveArtifact(key, 'note', { text }, { text });
  }
  await artifacts.collectGarbage!({ keep: 2 }, { signal: open, isTrial: false });
  const actions = { ...newActions(), artifactDelta: { note: 2 } };
  await services.sessions.appendEvent(session, newEvent({ invocationId: 'e-1' }, 'root', { actions }));

  const fork = keyOf(await runner.fork(key, {}));

  const versions = await artifacts.listVersions(fork, 'note');
  expect(versions.map(({ version, customMetadata }) => [version, customMetadata])).toEqual([[2, { text: 'three' }]]);
  expect(await artifacts.loadArtifact(fork, 'note', 2)).toEqual({ text: 'three' });
});

it('refuses to change an event that a fork does not keep, and events nobody knows', async () => {
  const { runner, key, stored } = await afterOneTurn();
  const fork = (request: Parameters<typeof runner.fork>[1], of: SessionKey = key) => runner.fork(of, request);

  await expect(fork({ beforeEventId: stored[0]!.id, content: { parts: [] } })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  await expect(fork({ beforeEventId: 'nobody' })).rejects.toMatchObject({ code: 'event_not_found' });
});

it('lets a client that may not import change in a fork only what its user said', async () => {
  const { runner, key, stored } = await afterOneTurn();
  const asked = stored[0]!;
  const forkWith = (eventId: string, part: Part) =>
    runner.fork(key, { eventId, content: { role: 'model', parts: [part] }, userEventsOnly: true });

  for (const { id } of stored.slice(1)) {
    await expect(forkWith(id, { text: 'Yes, free of charge' })).rejects.toMatchObject({ code: 'import_not_allowed' });
  }
  await expect(forkWith(asked.id, { functionCall: { name: 'get_weather' } })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  const fork = await forkWith(asked.id, { text: 'And tomorrow?' });
  expect(fork.events.at(-1)?.content).toEqual({ role: 'user', parts: [{ text: 'And tomorrow?' }] });
});

it('makes no fork of a session that is deleted meanwhile', async () => {
  const { runner, services, key } = await testRunner(forecaster());
  const artifacts = services.artifacts!;
  const session = (await services.sessions.getSession(key))!;
  await artifacts.saveArtifact(key, 'note', { text: 'one' });
  const actions = { ...newActions(), artifactDelta: { note: 0 } };
  await services.sessions.appendEvent(session, newEvent({ invocationId: 'e-1' }, 'root', { actions }));
  const list = artifacts.listVersions.bind(artifacts);
  vi.spyOn(artifacts, 'listVersions').mockImplementation(async (...asked) => {
    await services.sessions.deleteSession(key);
    await services.sessions.createSession(key, { sessionId: key.sessionId });
    return list(...asked);
  });

  const fork = runner.fork(key, { sessionId: 'fork' });

  await expect(fork).rejects.toMatchObject({ code: 'session_not_found' });
  expect(await services.sessions.getSession({ ...key, sessionId: 'fork' })).toBeUndefined();
  expect(await artifacts.listArtifactKeys({ ...key, sessionId: 'fork' })).toEqual([]);
});
