import { expect, it } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';
import { textContent } from '../../../src/schemas/content.ts';
import { type CallerName, knowingServer, problemIn, runOf, secretDescription, secretInstruction } from './scene.ts';

type Server = Awaited<ReturnType<typeof knowingServer>>;

interface TraceList {
  readonly traces: { readonly traceId: string; readonly userId: string; readonly appName: string }[];
}

/** A server on which ada and bob have each had a run in a session `s`, and the ids of what came of ada's. */
async function withRuns() {
  const server = await knowingServer();
  const { call } = server;
  await call('bob', 'POST /run', runOf('bob'));
  const run = await call('ada', 'POST /run', runOf('ada'));
  const [event] = JSON.parse(run.text) as { id: string }[];
  await call('ada', 'POST /apps/demo/users/ada/sessions/s/artifacts', { filename: 'm', artifact: { text: 'x' } });
  const traces = await tracesSeenBy(server, 'ada');
  const traceId = traces[0]?.traceId ?? '';
  const trace = await call('ada', `GET /traces/${traceId}`);
  const { spans } = JSON.parse(trace.text) as { spans: { span_id: string }[] };
  return {
    ...server,
    ids: {
      eventId: event?.id ?? '',
      traceId,
      spanId: spans[0]?.span_id ?? '',
      runId: run.headers.get('x-run-id') ?? '',
    },
  };
}

const tracesSeenBy = async ({ call }: Pick<Server, 'call'>, name: CallerName, query = '') =>
  (JSON.parse((await call(name, `GET /traces${query}`)).text) as TraceList).traces;

it('answers for ids of others as for ids that do not exist', async () => {
  const { call, ids } = await withRuns();
  const { eventId, traceId, spanId, runId } = ids;
  const bobs = '/apps/demo/users/bob/sessions';
  const pairs: [string, string][] = [
    [`/traces/${traceId}`, '/traces/none'],
    [`/traces/${traceId}/spans/${spanId}`, `/traces/none/spans/${spanId}`],
    [`${bobs}/s/runs/${runId}`, `${bobs}/s/runs/none`],
    [`${bobs}/s/runs/${runId}/stream`, `${bobs}/s/runs/none/stream`],
    [`${bobs}/s/runs/${runId}/wait`, `${bobs}/s/runs/none/wait`],
    [`${bobs}/s/artifacts/m`, `${bobs}/s/artifacts/m2`],
  ];
  for (const [foreign, missing] of pairs) {
    const [one, other] = [await call('bob', `GET ${foreign}`), await call('bob', `GET ${missing}`)];
    const alike = (text: string): string =>
      [...Object.values(ids), 'none', ': m2', ': m']
        .reduce((shown, id) => shown.replaceAll(id, ''), text)
        .replaceAll(/"(?:requestId|instance)":"[^"]*"/g, '');
    expect([foreign, one.status]).toEqual([foreign, 404]);
    expect([foreign, one.status, alike(one.text)]).toEqual([foreign, other.status, alike(other.text)]);
    expect([...one.headers.keys()].toSorted()).toEqual([...other.headers.keys()].toSorted());
  }
  const cancel = await call('bob', `POST ${bobs}/s/runs/${runId}/cancel`, {});
  expect(problemIn(cancel)).toMatchObject({ status: 404, code: 'run_not_found' });
  const event = await call('bob', `GET /debug/trace/${eventId}`);
  expect(problemIn(event)).toMatchObject({ status: 404, code: 'trace_not_found' });
});

it('shows traces to their users, to operators, and to nobody else', async () => {
  const server = await withRuns();
  const { call, ids } = server;
  const users = async (name: CallerName, query = '') =>
    (await tracesSeenBy(server, name, query)).map(({ userId }) => userId).toSorted();

  expect(await users('ada')).toEqual(['ada']);
  expect(await users('developer')).toEqual(['ada']);
  expect(await users('otherDeveloper')).toEqual([]);
  expect(await users('operator')).toEqual(['ada', 'bob']);
  expect(await users('operator', '?userId=bob')).toEqual(['bob']);
  expect(await users('backend')).toEqual(['ada', 'bob']);
  expect(await users('elsewhere')).toEqual([]);
  expect((await call('bob', 'GET /traces?user_id=ada')).status).toBe(403);
  for (const path of ['/debug/trace/session/s', '/dev/apps/demo/debug/trace/session/s']) {
    const seen = async (name: CallerName) => new Set((await call(name, `GET ${path}`)).text.match(/"trace_id":"\w+"/g));
    expect([...(await seen('ada'))]).toEqual([`"trace_id":"${ids.traceId}"`]);
    expect((await seen('bob')).has(`"trace_id":"${ids.traceId}"`)).toBe(false);
    expect((await seen('bob')).size).toBe(1);
    expect((await seen('operator')).size).toBe(2);
    expect((await seen('otherDeveloper')).size).toBe(0);
  }
  const spans = (await call('bob', 'GET /dev/apps/demo/sessions/s/spans')).text;
  expect(spans).not.toContain(ids.traceId);
  expect((await call('ada', 'GET /dev/apps/demo/sessions/s/spans')).text).toContain(ids.traceId);
  expect((await call('operator', `GET /traces/${ids.traceId}`)).status).toBe(200);
  expect((await call('elsewhere', `GET /traces/${ids.traceId}`)).status).toBe(404);
});

it('keeps the idempotency keys of users apart', async () => {
  const { url, call } = await knowingServer();
  const run = async (name: CallerName, userId: string) => {
    const answer = await fetch(`${url}/run`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': 'k',
        authorization: `Bearer ${name}-credential`,
      },
      body: JSON.stringify(runOf(userId)),
    });
    await answer.text();
    return {
      status: answer.status,
      run: answer.headers.get('x-run-id'),
      again: answer.headers.get('idempotency-replayed'),
    };
  };
  const first = await run('ada', 'ada');
  expect(await run('ada', 'ada')).toEqual({ ...first, again: 'true' });
  const others = await run('bob', 'bob');
  expect(others).toMatchObject({ status: 200, again: null });
  expect(others.run).not.toBe(first.run);
  expect((await run('bob', 'ada')).status).toBe(403);
  expect((await call('bob', `GET /apps/demo/users/bob/sessions/s/runs/${first.run ?? ''}`)).status).toBe(404);
});

it.each(['fork', 'rewind'])('lets users %s their own sessions only', async (action) => {
  const { call, ids } = await withRuns();
  const body = action === 'fork' ? {} : { invocationId: ids.runId };
  const path = (userId: string): string => `POST /apps/demo/users/${userId}/sessions/s/${action}`;

  expect((await call('bob', path('ada'), body)).status).toBe(403);
  expect((await call('ada', path('ada'), body)).status).toBe(200);
});

it('writes the state of an app for operators, and imports histories for developers', async () => {
  const { call } = await knowingServer();
  const create = (name: CallerName, userId: string, body: object) =>
    call(name, `POST /apps/demo/users/${userId}/sessions`, body);
  const state = { 'app:motd': 'mine' };
  const events = [newEvent({ invocationId: 'e-0' }, 'user', { content: textContent('user', 'Hi') })];

  for (const name of ['ada', 'developer', 'backend'] as const) {
    const answer = await create(name, 'ada', { state });
    expect([name, problemIn(answer)]).toMatchObject([name, { code: 'app_state_not_allowed', status: 403 }]);
  }
  const run = await call('ada', 'POST /run', runOf('ada', { stateDelta: state }));
  expect(problemIn(run)).toMatchObject({ code: 'app_state_not_allowed' });
  expect((await create('operator', 'ada', { state })).status).toBe(200);
  expect(problemIn(await create('ada', 'ada', { events }))).toMatchObject({
    code: 'import_not_allowed',
    detail: 'Clients may not import events. This needs the role "developer"',
  });
  expect((await create('developer', 'ada', { events })).status).toBe(200);
});

it('shows model requests in traces to developers and operators only', async () => {
  const { call, ids } = await withRuns();
  const { spans } = JSON.parse((await call('operator', `GET /traces/${ids.traceId}`)).text) as {
    spans: { name: string; span_id: string }[];
  };
  const modelCall = spans.find(({ name }) => name === 'call_llm')?.span_id ?? '';
  const paths = ['/debug/trace/session/s', `/debug/trace/${ids.eventId}`, `/traces/${ids.traceId}/spans/${modelCall}`];
  expect((await call('developer', 'GET /debug/trace/session/s')).text).toContain(secretDescription);
  for (const path of paths) {
    for (const name of ['ada', 'developer', 'operator', 'backend'] as const) {
      const { status, text } = await call(name, `GET ${path}`);
      const mayKnow = name === 'developer' || name === 'operator';
      expect([path, name, status, text.includes(secretInstruction)]).toEqual([path, name, 200, mayKnow]);
      expect([path, name, mayKnow || !text.includes(secretDescription)]).toEqual([path, name, true]);
    }
  }
});
