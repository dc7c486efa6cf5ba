import { createNoopMeter, metrics } from '@opentelemetry/api';
import { afterEach, expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { Conversation } from '../support/fake-run.ts';
import { call, calls, replyModel, text } from '../support/reply-model.ts';

afterEach(() => metrics.disable());

interface Point {
  readonly name: string;
  readonly value: number;
  readonly attributes: Record<string, unknown>;
}

/** Registers a provider that keeps what is measured. */
function measured(): Point[] {
  const points: Point[] = [];
  const createHistogram = (name: string) => ({
    record: (value: number, attributes: object) => void points.push({ name, value, attributes: { ...attributes } }),
  });
  metrics.setGlobalMeterProvider({
    getMeter: () => Object.assign(Object.create(createNoopMeter()), { createHistogram }),
  });
  return points;
}

const tools = [
  functionTool({ name: 'add', description: '', run: () => ({ sum: 3 }) }),
  functionTool({
    name: 'fail',
    description: '',
    run: () => {
      throw new TypeError('no');
    },
  }),
];

const talk = () => {
  const usage = { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 } };
  const model = replyModel(calls(call('add', { a: 1 }), call('fail')), { ...text('done'), ...usage });
  return new Conversation(llmAgent({ name: 'a', model, tools })).send('go');
};

it('measures agents, tools and models once somebody wants to know', async () => {
  const points = measured();

  await talk();

  const of = (name: string) => points.filter((point) => point.name === name);
  expect(of('gen_ai.agent.invocation.duration').map(({ attributes }) => attributes)).toEqual([
    { 'gen_ai.agent.name': 'a' },
  ]);
  expect(of('gen_ai.tool.execution.duration').map(({ attributes }) => attributes)).toEqual([
    { 'gen_ai.tool.name': 'add' },
    { 'gen_ai.tool.name': 'fail', 'error.type': 'TypeError' },
  ]);
  expect(of('gen_ai.tool.request.size')[0]?.value).toBe('{"a":1}'.length);
  expect(of('gen_ai.tool.response.size')[0]?.value).toBeGreaterThanOrEqual('{"sum":3}'.length);
  expect(of('gen_ai.client.operation.duration')).toHaveLength(2);
  expect(
    of('gen_ai.client.token.usage').map(({ value, attributes }) => [attributes['gen_ai.token.type'], value]),
  ).toEqual([
    ['input', 5],
    ['output', 2],
  ]);
  expect(points.every(({ value }) => Number.isFinite(value) && value >= 0)).toBe(true);
});

it('goes to the provider that is registered at the time, and to none when there is none', async () => {
  const first = measured();
  await talk();
  const count = first.length;
  metrics.disable();
  await talk();
  const second = measured();
  await talk();

  expect(first).toHaveLength(count);
  expect(second).toHaveLength(count);
});
