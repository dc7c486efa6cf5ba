import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { loopAgent, parallelAgent, sequentialAgent } from '../../src/agents/workflow.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { Agent, RunContext } from '../../src/core/runtime.ts';
import { newActions } from '../../src/schemas/event.ts';
import { Conversation, summary } from '../support/fake-run.ts';

/** Says its words one after another, and waits before each as long as it is told. */
function speaker(name: string, words: readonly string[], waits: readonly number[] = []): Agent {
  return {
    name,
    async *run(ctx) {
      for (const [index, word] of words.entries()) {
        if (waits[index]) await sleep(waits[index], undefined, { signal: ctx.signal });
        yield newEvent(ctx, name, { content: { role: 'model', parts: [{ text: word }] } });
      }
    },
  };
}

const escalating = (name: string, then: readonly string[] = []): Agent => ({
  name,
  async *run(ctx) {
    yield newEvent(ctx, name, { actions: { ...newActions(), escalate: true } });
    yield* speaker(name, then).run(ctx);
  },
});

it('runs a sequence in order, whoever escalates', async () => {
  const root = sequentialAgent({ name: 'root', subAgents: [escalating('a'), speaker('b', ['two'])] });

  expect(summary(await new Conversation(root).send('go'))).toEqual(['a: ', 'b: two']);
});

it('does nothing without sub-agents', async () => {
  for (const make of [sequentialAgent, loopAgent, parallelAgent]) {
    expect(await new Conversation(make({ name: 'root' })).send('go')).toEqual([]);
  }
});

it('loops as often as it may', async () => {
  const root = loopAgent({ name: 'root', subAgents: [speaker('a', ['x']), speaker('b', ['y'])], maxIterations: 2 });

  expect(summary(await new Conversation(root).send('go'))).toEqual(['a: x', 'b: y', 'a: x', 'b: y']);
});

it('lets the agent that escalates finish, then leaves the loop', async () => {
  const root = loopAgent({ name: 'root', subAgents: [escalating('a', ['bye']), speaker('b', ['never'])] });

  expect(summary(await new Conversation(root).send('go'))).toEqual(['a: ', 'a: bye']);
});

it('ends an endless loop of agents that never wait when the run is cancelled', async () => {
  const root = loopAgent({ name: 'root', subAgents: [speaker('a', ['x'])] });
  const cancel = new AbortController();
  setTimeout(() => cancel.abort(new Error('enough')), 5);

  await expect(new Conversation(root).send('go', { signal: cancel.signal })).rejects.toThrow('enough');
});

it.each([{ maxIterations: -1 }, { maxIterations: 1.5 }])('refuses a loop with %o', (options) => {
  expect(() => loopAgent({ name: 'root', ...options })).toThrow('maxIterations of "root"');
});

it('runs agents side by side on branches of their own, events as they arrive', async () => {
  const inner = parallelAgent({ name: 'inner', subAgents: [speaker('c', ['three'], [20])] });
  const root = parallelAgent({
    name: 'root',
    subAgents: [speaker('a', ['late'], [40]), speaker('b', ['soon'], [1]), inner],
  });

  const events = await new Conversation(root).send('go');

  expect(summary(events)).toEqual(['b: soon', 'c: three', 'a: late']);
  expect(events.map(({ branch }) => branch)).toEqual(['root.b', 'root.inner.inner.c', 'root.a']);
});

it('lets a parallel agent go on only when its last event is stored', async () => {
  const seen: number[] = [];
  const counting: Agent = {
    name: 'a',
    async *run(ctx) {
      for (let index = 0; index < 3; index += 1) {
        yield newEvent(ctx, 'a', { content: { role: 'model', parts: [{ text: 'x' }] } });
        seen.push(ctx.session.events.filter(({ author }) => author === 'a').length);
      }
    },
  };

  await new Conversation(parallelAgent({ name: 'root', subAgents: [counting, speaker('b', ['y'])] })).send('go');

  expect(seen).toEqual([1, 2, 3]);
});

it('cancels the other branches when one escalates, and gives its event last', async () => {
  let stopped = false;
  const patient: Agent = {
    name: 'b',
    async *run(ctx) {
      try {
        await sleep(10_000, undefined, { signal: ctx.signal });
        yield newEvent(ctx, 'b');
      } finally {
        stopped = true;
      }
    },
  };
  const root = parallelAgent({ name: 'root', subAgents: [escalating('a', ['never']), patient] });

  expect(summary(await new Conversation(root).send('go'))).toEqual(['a: ']);
  expect(stopped).toBe(true);
});

it('cancels the other branches when one fails, and fails as that one did', async () => {
  const failing: Agent = {
    name: 'a',
    // oxlint-disable-next-line require-yield
    async *run() {
      throw new Error('broken');
    },
  };
  const root = parallelAgent({ name: 'root', subAgents: [failing, speaker('b', ['never'], [10_000])] });

  await expect(new Conversation(root).send('go')).rejects.toThrow('broken');
});

it('runs no more branches at a time than it may', async () => {
  let running = 0;
  let most = 0;
  const tracked = (name: string): Agent => ({
    name,
    async *run(ctx: RunContext) {
      running += 1;
      most = Math.max(most, running);
      await sleep(2);
      running -= 1;
      yield newEvent(ctx, name);
    },
  });
  const root = parallelAgent({ name: 'root', subAgents: ['a', 'b', 'c', 'd', 'e'].map(tracked), maxConcurrency: 2 });

  expect(await new Conversation(root).send('go')).toHaveLength(5);
  expect(most).toBe(2);
});

it('closes its branches when the caller stops listening', async () => {
  const root = parallelAgent({
    name: 'root',
    subAgents: [speaker('a', ['x', 'y']), speaker('b', ['never'], [10_000])],
  });

  for await (const event of new Conversation(root).stream('go')) {
    expect(event.author).toBe('a');
    break;
  }
});
