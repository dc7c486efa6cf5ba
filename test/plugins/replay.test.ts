import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { Model } from '../../src/core/model.ts';
import type { Agent } from '../../src/core/runtime.ts';
import { scriptedModel } from '../../src/models/scripted/scripted.ts';
import { recordPlugin } from '../../src/plugins/replay/record.ts';
import { replayPlugin } from '../../src/plugins/replay/replay.ts';
import type { Event } from '../../src/schemas/event.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { runAll, say, testRunner } from '../support/run.ts';

let root: string;
beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'replay-'))));
afterEach(() => rm(root, { recursive: true, force: true }));

const script = [
  { match: 'roll', calls: [{ name: 'roll', args: { sides: 6 } }] },
  { after: 'roll', text: 'You rolled ${roll.value}.' },
  { text: 'Hello.' },
];
const silent: Model = {
  name: 'silent',
  // oxlint-disable-next-line require-yield
  async *generate() {
    throw new Error('The model must not be called in a replay');
  },
};

let rolls = 0;
const rollingAgent = (model: Model): Agent =>
  llmAgent({
    name: 'root',
    model,
    tools: [
      functionTool({
        name: 'roll',
        description: 'Rolls a die',
        parameters: { type: 'object', properties: { sides: { type: 'integer' } } },
        run: (_args, ctx) => {
          ctx.state.set('rolled', true);
          return { value: (rolls += 1) };
        },
      }),
    ],
  });

/** What two runs of one conversation have in common. */
const gist = (events: readonly Event[]): unknown =>
  events.map(({ author, content, finishReason, usageMetadata, actions }) => ({
    author,
    finishReason,
    usageMetadata,
    state: Object.fromEntries(Object.entries(actions.stateDelta).filter(([key]) => !key.startsWith('_adk'))),
    parts: content?.parts.map((part) => JSON.stringify(part).replaceAll(/adk-[0-9a-f-]{36}/g, 'adk-id')),
  }));

it('replays a recorded conversation without its model', async () => {
  const config = (userMessageIndex: number): object => ({ dir: 'case', user_message_index: userMessageIndex });
  const recorded = await testRunner(rollingAgent(scriptedModel(script)), { plugins: [recordPlugin({ root })] });
  const replayed = await testRunner(rollingAgent(silent), { plugins: [replayPlugin({ root })] });

  for (const [index, text] of ['hi', 'roll'].entries()) {
    await runAll(recorded.runner, say(recorded.key, text, { stateDelta: { _adk_recordings_config: config(index) } }));
  }
  for (const [index, text] of ['hi', 'roll'].entries()) {
    await runAll(replayed.runner, say(replayed.key, text, { stateDelta: { _adk_replay_config: config(index) } }));
  }

  const original = await recorded.services.sessions.getSession(recorded.key);
  const copy = await replayed.services.sessions.getSession(replayed.key);
  expect(gist(copy!.events)).toEqual(gist(original!.events));
  expect(copy!.state).toMatchObject({ rolled: true });
  expect(await readFile(join(root, 'case/generated-recordings.yaml'), 'utf8')).toContain('agent_name: root');
});

it('leaves a run alone whose state names no cassette', async () => {
  const { runner, key } = await testRunner(rollingAgent(scriptedModel(script)), { plugins: [replayPlugin({ root })] });

  const [event] = await runAll(runner, say(key, 'hi'));

  expect(event?.content?.parts).toEqual([{ text: 'Hello.' }]);
});

it('ends the run with a clear error when the conversation leaves the recording', async () => {
  await writeFile(join(root, 'generated-recordings.yaml'), 'recordings: []\n');
  const { runner, key } = await testRunner(rollingAgent(silent), { plugins: [replayPlugin({ root })] });
  const stateDelta = { _adk_replay_config: { dir: '.', user_message_index: 0 } };

  await expect(runAll(runner, say(key, 'hi', { stateDelta }))).rejects.toThrow(
    'The cassette has no further model call of agent "root" for user message 0',
  );
});
