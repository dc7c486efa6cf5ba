import { expect, it } from 'vitest';
import { agentTool } from '../../src/agents/agent-tool.ts';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { parallelAgent } from '../../src/agents/workflow.ts';
import { delay } from '../../src/base/abort.ts';
import type { Model, ModelResponse } from '../../src/core/model.ts';
import type { Agent, App } from '../../src/core/runtime.ts';
import { counterRefs, type Usage, type UsageStore } from '../../src/core/usage-store.ts';
import { LiveInbox } from '../../src/http/live/inbox.ts';
import type { Runner, RunnerOptions } from '../../src/runner/runner.ts';
import type { BudgetScope } from '../../src/schemas/budget.ts';
import { textOf } from '../../src/schemas/content.ts';
import { type Event, functionResponses } from '../../src/schemas/event.ts';
import type { RunConfig } from '../../src/schemas/run.ts';
import type { SessionKey } from '../../src/schemas/session.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { InMemoryUsage } from '../../src/services/usage/in-memory.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { call, calls, failingModel, partial, type Reply, replyModel, text } from '../support/reply-model.ts';
import { open, runAll, say, testRunner } from '../support/run.ts';

const used = (response: ModelResponse, prompt: number, candidates: number): ModelResponse => ({
  ...response,
  usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: candidates, totalTokenCount: prompt + candidates },
});
const tick = functionTool({ name: 'tick', description: 'Ticks.', run: () => ({ ok: true }) });
const ticking = (count: number, reply: Reply): Reply[] => Array.from({ length: count }, () => reply);

interface Scene {
  readonly runner: Runner;
  readonly key: SessionKey;
  readonly usage: InMemoryUsage;
  readonly services: RunnerOptions['services'];
  /** The events of a run, and the error it failed with. */
  readonly run: (fields?: object) => Promise<{ events: Event[]; error: unknown }>;
  readonly of: (scope: BudgetScope, runId?: string) => Promise<Usage | undefined>;
}

async function scene(
  rootAgent: Agent,
  runConfig: RunConfig,
  { app, ...options }: Partial<RunnerOptions> & { app?: Partial<App> } = {},
): Promise<Scene> {
  const usage = new InMemoryUsage();
  const sessions = new InMemorySessions();
  const services = { sessions, artifacts: new InMemoryArtifacts(), usage };
  const { runner, key } = await testRunner(rootAgent, { runConfig, services, ...(app && { app }), ...options });
  await sessions.createSession(key, { sessionId: key.sessionId });
  return {
    runner,
    key,
    usage,
    services,
    run: async (fields = {}) => {
      const events: Event[] = [];
      try {
        for await (const event of await runner.start(say(key, 'Hi', fields), open)) events.push(event);
        return { events, error: undefined };
      } catch (error) {
        return { events, error };
      }
    },
    of: async (scope, runId) => {
      const ref = counterRefs({ ...key, ...(runId !== undefined && { runId }) }, Date.now())[scope];
      return ref && (await usage.read([ref]))[0];
    },
  };
}

it('ends a run whose tokens are used up with an event that says which budget, and keeps all events before', async () => {
  const model = replyModel(...ticking(9, used(calls(call('tick')), 100, 300)));
  const { run, of, services, key } = await scene(llmAgent({ name: 'a', model, tools: [tick] }), {
    budgets: { session: { tokens: 1_000 } },
  });

  const { events, error } = await run();

  expect(error).toMatchObject({ code: 'budget_exceeded' });
  expect(model.requests).toHaveLength(3);
  const last = events.at(-1);
  expect(last).toMatchObject({
    author: 'a',
    errorCode: 'budget_exceeded',
    errorMessage: 'Budget exceeded: the session may use 1000 tokens, 1200 are used',
    customMetadata: { budget: { scope: 'session', kind: 'tokens', limit: 1_000, used: 1_200 } },
  });
  const stored = await services.sessions.getSession(key);
  expect(stored?.events.slice(1).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
  expect(events.filter((event) => functionResponses(event).length > 0)).toHaveLength(3);
  expect(await of('session')).toMatchObject({ tokens: 1_200, modelCalls: 3 });
  expect((await run()).error).toMatchObject({ code: 'budget_exceeded' });
});

it('refuses a call whose estimate does not fit, by the last prompt, by the characters, and by maxOutputTokens', async () => {
  const big = replyModel(...ticking(9, used(calls(call('tick')), 400, 10)));
  const known = await scene(llmAgent({ name: 'a', model: big, tools: [tick] }), {
    budgets: { run: { tokens: 1_000 } },
  });
  expect((await known.run()).events.at(-1)?.errorMessage).toContain('820 are used, and the next call needs about 400');

  const never = replyModel();
  const long = await scene(llmAgent({ name: 'a', model: never, instruction: 'x'.repeat(4_000) }), {
    budgets: { run: { tokens: 999 } },
  });
  expect((await long.run()).error).toMatchObject({ exceeded: { kind: 'tokens', used: 0 } });

  const config = { maxOutputTokens: 500 };
  const limited = await scene(llmAgent({ name: 'a', model: never, generateContentConfig: config }), {
    budgets: { run: { tokens: 500 } },
  });
  expect((await limited.run()).error).toMatchObject({ exceeded: { kind: 'tokens', used: 0 } });
  expect(never.requests).toEqual([]);
});

it('counts the cost by the price table, cached input by its own price', async () => {
  const usageMetadata = {
    promptTokenCount: 1_000_000,
    cachedContentTokenCount: 500_000,
    candidatesTokenCount: 100_000,
  };
  const model = { ...replyModel({ ...text('Hi'), usageMetadata }), name: 'gemini-9-mini' };
  const { run, of } = await scene(
    llmAgent({ name: 'a', model }),
    { budgets: { userDay: { cost: 3 } } },
    { prices: { 'gemini-9': { input: 90, output: 90 }, 'gemini-9-mini': { input: 2, output: 10, cachedInput: 1 } } },
  );

  expect((await run()).error).toBeUndefined();
  expect((await of('userDay'))?.cost).toBeCloseTo(2.5);
  const { error } = await run();
  expect(error).toMatchObject({ exceeded: { scope: 'userDay', kind: 'cost', limit: 3 }, code: 'budget_exceeded' });
  expect((error as { retryAfter: number }).retryAfter).toBeGreaterThan(0);
});

it('ends a run after its model calls', async () => {
  const model = replyModel(...ticking(9, calls(call('tick'))));
  const { run } = await scene(llmAgent({ name: 'a', model, tools: [tick] }), { budgets: { run: { modelCalls: 2 } } });

  expect((await run()).error).toMatchObject({ exceeded: { scope: 'run', kind: 'modelCalls', limit: 2, used: 2 } });
  expect(model.requests).toHaveLength(2);
  expect((await run()).error).toMatchObject({ exceeded: { used: 2 } });
});

it('runs the tools that fit, answers the others with an error, and then ends the run', async () => {
  let runs = 0;
  const counting = functionTool({ name: 'tick', description: 'Ticks.', run: () => ({ runs: (runs += 1) }) });
  const three = calls(call('tick', {}, '1'), call('tick', {}, '2'), call('tick', {}, '3'));
  const model = replyModel(three);
  const { run, of } = await scene(llmAgent({ name: 'a', model, tools: [counting] }), {
    budgets: { session: { toolCalls: 2 } },
  });

  const { events, error } = await run();

  expect(error).toMatchObject({ exceeded: { scope: 'session', kind: 'toolCalls', limit: 2, used: 2 } });
  expect(runs).toBe(2);
  const responses = events.flatMap(functionResponses);
  expect(responses.map(({ id }) => id)).toEqual(['1', '2', '3']);
  expect(responses.filter(({ response }) => response && 'error' in response)).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({
    errorCode: 'budget_exceeded',
    customMetadata: { budget: { kind: 'toolCalls' } },
  });
  expect(model.requests).toHaveLength(1);
  expect(await of('session')).toMatchObject({ toolCalls: 2 });
});

it('counts a call that the user confirms once, when it runs', async () => {
  const guarded = functionTool({ name: 'tick', description: 'Ticks.', requireConfirmation: true, run: () => ({}) });
  const model = replyModel(calls(call('tick', {}, '1')));
  const { run, of } = await scene(llmAgent({ name: 'a', model, tools: [guarded] }), {
    budgets: { session: { toolCalls: 1 } },
  });

  const { events } = await run();
  expect(await of('session')).toMatchObject({ toolCalls: 0 });
  const id = events.at(-1)?.content?.parts[0]?.functionCall?.id;
  const answer = { functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed: true } } };
  expect((await run({ newMessage: { role: 'user', parts: [answer] } })).error).toBeUndefined();

  expect(await of('session')).toMatchObject({ toolCalls: 1 });
});

it('ends a run in the middle of a tool when its time is used up', async () => {
  const slow = functionTool({
    name: 'slow',
    description: 'Waits.',
    run: (_args, ctx) => delay(60_000, ctx.signal).then(() => ({})),
  });
  const { run, of } = await scene(llmAgent({ name: 'a', model: replyModel(calls(call('slow'))), tools: [slow] }), {
    budgets: { userDay: { wallTimeMs: 80 } },
  });

  const { events, error } = await run();

  expect(error).toMatchObject({ exceeded: { scope: 'userDay', kind: 'wallTimeMs', limit: 80 } });
  expect(functionResponses(events.at(-1)!)).toHaveLength(1);
  expect((await of('userDay'))?.wallTimeMs).toBeGreaterThanOrEqual(79);
  expect((await run()).error).toMatchObject({ exceeded: { kind: 'wallTimeMs' } });
});

it('shares the budget of a run among parallel agents, agents as tools and the models they call', async () => {
  const worker = (name: string) =>
    llmAgent({
      name,
      model: replyModel(...ticking(5, used(calls(call('helper', { request: 'go' })), 50, 50))),
      tools: [
        agentTool({ agent: llmAgent({ name: 'helper', model: replyModel(...ticking(5, used(text('ok'), 50, 50))) }) }),
      ],
    });
  const { run, of } = await scene(parallelAgent({ name: 'both', subAgents: [worker('one'), worker('two')] }), {
    budgets: { run: { tokens: 600 } },
  });

  const { events, error } = await run();

  expect(error).toMatchObject({ exceeded: { scope: 'run', kind: 'tokens', limit: 600 } });
  expect(await of('run', events[0]?.invocationId)).toMatchObject({ tokens: 600, modelCalls: 6 });
});

it('lets one of many racing runs through at a time near the end of a budget', async () => {
  let inFlight = 0;
  let most = 0;
  const model: Model = {
    name: 'slow',
    async *generate(_request, signal) {
      most = Math.max(most, (inFlight += 1));
      await delay(5, signal);
      inFlight -= 1;
      yield used(text('Hi'), 10, 990);
    },
  };
  const { runner, key, services, of } = await scene(llmAgent({ name: 'a', model }), {
    autoCreateSession: true,
    budgets: { appDay: { tokens: 5_000 } },
  });

  const results = await Promise.allSettled(
    Array.from({ length: 9 }, (_, index) => runAll(runner, say({ ...key, sessionId: `s${index}` }, 'Hi'))),
  );

  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  expect(most).toBe(1);
  expect(await of('appDay')).toMatchObject({ tokens: 5_000 });
  expect((await services.sessions.getSession({ ...key, sessionId: 's0' }))?.events.at(-1)?.author).toBe('a');
});

it('streams until the budget is used up, and counts a call that was cancelled', async () => {
  const replies = [partial('H'), partial('i'), used(text('Hi'), 10, 90)];
  const agent = llmAgent({ name: 'a', model: replyModel(replies, replies) });
  const { run, of, runner, key, usage } = await scene(agent, { budgets: { session: { tokens: 100 } } });

  const { events } = await run({ streaming: true });
  expect(events.map((event) => textOf(event.content))).toEqual(['H', 'i', 'Hi']);
  expect((await run({ streaming: true })).events.map(({ errorCode }) => errorCode)).toEqual(['budget_exceeded']);
  expect(await of('session')).toMatchObject({ tokens: 100 });

  const other = { ...key, sessionId: 'other' };
  const request = say(other, 'Hi', { streaming: true, runConfig: { autoCreateSession: true } });
  for await (const event of await runner.start(request, open)) if (event.partial) break;
  const { session } = counterRefs(other, Date.now());
  expect(session && (await usage.read([session]))).toMatchObject([{ tokens: 2, modelCalls: 1 }]);
});

it('estimates a call that reports no usage, and does not charge one that fails', async () => {
  const silent = await scene(llmAgent({ name: 'a', model: replyModel(text('x'.repeat(400))) }), {
    budgets: { session: { tokens: 10_000 } },
  });
  await silent.run();
  expect((await silent.of('session'))?.tokens).toBeGreaterThanOrEqual(101);

  const failing = await scene(llmAgent({ name: 'a', model: failingModel(new Error('down')) }), {
    budgets: { session: { tokens: 10_000 } },
  });
  await failing.run();
  expect(await failing.of('session')).toMatchObject({ tokens: 0, modelCalls: 1 });
});

it('lets an app and a request lower a budget, and never raise it', async () => {
  const model = replyModel(...ticking(60, calls(call('tick'))));
  const budget = (modelCalls: number): RunConfig => ({ budgets: { run: { modelCalls } } });
  const { run } = await scene(llmAgent({ name: 'a', model, tools: [tick] }), budget(5), {
    app: { runConfig: budget(3) },
  });
  const limitOf = async (fields: object) =>
    ((await run(fields)).error as { exceeded: { limit: number } }).exceeded.limit;

  expect(await limitOf({})).toBe(3);
  expect(await limitOf({ runConfig: budget(100) })).toBe(3);
  expect(await limitOf({ runConfig: { budgets: { run: { model_calls: 2 }, user_day: { tokens: 1e9 } } } })).toBe(2);
  expect(await limitOf({ runConfig: budget(0) })).toBe(0);
});

it('asks no store without budgets', async () => {
  const refusing = new Proxy({} as UsageStore, {
    get: (_target, name) => {
      throw new Error(`${String(name)} was called`);
    },
  });
  const sessions = new InMemorySessions();
  const { runner, key } = await testRunner(
    llmAgent({ name: 'a', model: replyModel(calls(call('tick'))), tools: [tick] }),
    {
      services: { sessions, usage: refusing },
    },
  );
  await sessions.createSession(key, { sessionId: key.sessionId });

  expect(await runAll(runner, say(key, 'Hi'))).toHaveLength(3);
});

it('fails a run whose usage cannot be counted', async () => {
  const { run, usage } = await scene(llmAgent({ name: 'a', model: replyModel() }), {
    budgets: { run: { tokens: 100 } },
  });
  usage.reserve = () => Promise.reject(new Error('the disk is full'));

  expect((await run()).error).toMatchObject({ message: 'the disk is full' });
});

const hear = (...words: string[]): LiveInbox => {
  const inbox = new LiveInbox(() => {});
  for (const said of words) inbox.push({ kind: 'content', content: { role: 'user', parts: [{ text: said }] } });
  inbox.end();
  return inbox;
};

it('ends a live conversation once its budget is used up', async () => {
  const model: Model = {
    ...replyModel(),
    async *connect(_request, input) {
      for await (const _heard of input) yield { ...used(text('Yes'), 40, 20), turnComplete: true };
    },
  };
  const { runner, key, of, services } = await scene(llmAgent({ name: 'a', model }), {
    budgets: { session: { tokens: 120 } },
  });
  const talk = async (): Promise<Event[]> => {
    const events: Event[] = [];
    const live = await runner.startLive(key, hear('one', 'two', 'three'), open);
    await expect(
      (async () => {
        for await (const event of live) events.push(event);
      })(),
    ).rejects.toMatchObject({ code: 'budget_exceeded' });
    return events;
  };

  expect((await talk()).map(({ errorCode }) => errorCode)).toEqual([undefined, undefined, 'budget_exceeded']);
  expect(await of('session')).toMatchObject({ tokens: 120, modelCalls: 2 });
  expect((await services.sessions.getSession(key))?.events.at(-1)?.errorCode).toBe('budget_exceeded');
  expect((await talk()).map(({ errorCode }) => errorCode)).toEqual(['budget_exceeded']);
});

it('counts the turns of a live conversation with a model that cannot connect', async () => {
  const model = replyModel(...ticking(5, used(text('Yes'), 40, 20)));
  const { runner, key, of } = await scene(llmAgent({ name: 'a', model }), { budgets: { session: { modelCalls: 2 } } });
  const live = await runner.startLive(key, hear('one', 'two', 'three'), open);

  await expect(Array.fromAsync(live)).rejects.toMatchObject({ code: 'budget_exceeded' });
  expect(await of('session')).toMatchObject({ tokens: 120, modelCalls: 2 });
});

it('goes on counting when a run continues, and frees what the run held before', async () => {
  const model = replyModel(...ticking(9, used(calls(call('tick')), 10, 10)));
  const { runner, key, of, usage } = await scene(llmAgent({ name: 'a', model, tools: [tick] }), {
    budgets: { run: { modelCalls: 2 }, session: { tokens: 5_000 } },
  });
  let runId = '';
  for await (const event of await runner.start(say(key, 'Hi'), open)) {
    runId = event.invocationId;
    break;
  }
  const { session } = counterRefs(key, Date.now());
  const counters = session ? [{ ...session, budget: {} }] : [];
  const id = `${JSON.stringify([key.userId, key.sessionId, runId])}/lost`;
  const lost = { tokens: 5_000, cost: 0 };
  const held = { id, counters, checks: [], wallTimeMs: 0, lifetimeMs: 60_000, estimate: { least: lost, most: lost } };
  expect(await usage.reserve(held)).toEqual({ status: 'granted' });

  const rest = runner.start({ ...key, invocationId: runId, streaming: false }, open);

  await expect(rest.then((events) => Array.fromAsync(events))).rejects.toMatchObject({
    exceeded: { scope: 'run', kind: 'modelCalls', used: 2 },
  });
  expect(await of('run', runId)).toMatchObject({ modelCalls: 2, tokens: 40 });
});
