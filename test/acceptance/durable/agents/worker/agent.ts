import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

/** Writes down that it was called, by its key, and takes its time. */
const work = functionTool({
  name: 'work',
  description: 'Works.',
  parameters: z.object({ what: z.string(), diary: z.string() }),
  async run({ what, diary }, { idempotencyKey, signal }) {
    appendFileSync(diary, `${what} ${idempotencyKey}\n`);
    await pause(1_500, undefined, { signal });
    return { done: what };
  },
});

const sign = functionTool({
  name: 'sign',
  description: 'Signs, if the user says so.',
  parameters: z.object({ diary: z.string() }),
  requireConfirmation: true,
  run({ diary }, { idempotencyKey }) {
    appendFileSync(diary, `sign ${idempotencyKey}\n`);
    return { signed: true };
  },
});

/** `work FILE` does two things at once, then says so; `sign FILE` asks first. */
export const rootAgent = llmAgent({
  name: 'worker',
  model: 'scripted',
  tools: [work, sign],
  script: [
    { after: 'work', text: 'Both are done.' },
    { after: 'sign', text: 'Signed.' },
    {
      match: '^work (.+)$',
      calls: ['one', 'two'].map((what) => ({ name: 'work', args: { what, diary: '$1' } })),
    },
    { match: '^sign (.+)$', calls: [{ name: 'sign', args: { diary: '$1' } }] },
  ],
});
