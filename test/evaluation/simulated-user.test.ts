import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { textOf } from '../../src/schemas/content.ts';
import { caseOf, evaluationsOf, neverAborts, requestOf, scratchFolder, setOf, weatherApp } from './scene.ts';

const scenario = (more: object = {}) => ({
  evalId: 'trip',
  conversationScenario: {
    startingPrompt: 'hello',
    conversationPlan: 'Ask for the weather in Oslo, then leave.',
    ...more,
  },
});
const evalMetrics = ['multi_turn_task_success_v1', 'tool_call_count_v1', 'response_match_score'];
const judged = {
  judgeModel: 'scripted',
  numSamples: 1,
  script: [{ text: '{"reasoning": "done", "is_successful": "yes"}' }],
};

async function held(userSimulatorConfig: object, more: object = {}) {
  const { evaluations } = evaluationsOf();
  const metrics = [{ metricName: evalMetrics[0], judgeModelOptions: judged }, ...evalMetrics.slice(1)];
  const request = requestOf({ evalMetrics: metrics, userSimulatorConfig });
  const { evalCaseResults } = await evaluations.runSet('weather', setOf(scenario(more)), request, {
    signal: neverAborts,
  });
  const [result] = evalCaseResults;
  return {
    result,
    said: result!.evalMetricResultPerInvocation.map((turn) => textOf(turn.actualInvocation.userContent)),
  };
}

it('lets a model play the user until it says that it is done', async () => {
  const script = [
    { match: String.raw`sunny in Oslo[\s\S]*</conversation>`, text: '</finished>' },
    { match: String.raw`Ask for the weather in (\w+)`, text: 'weather in $1' },
  ];

  const { said, result } = await held({ model: 'scripted', script });

  expect(said).toEqual(['hello', 'weather in Oslo']);
  expect(result?.finalEvalStatus).toBe(1);
  expect(result?.overallEvalMetricResults).toMatchObject([
    { score: 1, evalStatus: 1 },
    { score: 0.5, evalStatus: 4 },
    { evalStatus: 3 },
  ]);
});

it('ends the conversation of a user who does not', async () => {
  const { said } = await held({ model: 'scripted', script: [{ text: 'again' }], maxAllowedInvocations: 3 });

  expect(said).toEqual(['hello', 'again', 'again']);
});

it('speaks from a script when it is given one', async () => {
  const { said } = await held({ type: 'scripted', messages: ['weather in Rome', 'weather in Bern'] });

  expect(said).toEqual(['hello', 'weather in Rome', 'weather in Bern']);
});

it('puts the plan, the history and the persona where the caller’s instructions want them', async () => {
  const customInstructions =
    'PLAN {{ conversation_plan }} STOP {{stop_signal}} WHO {{ persona }} SO FAR {{ conversation_history }}';
  const script = [
    { match: String.raw`WHO a sailor SO FAR user: hello\s+agent: [^\n]+$`, text: 'aye' },
    { text: 'over and out' },
  ];

  const { said } = await held(
    { model: 'scripted', script, customInstructions, stopSignal: 'over and out' },
    { userPersona: 'a sailor' },
  );

  expect(said).toEqual(['hello', 'aye']);
});

it('takes the user of test_config.json where a request names none', async () => {
  const folder = scratchFolder();
  const user_simulator_config = { messages: ['weather in Rome'] };
  writeFileSync(join(folder, 'test_config.json'), JSON.stringify({ criteria: {}, user_simulator_config }));
  const { evaluations } = evaluationsOf(weatherApp(undefined, { folder }));

  const { evalCaseResults } = await evaluations.runSet('weather', setOf(scenario()), requestOf(), {
    signal: neverAborts,
  });

  expect(evalCaseResults[0]?.evalMetricResultPerInvocation).toHaveLength(2);
});

it('fails the case when the model that plays the user cannot be asked', async () => {
  const { result, said } = await held({ model: 'no-such-model' });

  expect(said).toEqual(['hello']);
  expect(result).toMatchObject({ finalEvalStatus: 2 });
  expect(result?.errorMessage).toContain('Unsupported model "no-such-model"');
});

it('refuses a case with both a conversation and a scenario', () => {
  expect(() => setOf({ ...scenario(), ...caseOf('trip') })).toThrow(/either a conversation or a conversationScenario/);
});
