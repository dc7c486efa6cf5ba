import { defaultModel } from '../core/model.ts';

/** The values in the files of a new app. */
export interface NewApp {
  /** The name of the folder. */
  readonly name: string;
  /** The name of the agent: the folder's, as an identifier. */
  readonly agent: string;
  /** From the app's folder to the JSON Schema of YAML agents. */
  readonly schemaPath: string;
}

/** The files of a new app, by name. */
export type NewFiles = Readonly<Record<string, string>>;

/** An app of one LLM agent with a tool. Its script answers until an API key is set. */
export function typescriptFiles({ name, agent }: NewApp): NewFiles {
  return {
    'agent.ts': `import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

const rollDice = functionTool({
  name: 'roll_dice',
  description: 'Rolls dice and returns the numbers.',
  parameters: z.object({ count: z.coerce.number().int().min(1).max(20).describe('How many dice') }),
  run: ({ count }) => {
    const rolls = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * 6));
    return { rolls: rolls.join(', '), sum: rolls.reduce((sum, roll) => sum + roll, 0) };
  },
});

export const rootAgent = llmAgent({
  name: '${agent}',
  model: '${defaultModel}',
  description: 'Rolls dice.',
  instruction: 'You are a friendly assistant. Roll dice with roll_dice when you are asked to, never in your head.',
  tools: [rollDice],
  // Answers without an API key for the model. Remove the script when you do not need it.
  script: [
    { match: 'roll (\\\\d+)', calls: [{ name: 'roll_dice', args: { count: '$1' } }] },
    { after: 'roll_dice', text: 'The dice show \${roll_dice.rolls}, which makes \${roll_dice.sum}.' },
    { text: 'Hello! I am ${name}. Say "roll 2 dice".' },
  ],
});
`,
    'README.md': readme(name, 'agent.ts', 'Say "roll 2 dice": the agent calls its tool and answers with the result.'),
  };
}

/** An app of one LLM agent. Its script answers until an API key is set. */
export function yamlFiles({ name, agent, schemaPath }: NewApp): NewFiles {
  return {
    'root_agent.yaml': `# yaml-language-server: $schema=${schemaPath}
name: ${agent}
model: ${defaultModel}
description: A friendly assistant.
instruction: |
  You are a friendly assistant. Answer in one or two sentences.
# Answers without an API key for the model. Remove the script when you do not need it.
script:
  - match: '(?:my name is|i am|i''m) (\\w+)'
    text: Nice to meet you, $1!
  - text: Hello! I am ${name}. What is your name?
`,
    'README.md': readme(name, 'root_agent.yaml', 'Say "I am Ada": the agent answers with your name.'),
  };
}

function readme(name: string, file: string, hint: string): string {
  return `# ${name}

An app of agent-server. The agent is in \`${file}\`; edits apply to the next message.

- \`npx agent-server run ${name}\` chats with it in the terminal. ${hint}
- \`npx agent-server\` serves it, with a web UI.
- \`npx agent-server validate\` checks it.

Without an API key it answers from the script in \`${file}\`. With \`GOOGLE_API_KEY\` in the environment it calls Gemini.
`;
}
