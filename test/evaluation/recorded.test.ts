import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { EvalSetResult } from '../../src/schemas/evaluation/eval-result.ts';
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

const judgeScript = [{ text: '{"reasoning": "the same", "is_the_agent_response_valid": "valid"}' }];
const evalMetrics = [
  'tool_trajectory_avg_score',
  'response_match_score',
  {
    metricName: 'final_response_match_v2',
    judgeModelOptions: { judgeModel: 'scripted', numSamples: 2, script: judgeScript },
  },
];
const options = { signal: neverAborts };

/** The result as text, without what differs from run to run: ids and times. */
const comparable = (result: EvalSetResult): string =>
  JSON.stringify(result)
    .replaceAll(/(?:adk-|e-|___eval___session___)?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
    .replaceAll(/"(?:creationTimestamp|timestamp|lastUpdateTime|duration)":[\d.e-]+/g, '"time":0')
    .replaceAll(/weather_set_[\d.]+/g, 'RESULT');

it('gives the same result to the byte every time, ids and times aside', async () => {
  const app = weatherApp(undefined, { folder: scratchFolder() });
  const { evaluations } = evaluationsOf(app);
  await evaluations.sets.create('weather', setOf(caseOf('a', paris, hello), caseOf('b', hello)));

  await evaluations.run('weather', 'set', requestOf({ evalMetrics, mode: 'record' }), options);
  const first = await evaluations.run('weather', 'set', requestOf({ evalMetrics, mode: 'recorded' }), options);
  const second = await evaluations.run(
    'weather',
    'set',
    requestOf({ evalMetrics, mode: 'recorded', concurrency: 1 }),
    options,
  );

  expect(first.evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus)).toEqual([1, 1]);
  expect(comparable(second)).toBe(comparable(first));
  expect(JSON.stringify(first)).not.toContain('_adk_replay_config');
});

it('asks no model once it is recorded, neither the agent’s nor the judge’s', async () => {
  const folder = scratchFolder();
  const before = evaluationsOf(weatherApp(undefined, { folder })).evaluations;
  await before.sets.create('weather', setOf(caseOf('a', paris)));
  await before.run('weather', 'set', requestOf({ evalMetrics, mode: 'record' }), options);
  const silent = weatherApp([{ error: { code: 'UNAVAILABLE', throw: true } }], { folder });
  const muteJudge = { ...(evalMetrics[2] as object), judgeModelOptions: { judgeModel: 'scripted', numSamples: 2 } };

  const { evalCaseResults } = await evaluationsOf(silent).evaluations.run(
    'weather',
    'set',
    requestOf({ evalMetrics: ['tool_trajectory_avg_score', muteJudge], mode: 'recorded' }),
    options,
  );

  expect(evalCaseResults[0]?.overallEvalMetricResults.map(({ score }) => score)).toEqual([1, 1]);
});

it('fails where the agent leaves what was recorded', async () => {
  const folder = scratchFolder();
  const { evaluations } = evaluationsOf(weatherApp(undefined, { folder }));
  await evaluations.sets.create('weather', setOf(caseOf('a', paris)));
  await evaluations.run('weather', 'set', requestOf({ mode: 'record' }), options);
  const longer = caseOf('a', paris, paris);
  await evaluations.sets.updateCase('weather', 'set', setOf(longer).evalCases[0]!);

  const { evalCaseResults } = await evaluations.run('weather', 'set', requestOf({ mode: 'recorded' }), options);

  expect(evalCaseResults[0]).toMatchObject({ finalEvalStatus: 2 });
  expect(evalCaseResults[0]?.errorMessage).toMatch(/cassette has no further model call/);
});

it('keeps cassettes in the folder of the app, whatever cases are called', async () => {
  const folder = scratchFolder();
  const { evaluations } = evaluationsOf(weatherApp(undefined, { folder }));
  await evaluations.sets.create('weather', setOf(caseOf('..', hello), caseOf('a/b', hello)));

  await evaluations.run('weather', 'set', requestOf({ mode: 'record' }), options);

  const cassettes = join(folder, '.adk/eval_cassettes/set');
  expect(readdirSync(cassettes).toSorted()).toEqual(['%2E%2E', 'a%2Fb']);
  expect(existsSync(join(cassettes, 'a%2Fb/generated-recordings.yaml'))).toBe(true);
});

it('says of a case that nothing is recorded of it yet', async () => {
  const { evaluations } = evaluationsOf(weatherApp(weatherScript, { folder: scratchFolder() }));

  const set = setOf(caseOf('a', hello));
  const { evalCaseResults } = await evaluations.runSet('weather', set, requestOf({ mode: 'recorded' }), options);

  expect(evalCaseResults[0]?.errorMessage).toMatch(/^Nothing is recorded of this case yet: run it with --record/);
});

it('records once only, and only beside an app that has a folder', async () => {
  const { evaluations } = evaluationsOf(weatherApp(weatherScript));
  const set = setOf(caseOf('a', hello));

  await expect(
    evaluations.runSet('weather', set, requestOf({ mode: 'record', repetitions: 2 }), options),
  ).rejects.toThrow(/one run of each case/);
  const { evalCaseResults } = await evaluations.runSet('weather', set, requestOf({ mode: 'recorded' }), options);

  expect(evalCaseResults[0]?.errorMessage).toMatch(/no folder/);
});

it('takes ADK’s word for it in a set', async () => {
  const folder = scratchFolder();
  const { evaluations } = evaluationsOf(weatherApp(undefined, { folder }));
  const set = { ...setOf(caseOf('a', hello)), modelExecutionMode: 'replay' as const };

  const result = await evaluations.runSet('weather', set, requestOf(), options);

  expect(result.mode).toBe('recorded');
});
