import { setTimeout as sleep } from 'node:timers/promises';
import { functionTool } from 'agent-server';
import { z } from 'zod';

/** How often `tick` has run, by session id. Each tick follows one model call. */
const ticks = new Map<string, number>();

export const stateTools = [
  functionTool({
    name: 'echo',
    description: 'Answers its text.',
    parameters: z.object({ text: z.string() }),
    run: ({ text }) => ({ text }),
  }),
  functionTool({
    name: 'increment',
    description: 'Reads a number of the state, waits, and writes it back plus one.',
    parameters: z.object({ key: z.string() }),
    run: async ({ key }, ctx) => {
      const value = Number(ctx.state.get(key) ?? 0) + 1;
      await sleep(20, undefined, { signal: ctx.signal });
      ctx.state.set(key, value);
      return { value };
    },
  }),
  functionTool({
    name: 'remember',
    description: 'Writes one key of the state.',
    parameters: z.object({ key: z.string(), value: z.string() }),
    run: ({ key, value }, ctx) => {
      ctx.state.set(key, value);
      return { key, value };
    },
  }),
  functionTool({
    name: 'save_note',
    description: 'Saves a text artifact.',
    parameters: z.object({ name: z.string(), text: z.string() }),
    run: async ({ name, text }, ctx) => ({ version: await ctx.saveArtifact(name, { text }) }),
  }),
  functionTool({
    name: 'tick',
    description: 'Counts one step of the session and takes its time.',
    parameters: z.object({}),
    run: async (_args, ctx) => {
      ticks.set(ctx.session.id, (ticks.get(ctx.session.id) ?? 0) + 1);
      await sleep(100);
      return { done: true };
    },
  }),
  functionTool({
    name: 'count_of',
    description: 'Tells how many steps a session has counted.',
    parameters: z.object({ session: z.string() }),
    run: ({ session }) => ({ count: ticks.get(session) ?? 0 }),
  }),
];
