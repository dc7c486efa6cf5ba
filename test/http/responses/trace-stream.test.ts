import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { TraceSpan } from '../../../src/schemas/records.ts';
import { TraceRecorder } from '../../../src/telemetry/recorder.ts';
import { openSpan, rootTrace } from '../../../src/telemetry/spans.ts';
import { listen, server } from '../server.ts';

const owner = { 'agent_server.app_name': 'demo', 'user.id': 'ann' };

/** Records model calls with requests of some length, each with something that looks like a key. */
function recorded(calls: number, length: number): TraceRecorder {
  const recorder = new TraceRecorder({ maxBytes: 1_000_000_000 });
  const request = JSON.stringify({ key: 'AIzaSyA-secret-secret-secret', text: 'word '.repeat(length / 5) });
  const invocation = openSpan('invocation', 'invocation', rootTrace(recorder), {
    ...owner,
    'gcp.vertex.agent.session_id': 's',
  });
  for (let call = 0; call < calls; call += 1) {
    const span = openSpan('model', 'call_llm', invocation.context, { 'gcp.vertex.agent.event_id': `e${call}` });
    span.setLazy('gcp.vertex.agent.llm_request', { text: () => request }, 0);
    span.end();
  }
  invocation.end();
  return recorder;
}

const paths = ['/debug/trace/session/s', '/dev/apps/demo/debug/trace/session/s'];

it.each(paths)('GET %s lets others have their turn while it is made, and holds no key', async (path) => {
  const { app } = await server({ traces: recorded(200, 100_000) });
  const base = await listen(app);
  const done = new AbortController();
  let pings = 0;
  const pinging = (async () => {
    while (!done.signal.aborted) {
      expect((await fetch(`${base}/health`)).status).toBe(200);
      pings += 1;
    }
  })();

  const text = await (await fetch(base + path)).text();
  done.abort();
  await pinging;

  const spans = JSON.parse(text) as TraceSpan[];
  expect(spans).toHaveLength(201);
  expect(text).not.toContain('AIzaSyA');
  expect(spans.at(-1)?.attributes['gcp.vertex.agent.llm_request']).toContain('"key":"[redacted]"');
  expect(pings).toBeGreaterThan(20); // it leaves in some 80 pieces
});

it('makes no more of a trace than its client reads', async () => {
  const recorder = recorded(1_000, 100_000);
  const made: string[] = [];
  const forSession: TraceRecorder['forSession'] = function* (id, user) {
    for (const span of recorder.forSession(id, user)) {
      made.push(span.name);
      yield span;
    }
  };
  const { app } = await server({ traces: { forSession } });
  const base = await listen(app);
  const left = new AbortController();

  const answer = await fetch(`${base}/debug/trace/session/s`, { signal: left.signal });
  await answer.body!.getReader().read();
  let before = -1;
  while (made.length > before) {
    before = made.length;
    for (let count = 0; count < 1_000; count += 1) await nextIteration();
  }

  expect(made.length).toBeLessThan(500); // the sockets hold a few MB
  left.abort();
});

it('deletes the traces of the session that is deleted, not those of another user with one of the same name', async () => {
  const recorder = new TraceRecorder();
  for (const user of ['ann', 'bob']) {
    openSpan('invocation', 'invocation', rootTrace(recorder), {
      ...owner,
      'user.id': user,
      'gcp.vertex.agent.session_id': 'same',
    }).end();
  }
  const { app } = await server({ traces: recorder });
  const session = (user: string): string => `/apps/demo/users/${user}/sessions/same`;
  for (const user of ['ann', 'bob']) await app.inject({ method: 'POST', url: session(user), payload: {} });
  const read = async (path: string) => (await app.inject(path)).json();
  expect((await read('/dev/apps/demo/sessions/same/spans')).spans).toHaveLength(2);
  expect((await read('/dev/apps/demo/sessions/same/spans?userId=ann')).spans).toHaveLength(1);
  expect(await read('/dev/apps/other/debug/trace/session/same')).toEqual([]);

  await app.inject({ method: 'DELETE', url: session('bob') });

  expect((await read('/traces')).traces).toMatchObject([{ userId: 'ann' }]);
  expect(await read('/debug/trace/session/same')).toMatchObject([{ attributes: { 'user.id': 'ann' } }]);
});
