import { expect, it } from 'vitest';
import { replyModel, text } from '../support/reply-model.ts';
import type { ReplyModel } from '../support/reply-model.ts';
import { runAll, say, testRunner } from '../support/run.ts';
import { agentsDir, failureOf, yamlAgent } from './agents-dir.ts';

/** The request a YAML agent with this planner makes. */
async function requestOf(planner: string, registry = ''): Promise<ReplyModel['requests'][number] | undefined> {
  const files = { 'app/root_agent.yaml': yamlAgent('a', `model: test\n${planner}`), 'app/registry.js': registry };
  const { rootAgent } = await agentsDir(files).load().loadAgent('app');
  const model = replyModel(text('ok'));
  const { runner, key } = await testRunner(rootAgent, {
    models: { resolve: () => model, isConfigured: () => true },
  });
  await runAll(runner, say(key, 'hi'));
  return model.requests[0];
}

it('lets a YAML agent plan in the open', async () => {
  for (const name of ['PlanReActPlanner', 'google.adk.planners.PlanReActPlanner', 'plan_re_act']) {
    expect((await requestOf(`planner: ${name}\n`))?.config.systemInstruction).toContain('/*PLANNING*/');
  }
});

it('lets a YAML agent leave the planning to the model, in either spelling', async () => {
  const planner =
    'planner: { name: BuiltInPlanner, args: { thinking_config: { include_thoughts: true, thinkingBudget: 5 } } }';

  expect((await requestOf(planner))?.config.thinkingConfig).toEqual({ includeThoughts: true, thinkingBudget: 5 });
});

it('takes a planner of the registry, made there or made of args', async () => {
  const registry = `export const careful = { instruction: 'Take care.' };
export const told = ({ what }) => ({ instruction: what });`;

  expect((await requestOf('planner: careful', registry))?.config.systemInstruction).toContain('Take care.');
  expect(
    (await requestOf('planner: { name: told, args: { what: Hurry. } }', registry))?.config.systemInstruction,
  ).toContain('Hurry.');
});

it.each([
  ['planner: nobody', /:3:1: planner "nobody" not found/],
  ['planner: 5', /:3:1: "planner" must be/],
  ['planner: BuiltInPlanner', /"planner.args.thinking_config" is missing/],
  ['planner: { name: BuiltInPlanner, args: { thinking_config: { thinking_budget: lots } } }', /must be a number/],
  ['planner: { name: PlanReActPlanner, args: { depth: 3 } }', /unknown key "depth"/],
  ['planner: { name: x, arg: {} }', /unknown key "arg" \(did you mean "args"\?\)/],
])('refuses %s, with the place', async (planner, message) => {
  const { load } = agentsDir({ 'app/root_agent.yaml': yamlAgent('a', `${planner}\n`) });

  const failure = await failureOf(load({ strict: true }), 'app');

  expect(failure.message).toMatch(/^app\/root_agent.yaml:3:\d+: /);
  expect(failure.message).toMatch(message);
});
