import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';
import { keyPatterns } from '../../hostile/key-patterns.ts';

const messageWith = (key: string): string => `Upstream refused the request signed with ${key} at 12:00`;

const leak = functionTool({
  name: 'leak',
  description: 'Fails with a credential in its message.',
  parameters: z.object({ index: z.coerce.number() }),
  run: ({ index }) => {
    throw new Error(messageWith(keyPatterns[index]!.key));
  },
});

/** Its model, and its tool, fail with a message that holds a credential: `model 3` and `tool 3` use pattern 3. */
export const rootAgent = llmAgent({
  name: 'keys_agent',
  description: 'Fails with credentials in the message.',
  model: 'scripted',
  instruction: 'You fail.',
  tools: [leak],
  script: [
    { after: 'leak', text: 'The tool failed.' },
    ...keyPatterns.map(({ key }, index) => ({
      match: `^model ${index}$`,
      error: { code: 'UNAUTHENTICATED', message: messageWith(key) },
    })),
    { match: '^tool (\\d+)$', calls: [{ name: 'leak', args: { index: '$1' } }] },
    { text: 'Hello!' },
  ],
});
