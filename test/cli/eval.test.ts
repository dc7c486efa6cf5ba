import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOf, run } from '../support/program.ts';

const agent = (answer: string): string => `
import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';
const getWeather = functionTool({
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  run: ({ city }) => ({ report: 'sunny in ' + city }),
});
export const metrics = { brief: ({ actual }) => (actual.length < 5 ? 1 : 0) };
export const rootAgent = llmAgent({
  name: 'weather',
  model: 'scripted',
  tools: [getWeather],
  script: [
    { match: 'weather in (\\\\w+)', calls: [{ name: 'get_weather', args: { city: '$1' } }] },
    { after: 'get_weather', text: ${JSON.stringify(answer)} },
    { text: 'Hello!' },
  ],
});
`;
const turn = (said: string, answer: string, ...cities: readonly string[]) => ({
  user_content: { role: 'user', parts: [{ text: said }] },
  final_response: { role: 'model', parts: [{ text: answer }] },
  intermediate_data: { tool_uses: cities.map((city) => ({ name: 'get_weather', args: { city } })) },
});
const smoke = {
  eval_set_id: 'smoke',
  eval_cases: [
    { eval_id: 'greeting', conversation: [turn('hi', 'Hello!')] },
    {
      eval_id: 'paris',
      conversation: [turn('hi', 'Hello!'), turn('weather in Paris', 'It is sunny in Paris.', 'Paris')],
    },
  ],
};
const right = 'It is ${get_weather.report}.';

/** An agents folder with one app that has the set "smoke". */
const agentsFolder = (answer: string): string =>
  folderOf({ 'weather/agent.ts': agent(answer), 'weather/smoke.evalset.json': JSON.stringify(smoke) });

it('shows a row for each case and ends with 0 when all pass', async () => {
  const agents = agentsFolder(right);

  const { code, out } = await run(['eval', 'weather', '--agents', agents, '--metrics', 'response_match_score,brief']);

  expect(code).toBe(0);
  expect(out).toMatch(/ok {2}greeting +1\.00 +1\.00\n/);
  expect(out).toMatch(/ok {2}paris +1\.00 +1\.00\n2 of 2 passed\n/);
  expect(readdirSync(join(agents, 'weather/.adk/eval_history'))).toHaveLength(1);
});

it('ends with 1 for a broken agent, with the metric, the turn and the reason in every report', async () => {
  const agents = agentsFolder('Who knows?');
  const [junit, json] = [join(agents, 'junit.xml'), join(agents, 'out.json')];

  const { code, out } = await run(['eval', join(agents, 'weather'), 'smoke', '--junit', junit, '--json', json]);

  expect(code).toBe(1);
  expect(out).toContain('1 of 2 passed');
  expect(out).toMatch(
    /FAIL {2}paris .*\n +response_match_score: 0\.50, needs 0\.80\n +turn 2: Expected "It is sunny in Paris\.", answered was "Who knows\?"/,
  );
  expect(readFileSync(junit, 'utf8')).toMatch(
    /<testsuite name="weather\.smoke" tests="2" failures="1" errors="0"[\s\S]*<failure message="response_match_score: 0\.50, needs 0\.80">[\s\S]*turn 2: Expected &quot;It is sunny in Paris\.&quot;/,
  );
  const { ok, results } = JSON.parse(readFileSync(json, 'utf8'));
  expect([ok, results[0].evalCaseResults[1].finalEvalStatus]).toEqual([false, 2]);
});

it('compares with an earlier run, and ends with 1 for what got worse though it passes', async () => {
  const agents = agentsFolder(right);
  const args = ['eval', 'weather', '--agents', agents, '--metrics', 'response_match_score', '--threshold', '0.1'];
  await run(args);
  writeFileSync(join(agents, 'weather/agent.ts'), agent('It is sunny.'));

  const { code, err, out } = await run([...args, '--baseline', 'latest']);

  expect(out).toContain('2 of 2 passed');
  expect(err).toMatch(
    /1 regressed, 0 missing, 0 improved, 0 added, 1 same\nregressed +paris\n +response_match_score 1\.00 → 0\.\d\d/,
  );
  expect(code).toBe(1);
});

it('records and answers as recorded', async () => {
  const agents = agentsFolder(right);
  const args = ['eval', 'weather', 'smoke', '--agents', agents];
  const recording = await run([...args, '--record']);
  writeFileSync(join(agents, 'weather/agent.ts'), agent('Something else.'));

  const recorded = await run([...args, '--recorded']);

  expect([recording.code, recorded.code]).toEqual([0, 0]);
  expect(existsSync(join(agents, 'weather/.adk/eval_cassettes/smoke/paris/generated-recordings.yaml'))).toBe(true);
});

it('keeps the files of a compiled app beside its source', async () => {
  const folder = folderOf({
    'src/weather/agent.ts': agent('Not compiled.'),
    'src/weather/smoke.evalset.json': JSON.stringify(smoke),
    'out/weather/agent.js': agent(right),
  });
  const [agents, out] = [join(folder, 'src'), join(folder, 'out')];

  const { code } = await run(['eval', 'weather', '--agents', agents, '--build-output', out]);

  expect(code).toBe(0);
  expect(existsSync(join(agents, 'weather/.adk/eval_history'))).toBe(true);
  expect(readdirSync(join(out, 'weather'))).toEqual(['agent.js']);
});

it('runs some cases of a file, repeats them and holds them to other thresholds', async () => {
  const agents = agentsFolder(right);
  const file = `${join(agents, 'weather/smoke.evalset.json')}:greeting`;
  const base = ['eval', 'weather', file, '--agents', agents];

  const repeated = await run([...base, '--repeat', '3']);
  const strict = await run([...base, '--threshold', 'response_match_score=1.1']);
  const printed = await run([...base, '--json=-']);

  expect(repeated).toMatchObject({ code: 0, out: expect.stringMatching(/greeting \(3\)[\s\S]*3 of 3 passed/) });
  expect(repeated.out).toContain('greeting: response_match_score 1.00 ± 0.00');
  expect(strict.code).toBe(1);
  expect(JSON.parse(printed.out)).toMatchObject({ ok: true, app: 'weather', results: [{ evalSetId: 'smoke' }] });
});

it.each([
  [['eval', 'wether'], 'did you mean "weather"'],
  [['eval', 'weather', 'none'], 'Evaluation set not found: none'],
  [['eval', 'weather', 'none.json'], 'cannot be read'],
  [['eval', 'weather', 'smoke:none'], 'Evaluation case not found: none'],
  [['eval', 'weather', '--metrics', 'respons_match_score'], 'did you mean "response_match_score"'],
  [['eval', 'weather', '--threshold', 'high'], '"high" is not a number'],
  [['eval', 'weather', '--repeat', '0'], 'must be a whole number'],
  [['eval', 'weather', '--record', '--recorded'], 'not both'],
])('ends with 2 for %j', async (args, message) => {
  const { code, err } = await run([...args, '--agents', agentsFolder(right)]);

  expect(err).toContain(message);
  expect(code).toBe(2);
});
