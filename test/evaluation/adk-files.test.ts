import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { evalFiles } from '../../src/evaluation/eval-files.ts';
import { EvalResults } from '../../src/evaluation/eval-results.ts';
import { EvalSets } from '../../src/evaluation/eval-sets.ts';
import { toolCallsOf } from '../../src/schemas/evaluation/eval-set.ts';
import { evaluationsOf, neverAborts, requestOf, scratchFolder, weatherApp } from './scene.ts';

// Written by google-adk 2.13.0 for Python.
const setText = readFileSync(new URL('adk-files/from_adk.evalset.json', import.meta.url), 'utf8');
const resultText = readFileSync(new URL('adk-files/from_adk.evalset_result.json', import.meta.url), 'utf8');

it('loads and runs a set that ADK wrote', async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, 'from_adk.evalset.json'), setText);
  const { evaluations } = evaluationsOf(weatherApp(undefined, { folder }));

  const request = requestOf({
    evalCaseIds: ['events', 'lists'],
    evalMetrics: ['tool_trajectory_avg_score', 'response_match_score'],
  });
  const result = await evaluations.run('weather', 'from_adk', request, { signal: neverAborts });

  expect(result.evalCaseResults.map(({ evalId, finalEvalStatus }) => [evalId, finalEvalStatus])).toEqual([
    ['events', 1],
    ['lists', 1],
  ]);
  expect(result.evalCaseResults[0]?.sessionDetails?.state).toMatchObject({ homeTown: 'Lyon' });
});

it('writes a set back as ADK spelled it, user data untouched', async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, 'from_adk.evalset.json'), setText);
  const sets = new EvalSets(evalFiles(async () => folder));

  const events = await sets.case('weather', 'from_adk', 'events');
  await sets.updateCase('weather', 'from_adk', events);

  const before = JSON.parse(setText);
  const after = JSON.parse(readFileSync(join(folder, 'from_adk.evalset.json'), 'utf8'));
  expect(after).toMatchObject(before);
  expect(after.eval_cases[0].session_input.state).toEqual({ homeTown: 'Lyon' });
});

it('drops what web UIs add to the conversations they edit, which ADK refuses', async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, 'from_adk.evalset.json'), setText);
  const sets = new EvalSets(evalFiles(async () => folder));
  const edited = await sets.case('weather', 'from_adk', 'lists');
  const turn = edited.conversation![0]!;

  const marked = { ...turn, invocationIndex: 0 };
  await sets.updateCase('weather', 'from_adk', { ...edited, conversation: [marked] });

  expect(readFileSync(join(folder, 'from_adk.evalset.json'), 'utf8')).not.toMatch(/invocation_?index/i);
});

it('reads results that ADK wrote, also those it once wrote as a text within a text', async () => {
  const folder = scratchFolder();
  const history = join(folder, '.adk/eval_history');
  mkdirSync(history, { recursive: true });
  writeFileSync(join(history, 'new.evalset_result.json'), resultText);
  writeFileSync(join(history, 'old.evalset_result.json'), JSON.stringify(resultText));
  const results = new EvalResults(evalFiles(async () => folder));

  expect(await results.list('weather')).toEqual(['new', 'old']);
  for (const id of ['new', 'old']) {
    const [only] = (await results.get('weather', id)).evalCaseResults;
    expect(only).toMatchObject({ evalId: 'events', finalEvalStatus: 1, userId: 'user' });
    expect(only?.overallEvalMetricResults[0]).toMatchObject({ metricName: 'response_match_score', score: 1 });
  }
});

it('reads the two older forms of sets', async () => {
  const folder = scratchFolder();
  const turn = {
    query: 'weather in Rome',
    expected_tool_use: [{ tool_name: 'get_weather', tool_input: { city: 'Rome' } }],
    reference: 'It is sunny in Rome.',
  };
  const named = [
    { name: 'rome', data: [turn], initial_session: { state: { a: 1 }, app_name: 'weather', user_id: 'u' } },
  ];
  writeFileSync(join(folder, 'named.evalset.json'), JSON.stringify(named));
  writeFileSync(join(folder, 'turns.evalset.json'), JSON.stringify([turn]));
  const sets = new EvalSets(evalFiles(async () => folder));

  const [rome] = (await sets.get('weather', 'named')).evalCases;
  const [single] = (await sets.get('weather', 'turns')).evalCases;

  expect(rome).toMatchObject({ evalId: 'rome', sessionInput: { state: { a: 1 }, userId: 'u' } });
  expect(single?.evalId).toBe('turns');
  expect(toolCallsOf(single?.conversation?.[0]?.intermediateData)).toEqual([
    { name: 'get_weather', args: { city: 'Rome' } },
  ]);
});

it('says what is wrong with a file that holds no set', async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, 'broken.evalset.json'), '{"eval_set_id": "broken", "eval_cases": [{"eval_id": "a"}]}');
  const sets = new EvalSets(evalFiles(async () => folder));

  await expect(sets.get('weather', 'broken')).rejects.toThrow(/either a conversation or a conversationScenario/);
});
