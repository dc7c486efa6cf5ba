import { expect, it } from 'vitest';
import { llmAgent } from '../../src/index.ts';
import { createModelRegistry } from '../../src/models/registry.ts';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { runAll, say, testRunner } from '../support/run.ts';

const models = createModelRegistry({ env: {} });
const requestKey = 'gcp.vertex.agent.llm_request';
const responseKey = 'gcp.vertex.agent.llm_response';

interface ShownRequest {
  contents: { role: string; parts: { text: string }[] }[];
  omittedContents?: number;
}

async function talker(text: string, maxBytes: number) {
  const traces = new TraceRecorder({ maxBytes });
  const agent = llmAgent({ name: 'root', model: 'scripted', script: [{ match: '[^]*', text }] });
  const bed = await testRunner(agent, { models, traces });
  const attributes = (name: string): unknown[] =>
    [...traces.forSession(bed.key.sessionId)].flatMap((span) => span.attributes[name] ?? []);
  return {
    ...bed,
    traces,
    requests: () => attributes(requestKey).map((json): ShownRequest => JSON.parse(String(json))),
    responses: () => attributes(responseKey).map(String),
  };
}

it('shows the whole of each request of a session, though its history is held once', async () => {
  const { runner, key, traces, requests } = await talker('Fine.', 10_000_000);

  for (let turn = 0; turn < 20; turn += 1) await runAll(runner, say(key, `turn ${turn}`));
  const afterTwenty = traces.bytes;
  for (let turn = 20; turn < 40; turn += 1) await runAll(runner, say(key, `turn ${turn}`));

  const shown = requests();
  expect(shown.map(({ contents }) => contents.length)).toEqual(shown.map((_, turn) => 2 * turn + 1));
  expect(
    shown
      .at(-1)
      ?.contents.map(({ parts }) => parts[0]?.text)
      .slice(0, 3),
  ).toEqual(['turn 0', 'Fine.', 'turn 1']);
  expect(shown.at(-1)).not.toHaveProperty('omittedContents');
  expect(traces.bytes).toBeLessThan(afterTwenty * 2.1);
});

it('holds a bounded part of long answers and long histories, and says what it left out', async () => {
  const { runner, key, traces, requests, responses } = await talker('word '.repeat(200_000), 20_000_000);

  for (let turn = 0; turn < 30; turn += 1) {
    await runAll(runner, say(key, `turn ${turn}`));
    expect(traces.bytes).toBeLessThanOrEqual(20_000_000);
  }

  const shown = requests().at(-1)!;
  const contents = shown.contents.length;
  expect(contents + (shown.omittedContents ?? 0)).toBe(59);
  expect(shown.omittedContents).toBeGreaterThan(0);
  expect(shown.contents.at(-1)).toMatchObject({ role: 'user', parts: [{ text: 'turn 29' }] });
  expect(responses().at(-1)).toContain('… [cut: it has 1000000 characters]');
  expect(responses().at(-1)!.length).toBeLessThan(300_000);
});

it('goes on with a history from which an invocation was taken back', async () => {
  const { runner, key, requests } = await talker('Fine.', 10_000_000);
  for (let turn = 0; turn < 5; turn += 1) await runAll(runner, say(key, `turn ${turn}`));
  const [event] = await runAll(runner, say(key, 'wrong'));

  await runner.rewind(key, event!.invocationId);
  await runAll(runner, say(key, 'right'));

  const texts = requests().map(({ contents }) => contents.at(-1)?.parts[0]?.text);
  expect(texts).toEqual(['turn 0', 'turn 1', 'turn 2', 'turn 3', 'turn 4', 'wrong', 'right']);
  expect(JSON.stringify(requests().at(-1))).not.toContain('wrong');
});
