import { expect, it } from 'vitest';
import { caseOf, hello, paris } from '../../evaluation/scene.ts';
import { listen } from '../server.ts';
import { weatherServer } from '../weather-server.ts';

it('goes from a session to a result in the spelling of the interface specification', async () => {
  const { send } = await weatherServer();

  const created = await send('POST', '/apps/weather/eval_sets/smoke');
  const added = await send('POST', '/apps/weather/eval_sets/smoke/add-session', {
    evalId: 'paris',
    sessionId: 's',
    userId: 'u',
  });
  const run = await send('POST', '/apps/weather/eval_sets/smoke/run-eval', {
    evalIds: ['paris'],
    evalMetrics: ['tool_trajectory_avg_score', { metricName: 'response_match_score', threshold: 0.9 }],
  });
  const results = await send('GET', '/apps/weather/eval_results');
  const result = await send('GET', `/apps/weather/eval_results/${results.body[0]}`);
  const sessions = await send('GET', '/apps/weather/users/u/sessions');
  const session = await send('GET', `/apps/weather/users/someone/sessions/${run.body[0].sessionId}`);

  expect([created.body, added.body]).toEqual([null, null]);
  expect(run.body).toHaveLength(1);
  expect(run.body[0]).toMatchObject({ appName: 'weather', evalSetId: 'smoke', evalId: 'paris', finalEvalStatus: 1 });
  expect(run.body[0].evalMetricResults.map(([metric, found]: [object, object]) => [metric, found])).toMatchObject([
    [
      { metricName: 'tool_trajectory_avg_score', threshold: 1 },
      { score: 1, evalStatus: 1 },
    ],
    [
      { metricName: 'response_match_score', threshold: 0.9 },
      { score: 1, evalStatus: 1 },
    ],
  ]);
  expect(result.body.evalSetResultId).toBe(`weather_smoke_${result.body.creationTimestamp}`);
  expect(result.body.evalCaseResults[0]).toMatchObject({ evalMetricResults: [], sessionDetails: { userId: 'u' } });
  expect(result.body.evalCaseResults[0].evalMetricResultPerInvocation).toHaveLength(2);
  expect(sessions.body.map(({ id }: { id: string }) => id)).toEqual(['s']);
  expect(session.body.events.length).toBeGreaterThan(3);
});

it.each([
  ['/apps/weather', '-'],
  ['/dev/apps/weather', '_'],
])('answers below %s with words joined by "%s" alike', async (prefix, joint) => {
  const { send } = await weatherServer();
  const [family, cases] = joint === '-' ? ['eval-sets', 'eval-cases'] : ['eval_sets', 'evals'];

  const made = await send('POST', `${prefix}/eval-sets`, { eval_set: { eval_set_id: 'set_1', eval_cases: [] } });
  const twice = await send('POST', `${prefix}/eval-sets`, { evalSet: { evalSetId: 'set_1', evalCases: [] } });
  const listed = await send('GET', `${prefix}/${family}`);
  await send('POST', `${prefix}/${family}/set_1/add${joint}session`, { evalId: 'a', sessionId: 's', userId: 'u' });
  const ids = await send('GET', `${prefix}/${family}/set_1/${cases}`);
  const one = await send('GET', `${prefix}/${family}/set_1/${cases}/a`);
  const changed = { ...one.body, conversation: one.body.conversation.slice(0, 1), conversationScenario: null };
  const put = await send('PUT', `${prefix}/${family}/set_1/${cases}/a`, changed);
  const set = await send('GET', `${prefix}/${family}/set_1`);
  const removed = await send('DELETE', `${prefix}/${family}/set_1/${cases}/a`);
  const gone = await send('GET', `${prefix}/${family}/set_1/${cases}/a`);
  await send('DELETE', `${prefix}/${family}/set_1`);
  const goneToo = await send('GET', `${prefix}/${family}/set_1`);

  expect(made.body).toMatchObject({ evalSetId: 'set_1', evalCases: [] });
  expect([twice.status, twice.body.code]).toEqual([409, 'eval_exists']);
  expect(listed.body).toEqual(joint === '-' ? { evalSetIds: ['set_1'] } : ['set_1']);
  expect(ids.body).toEqual(['a']);
  expect(one.body.conversation).toHaveLength(2);
  expect(put).toMatchObject({ status: 200, body: null });
  expect(set.body.evalCases[0].conversation).toHaveLength(1);
  expect(removed.status).toBe(200);
  expect([gone.status, gone.body.code]).toEqual([404, 'eval_not_found']);
  expect(goneToo.status).toBe(404);
});

it.each([
  ['POST', '/apps/weather/eval_sets/no%20set', undefined, 400],
  ['POST', '/apps/nowhere/eval_sets/set', undefined, 404],
  ['GET', '/apps/nowhere/eval_sets', undefined, 404],
  ['POST', '/apps/weather/eval_sets/none/run-eval', {}, 404],
  ['POST', '/apps/weather/eval_sets/some/run-eval', { evalIds: ['none'] }, 404],
  ['POST', '/apps/weather/eval_sets/some/run-eval', { evalMetrics: ['tool_trajectori_avg_score'] }, 400],
  ['POST', '/apps/weather/eval-sets/some/run_sse', { evalMetrics: ['nonsense'] }, 400],
  ['POST', '/apps/weather/eval_sets/some/add-session', { evalId: 'a', sessionId: 'none', userId: 'u' }, 404],
  ['PUT', '/apps/weather/eval_sets/some/evals/a', caseOf('b', paris), 400],
  ['PUT', '/apps/weather/eval_sets/some/evals/none', caseOf('none', paris), 404],
  ['PUT', '/apps/weather/eval_sets/some/evals/a', { evalId: 'a' }, 400],
  ['GET', '/apps/weather/eval_results/none', undefined, 404],
  ['GET', '/apps/weather/eval_results/..%2F..%2Fsecret', undefined, 404],
  ['POST', '/apps/weather/eval-runs/none/cancel', undefined, 404],
] as const)('answers %s %s with a problem', async (method, url, body, status) => {
  const { send } = await weatherServer();
  await send('POST', '/apps/weather/eval_sets/some');

  const answer = await send(method, url, body);

  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ status, detail: expect.any(String), error: answer.body.detail });
});

it('streams how far a run is, and compares its result with an earlier one', async () => {
  const { app, send } = await weatherServer();
  await send('POST', '/apps/weather/eval-sets', {
    evalSet: { evalSetId: 'some', evalCases: [caseOf('a', paris), caseOf('b', hello)] },
  });
  const stream = async () => {
    const answer = await app.inject({ method: 'POST', url: '/apps/weather/eval-sets/some/run_sse', payload: {} });
    expect(answer.headers['content-type']).toBe('text/event-stream');
    return answer.body
      .trim()
      .split('\n\n')
      .map((frame) => JSON.parse(frame.replace(/^data: /, '')));
  };

  const first = await stream();
  await send('PUT', '/apps/weather/eval-sets/some/eval-cases/b', caseOf('b', ['hello', 'Oslo', 'no']));
  const second = await stream();
  const [before, after] = [first.at(-1).evalSetResultId, second.at(-1).evalSetResultId];
  const compared = await send('GET', `/apps/weather/eval-results/${after}/compare?with=${before}`);

  expect(first.map(({ type }) => type)).toEqual(['started', 'case', 'case', 'finished']);
  expect(first[0]).toMatchObject({ total: 2, evalSetId: 'some' });
  expect(first[2]).toMatchObject({ done: 2, total: 2, result: { finalEvalStatus: 1 } });
  expect(compared.body).toMatchObject({ before, after, counts: { regressed: 1, same: 1 } });
  expect(compared.body.cases[0]).toMatchObject({ evalId: 'b', change: 'regressed', statusBefore: 1, statusAfter: 2 });
});

it('tells which metrics there are, and that it can do more than ADK', async () => {
  const { send } = await weatherServer();

  expect((await send('GET', '/capabilities')).body.features).toContain('evaluation-runs');

  const { body } = await send('GET', '/dev/apps/weather/metrics-info');

  const names = body.metricsInfo.map(({ metricName }: { metricName: string }) => metricName);
  expect(names).toEqual(expect.arrayContaining(['tool_trajectory_avg_score', 'response_match_score', 'safety_v1']));
  expect(body.metricsInfo[0].metricValueInfo.interval).toEqual({
    minValue: 0,
    openAtMin: false,
    maxValue: 1,
    openAtMax: false,
  });
});

it('cancels the run of a client that leaves, and stores what was done by then', async () => {
  const { app, send } = await weatherServer([
    { match: 'stuck', delayMs: 3_600_000, text: 'never' },
    { text: 'Hello!' },
  ]);
  const evalCases = [caseOf('a', hello), caseOf('b', ['stuck', undefined, 'never']), caseOf('c', hello)];
  await send('POST', '/apps/weather/eval-sets', { evalSet: { evalSetId: 'some', evalCases } });
  const leaving = new AbortController();
  const answer = await fetch(`${await listen(app)}/apps/weather/eval-sets/some/run_sse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ concurrency: 1 }),
    signal: leaving.signal,
  });
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; !text.includes('"done":1'); text += (await reader.read()).value);

  leaving.abort();

  await expect.poll(async () => (await send('GET', '/apps/weather/eval_results')).body.length).toBe(1);
  const [run] = (await send('GET', '/apps/weather/eval-runs?evalSetId=some')).body;
  const result = await send('GET', `/apps/weather/eval-results/${run.evalSetResultId}`);
  expect(run).toMatchObject({ cancelled: true, failed: 1, passed: 0 });
  expect(result.body.evalCaseResults.map(({ evalId }: { evalId: string }) => evalId)).toEqual(['a']);
});

it('runs hundreds of cases at once', async () => {
  const { send } = await weatherServer();
  const evalCases = Array.from({ length: 200 }, (_, index) => caseOf(`case${index}`, paris));
  await send('POST', '/apps/weather/eval-sets', { evalSet: { evalSetId: 'big', evalCases } });

  const { body } = await send('POST', '/apps/weather/eval-sets/big/run', {
    evalMetrics: ['tool_trajectory_avg_score', 'response_match_score', 'exact_match'],
  });

  const results: { evalId: string; finalEvalStatus: number }[] = body.runEvalResults;
  expect(results.map(({ evalId }) => evalId)).toEqual(evalCases.map(({ evalId }) => evalId));
  expect(results.every(({ finalEvalStatus }) => finalEvalStatus === 1)).toBe(true);
});
