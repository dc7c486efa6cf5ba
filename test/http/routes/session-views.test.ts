import { expect, it } from 'vitest';
import { textContent } from '../../../src/schemas/content.ts';
import { type Event, newActions } from '../../../src/schemas/event.ts';
import type { IndexedArtifact, OpenRequest, SessionSummaries } from '../../../src/schemas/extensions.ts';
import { listen, says, server, sessionPath } from '../server.ts';

const owner = { appName: 'demo', userId: 'u' };
const userSays = (text: string, timestamp = 1): Event =>
  says('', { author: 'user', content: textContent('user', text), timestamp });
const call = (name: string, args: object, fields: Partial<Event> = {}): Event => {
  const functionCall = { id: `adk-${name}`, name, args: { ...args } };
  return says('', {
    content: { role: 'model', parts: [{ functionCall }] },
    longRunningToolIds: [functionCall.id],
    ...fields,
  });
};
const answer = (name: string): Event => {
  const functionResponse = { id: `adk-${name}`, name, response: { ok: true } };
  return says('', { author: 'user', content: { role: 'user', parts: [{ functionResponse }] } });
};

async function running() {
  const { app, services } = await server();
  const base = await listen(app);
  const read = async <T>(path: string): Promise<T> => (await fetch(base + path)).json() as Promise<T>;
  const summaries = (query = ''): Promise<SessionSummaries> =>
    read(`/apps/demo/users/u/session-summaries${query && `?${query}`}`);
  return { ...services, read, summaries };
}

it('titles sessions by their name, else by the first words of the user, else by their id', async () => {
  const { sessions, summaries } = await running();
  const named = { __session_metadata__: { displayName: 'Mine', pinned: true } };
  const future = Date.now() / 1000 + 1_000;
  await sessions.createSession(owner, { sessionId: 'empty' });
  await sessions.createSession(owner, {
    sessionId: 'said',
    events: [userSays(`  Hi\n${'there '.repeat(30)}`, future)],
  });
  await sessions.createSession(owner, { sessionId: 'named', state: named, events: [userSays('Hello', future + 1)] });

  const { sessions: found, cursor } = await summaries();

  expect(found).toMatchObject([
    { id: 'named', title: 'Mine', titleSource: 'name', eventCount: 1, metadata: { pinned: true } },
    { id: 'said', titleSource: 'message', eventCount: 1, metadata: {}, lastUpdateTime: expect.closeTo(future, 3) },
    { id: 'empty', title: 'empty', titleSource: 'id', eventCount: 0 },
  ]);
  expect(found[1]?.title).toMatch(/^Hi there there.*there…$/);
  expect(found[1]?.title.length).toBeLessThanOrEqual(81);
  expect(cursor).toBeUndefined();
});

it('pages through summaries without repeating or losing one, whatever their times', async () => {
  const { sessions, summaries } = await running();
  const future = Date.now() / 1000 + 1_000;
  const ids = Array.from({ length: 11 }, (_, index) => `s${String(index).padStart(2, '0')}`);
  for (const sessionId of ids) await sessions.createSession(owner, { sessionId, events: [userSays('x', future)] });
  await sessions.createSession({ ...owner, userId: 'other' }, { sessionId: 'foreign' });

  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await summaries(`pageSize=4${cursor ? `&cursor=${cursor}` : ''}`);
    found.push(...page.sessions.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor);

  expect(found).toEqual(ids);
});

it('finds sessions by words in their title, id and events, and shows where', async () => {
  const { sessions, summaries } = await running();
  const before = 'long before '.repeat(20);
  await sessions.createSession(owner, { sessionId: 'trip', events: [userSays('A trip to Berlin')] });
  await sessions.createSession(owner, {
    sessionId: 'deep',
    events: [userSays('Hello'), says(`${before}the Weather of\n BERLIN is fine`), says('Bye')],
  });
  await sessions.createSession(owner, { sessionId: 'else', events: [userSays('Berlin'), says('weather')] });

  expect((await summaries('q=trip')).sessions).toMatchObject([{ id: 'trip' }]);
  const { sessions: found } = await summaries('q=berlin%20weather');
  expect(found).toMatchObject([{ id: 'deep', title: 'Hello' }]);
  expect(found[0]?.match).toMatch(/^….*the Weather of BERLIN is fine$/);
  expect((await summaries('q=nothing')).sessions).toEqual([]);
});

it('refuses a cursor it did not make', async () => {
  const { read } = await running();

  expect(await read('/apps/demo/users/u/session-summaries?cursor=nonsense')).toMatchObject({
    code: 'invalid_request',
    status: 400,
  });
});

it('lists the calls that wait for the user, and none that was answered or rewound', async () => {
  const { sessions, read } = await running();
  const original = { id: 'adk-1', name: 'book', args: { price: 412 } };
  const events = [
    call('adk_request_input', { message: 'Which day?', response_schema: { type: 'string' } }),
    call('adk_request_confirmation', {
      originalFunctionCall: original,
      toolConfirmation: { hint: 'Book?', payload: 1 },
    }),
    call('upload', {}),
    call('adk_request_credential', { authConfig: {} }),
    answer('adk_request_credential'),
    call('late', {}, { invocationId: 'e-2' }),
    says('', { author: 'user', invocationId: 'e-3', actions: { ...newActions(), rewindBeforeInvocationId: 'e-2' } }),
  ];
  await sessions.createSession(owner, { sessionId: 's', events });

  const { requests } = await read<{ requests: OpenRequest[] }>(`${sessionPath('s')}/pending-requests`);

  expect(requests).toEqual([
    expect.objectContaining({ kind: 'input', hint: 'Which day?', schema: { type: 'string' }, eventId: events[0]?.id }),
    expect.objectContaining({ kind: 'confirmation', hint: 'Book?', payload: 1, about: original, author: 'demo_agent' }),
    expect.objectContaining({ kind: 'longRunning', call: { id: 'adk-upload', name: 'upload', args: {} } }),
  ]);
  expect(await read(`${sessionPath('nobody')}/pending-requests`)).toMatchObject({ code: 'session_not_found' });
});

it('describes all artifacts of a session and its user in one answer', async () => {
  const { artifacts, read } = await running();
  const key = { ...owner, sessionId: 's' };
  await artifacts.saveArtifact(key, 'docs/plan.md', { text: 'Grüße' });
  await artifacts.saveArtifact(
    key,
    'docs/plan.md',
    { inlineData: { mimeType: 'text/markdown', data: 'aGk=' } },
    { by: 1 },
  );
  await artifacts.saveArtifact(key, 'user:photo', { fileData: { fileUri: 'gs://b/p', mimeType: 'image/png' } });
  await artifacts.saveArtifact({ ...key, sessionId: 'other' }, 'foreign', { text: 'x' });

  const { artifacts: found } = await read<{ artifacts: IndexedArtifact[] }>(`${sessionPath('s')}/artifact-index`);

  expect(found).toEqual([
    {
      name: 'docs/plan.md',
      scope: 'session',
      mimeType: 'text/markdown',
      size: 2,
      createTime: expect.any(Number),
      updateTime: expect.any(Number),
      versions: [
        { version: 0, mimeType: 'text/plain', size: 7, createTime: expect.any(Number), customMetadata: {} },
        { version: 1, mimeType: 'text/markdown', size: 2, createTime: expect.any(Number), customMetadata: { by: 1 } },
      ],
    },
    expect.objectContaining({ name: 'user:photo', scope: 'user', mimeType: 'image/png' }),
  ]);
  expect(found[1]).not.toHaveProperty('size');
});
