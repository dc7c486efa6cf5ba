import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { EvalProgress } from '../../src/evaluation/evaluations.ts';
import { textContent } from '../../src/schemas/content.ts';
import {
  caseOf,
  evaluationsOf,
  hello,
  neverAborts,
  paris,
  requestOf,
  scratchFolder,
  setOf,
  weatherApp,
  weatherScript,
} from './scene.ts';

const bothMetrics = { evalMetrics: ['tool_trajectory_avg_score', 'response_match_score'] };

it('fails a broken agent with the metric, the turn and the reason', async () => {
  const broken = weatherScript.map((rule) => (rule.after ? { ...rule, text: 'No idea.' } : rule));
  const { evaluations } = evaluationsOf(weatherApp(broken));

  const { evalCaseResults } = await evaluations.runSet(
    'weather',
    setOf(caseOf('a', hello, paris)),
    requestOf(bothMetrics),
    {
      signal: neverAborts,
    },
  );

  const [only] = evalCaseResults;
  const [trajectory, response] = only!.overallEvalMetricResults;
  expect(only?.finalEvalStatus).toBe(2);
  expect([trajectory?.evalStatus, response?.evalStatus]).toEqual([1, 2]);
  expect(response?.details.rubricScores?.[0]?.rationale).toMatch(
    /^Turn 2: Expected "It is sunny in Paris\.", answered was "No idea\."/,
  );
  const perTurn = only!.evalMetricResultPerInvocation.map((turn) =>
    turn.evalMetricResults.map((one) => one.evalStatus),
  );
  expect(perTurn).toEqual([
    [1, 1],
    [1, 2],
  ]);
});

it('fails a case whose agent fails, at the turn where it does, and goes on with the others', async () => {
  const script = [
    { match: 'weather', error: { code: 'RESOURCE_EXHAUSTED', message: 'quota', throw: true } },
    ...weatherScript,
  ];
  const { evaluations } = evaluationsOf(weatherApp(script));
  const set = setOf(caseOf('bad', hello, paris, hello), caseOf('good', hello));

  const { evalCaseResults } = await evaluations.runSet('weather', set, requestOf(bothMetrics), { signal: neverAborts });

  const [bad, good] = evalCaseResults;
  expect([bad?.finalEvalStatus, good?.finalEvalStatus]).toEqual([2, 1]);
  expect(bad?.errorMessage).toContain('quota');
  expect(bad?.evalMetricResultPerInvocation).toHaveLength(3);
  const reasons = bad?.evalMetricResultPerInvocation.map(
    (turn) => turn.evalMetricResults[1]?.details.rubricScores?.[0]?.rationale,
  );
  expect(reasons).toEqual([
    undefined,
    expect.stringContaining('The run failed: '),
    expect.stringContaining('Not reached: '),
  ]);
});

it('changes nothing for the users of the app but leaves a session to look at', async () => {
  const { evaluations, services } = evaluationsOf();
  await services.sessions.createSession({ appName: 'weather', userId: 'u' }, { state: { 'user:lastCity': 'Rome' } });
  const set = setOf({
    ...caseOf('a', paris),
    sessionInput: { appName: 'weather', userId: 'u', state: { mood: 'good' } },
  });

  const { evalCaseResults } = await evaluations.runSet('weather', set, requestOf(), { signal: neverAborts });

  const [result] = evalCaseResults;
  const listed = await services.sessions.listSessions({ appName: 'weather', userId: 'u' });
  const kept = await services.sessions.getSession({ appName: 'weather', userId: 'u', sessionId: result!.sessionId });
  expect(result?.sessionId).toMatch(/^___eval___session___/);
  expect(result?.sessionDetails?.state).toEqual({ mood: 'good', 'user:lastCity': 'Paris' });
  expect(listed).toHaveLength(1);
  expect(listed[0]?.state).toEqual({ 'user:lastCity': 'Rome' });
  expect(kept?.state).toEqual({
    mood: 'good',
    'user:lastCity': 'Rome',
    __session_metadata__: { displayName: 'set / a' },
  });
  expect(kept?.events.length).toBeGreaterThan(2);
});

it('finds the session of a case again after a restart', async () => {
  const app = weatherApp(undefined, { folder: scratchFolder() });
  const before = evaluationsOf(app).evaluations;
  await before.sets.create('weather', setOf(caseOf('a', paris)));
  const { evalCaseResults } = await before.run('weather', 'set', requestOf(), { signal: neverAborts });
  const { sessionId, sessionDetails } = evalCaseResults[0]!;
  const { evaluations, services } = evaluationsOf(app);
  const key = { appName: 'weather', userId: 'someone', sessionId };

  expect(await evaluations.restore({ ...key, sessionId: 'other' })).toBe(false);
  expect(await evaluations.restore({ ...key, sessionId: `${sessionId}0` })).toBe(false);
  expect(await evaluations.restore(key)).toBe(true);

  const session = await services.sessions.getSession(key);
  expect(session?.events.map(({ id }) => id)).toEqual(sessionDetails?.events.map(({ id }) => id));
  expect(await services.sessions.listSessions({ appName: 'weather', userId: 'test_user_id' })).toEqual([]);
});

it('runs the named cases only, in the order of the set', async () => {
  const { evaluations } = evaluationsOf();
  const set = setOf(caseOf('a', hello), caseOf('b', hello), caseOf('c', hello));

  const { evalCaseResults } = await evaluations.runSet(
    'weather',
    set,
    requestOf({ evalIds: ['c'], evalCaseIds: ['a'] }),
    {
      signal: neverAborts,
    },
  );

  expect(evalCaseResults.map(({ evalId }) => evalId)).toEqual(['a', 'c']);
});

it('runs no more cases at the same time than allowed', async () => {
  let [running, most] = [0, 0];
  const slow = weatherApp([{ delayMs: 20, text: 'slow' }]);
  const counting = {
    ...slow,
    plugins: [
      {
        name: 'counting',
        beforeRun: () => {
          running += 1;
          most = Math.max(most, running);
        },
        afterRun: () => {
          running -= 1;
        },
      },
    ],
  };
  const { evaluations } = evaluationsOf(counting);
  const set = setOf(...Array.from({ length: 9 }, (_, index) => caseOf(`case${index}`, hello)));

  await evaluations.runSet('weather', set, requestOf({ concurrency: 3 }), { signal: neverAborts });

  expect(most).toBe(3);
});

it('stops within a case when it is cancelled, and keeps what is done', async () => {
  const app = weatherApp([{ match: 'stuck', delayMs: 3_600_000, text: 'never' }, ...weatherScript]);
  const { evaluations } = evaluationsOf(app);
  const stuck = ['stuck', undefined, 'never'] as const;
  await evaluations.sets.create(
    'weather',
    setOf(caseOf('a', hello), caseOf('b', stuck), caseOf('c', stuck), caseOf('d', stuck)),
  );
  const seen: EvalProgress[] = [];
  const onProgress = (progress: EvalProgress): void => {
    seen.push(progress);
    const [first] = seen;
    if (progress.type === 'case' && first?.type === 'started') evaluations.cancel('weather', first.runId);
  };

  const result = await evaluations.run('weather', 'set', requestOf({ concurrency: 2 }), {
    onProgress,
    signal: neverAborts,
  });

  expect(result).toMatchObject({ cancelled: true });
  expect(result.evalCaseResults.map(({ evalId }) => evalId)).toEqual(['a']);
  expect(seen.at(-1)).toMatchObject({ type: 'finished', cancelled: true });
  expect(await evaluations.results.get('weather', result.evalSetResultId)).toMatchObject({ cancelled: true });
});

it('repeats each case and tells how the scores spread', async () => {
  let asked = 0;
  const app = weatherApp(undefined, { metrics: { dice: () => ((asked += 1) % 2 === 0 ? 1 : 0) } });
  const { evaluations } = evaluationsOf(app);

  const request = requestOf({ repetitions: 4, concurrency: 1, evalMetrics: ['dice'] });
  const { evalCaseResults, spread } = await evaluations.runSet('weather', setOf(caseOf('a', hello)), request, {
    signal: neverAborts,
  });

  expect(evalCaseResults.map(({ repetition }) => repetition)).toEqual([1, 2, 3, 4]);
  expect(spread).toEqual([
    { evalId: 'a', metricName: 'dice', runs: 4, passed: 2, mean: 0.5, min: 0, max: 1, deviation: 0.5 },
  ]);
});

it('applies metrics of the app by name and by the path Python files give', async () => {
  const metrics = {
    short: ({ actual }: { actual: readonly unknown[] }) => ({ score: actual.length < 3 ? 1 : 0, reason: 'counted' }),
    failing: () => {
      throw new Error('cannot count');
    },
  };
  const { evaluations } = evaluationsOf(weatherApp(undefined, { metrics }));
  const evalMetrics = ['short', { metricName: 'mine', customFunctionPath: 'my.module.short' }, 'failing'];

  const { evalCaseResults } = await evaluations.runSet(
    'weather',
    setOf(caseOf('a', hello)),
    requestOf({ evalMetrics }),
    {
      signal: neverAborts,
    },
  );

  expect(evalCaseResults[0]?.overallEvalMetricResults).toMatchObject([
    { metricName: 'short', score: 1, evalStatus: 1, details: { rubricScores: [{ rationale: 'counted' }] } },
    { metricName: 'mine', score: 1, evalStatus: 1 },
    { metricName: 'failing', evalStatus: 3, details: { rubricScores: [{ rationale: 'Not evaluated: cannot count' }] } },
  ]);
});

it('takes the metrics of test_config.json where a request names none', async () => {
  const folder = scratchFolder();
  const criteria = { response_match_score: 0.5, exact_match: { threshold: 1, strict: false } };
  writeFileSync(join(folder, 'test_config.json'), JSON.stringify({ criteria }));
  const { evaluations } = evaluationsOf(weatherApp(undefined, { folder }));

  const { evalCaseResults } = await evaluations.runSet('weather', setOf(caseOf('a', hello)), requestOf(), {
    signal: neverAborts,
  });

  expect(
    evalCaseResults[0]?.overallEvalMetricResults.map(({ metricName, threshold }) => [metricName, threshold]),
  ).toEqual([
    ['response_match_score', 0.5],
    ['exact_match', 1],
  ]);
});

it('makes a case of some turns of a session, with the state before them', async () => {
  const { evaluations, services } = evaluationsOf();
  const key = { appName: 'weather', userId: 'u', sessionId: 's' };
  const event = (invocationId: string, author: string, text: string, stateDelta: object = {}) => ({
    id: `${invocationId}-${author}`,
    invocationId,
    author,
    timestamp: 1,
    content: textContent(author === 'user' ? 'user' : 'model', text),
    actions: {
      stateDelta: { ...stateDelta },
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    },
  });
  await services.sessions.createSession(key, {
    sessionId: 's',
    state: { home: 'Lyon', __session_metadata__: { displayName: 'x' } },
    events: [
      event('e-1', 'user', 'one'),
      event('e-1', 'weather', 'first', { step: 1 }),
      event('e-2', 'user', 'two'),
      event('e-2', 'weather', 'second', { step: 2, late: true }),
    ],
  });
  await evaluations.sets.create('weather', setOf());

  const part = await evaluations.addSession('set', { ...key, evalId: 'second', invocationIds: ['e-2'] });
  const whole = await evaluations.addSession('set', { ...key, evalId: 'whole' });

  expect(part.conversation).toMatchObject([{ invocationId: 'e-2', finalResponse: { parts: [{ text: 'second' }] } }]);
  expect(part.sessionInput?.state).toEqual({ home: 'Lyon', step: 1 });
  expect(whole.conversation).toHaveLength(2);
  expect(whole.sessionInput?.state).toEqual({ home: 'Lyon' });
  await expect(evaluations.addSession('set', { ...key, evalId: 'x', invocationIds: ['e-9'] })).rejects.toThrow(
    /no such turns/,
  );
});

it('writes no file for an app that has no folder', async () => {
  const { evaluations } = evaluationsOf();
  await evaluations.sets.create('weather', setOf(caseOf('a', hello)));

  const { evalSetResultId } = await evaluations.run('weather', 'set', requestOf(), { signal: neverAborts });

  expect(await evaluations.results.list('weather')).toEqual([evalSetResultId]);
  expect(existsSync('set.evalset.json')).toBe(false);
  expect(readdirSync('.')).not.toContain('.adk');
});
