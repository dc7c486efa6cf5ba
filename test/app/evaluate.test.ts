import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { evaluate, EvaluationFailed } from '../../src/app/evaluate.ts';
import { caseOf, hello, paris, scratchFolder, setOf, weatherApp, weatherScript } from '../evaluation/scene.ts';

it('gives the result of an app and a set that pass', async () => {
  const result = await evaluate(weatherApp(), setOf(caseOf('a', paris, hello)), {
    evalMetrics: ['tool_trajectory_avg_score'],
  });

  expect(result.evalCaseResults[0]?.finalEvalStatus).toBe(1);
});

it('throws what did not pass, with metric, turn and reason', async () => {
  const broken = weatherApp(weatherScript.slice(1));
  const failing = evaluate(broken, setOf(caseOf('a', hello, paris)));

  await expect(failing).rejects.toThrow(EvaluationFailed);
  await expect(failing).rejects.toThrow(
    /set: 1 of 1 cases did not pass\na\n {2}tool_trajectory_avg_score: 0\.50, needs 1\.00\n {4}turn 2: Call 1: expected get_weather/,
  );
});

it('takes a metric that could not be evaluated for a failure', async () => {
  const evalMetrics = [
    'response_match_score',
    { metricName: 'safety_v1', judgeModelOptions: { judgeModel: 'no-such-model' } },
  ];

  await expect(evaluate(weatherApp(), setOf(caseOf('a', hello)), { evalMetrics })).rejects.toThrow(
    /safety_v1: Not evaluated: Unsupported model "no-such-model"/,
  );
});

it('finds an app by its folder, and a set by its name or file', async () => {
  const folder = scratchFolder();
  writeFileSync(
    join(folder, 'root_agent.yaml'),
    'name: greeter\nmodel: scripted\ninstruction: Greet.\nscript:\n  - text: "Hello! Ask me about the weather."\n',
  );
  const { evalCases } = setOf(caseOf('a', hello));
  writeFileSync(join(folder, 'smoke.evalset.json'), JSON.stringify({ evalSetId: 'smoke', evalCases }));

  const byName = await evaluate(folder, 'smoke');
  const byFile = await evaluate(folder, 'smoke.evalset.json');

  expect([byName, byFile].map(({ evalSetId }) => evalSetId)).toEqual(['smoke', 'smoke']);
  await expect(evaluate(join(folder, 'nowhere'), 'smoke')).rejects.toThrow(/is not the folder of an app/);
});
