import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { ServerProcess } from '../support/server.ts';
import { Conversation, outline, textOf } from './real-input/conversation.ts';

const folder = mkdtempSync(join(tmpdir(), 'agents-'));
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};

const agent = (version: string): string => `
import { llmAgent } from 'agent-server';
import { wait, words } from './lib/tools.ts';

export const rootAgent = llmAgent({
  name: 'edited',
  model: 'scripted',
  instruction: 'Say who you are.',
  tools: [wait],
  script: [
    { match: 'wait', calls: [{ name: 'wait', args: {} }] },
    { after: 'wait', text: '\${wait.tools} \${wait.late} ${version}' },
    { text: words('${version}') },
  ],
});
`;
const tools = (version: string): string => `
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { functionTool } from 'agent-server';
import { z } from 'zod';

export const words = (agent: string): string => \`agent \${agent}, tools ${version}\`;
export const wait = functionTool({
  name: 'wait',
  description: 'Waits until it may go on',
  parameters: z.object({}),
  run: async () => {
    while (!existsSync(\`\${import.meta.dirname}/go\`)) await setTimeout(20);
    const { late } = await import('./late.ts');
    return { tools: '${version}', late };
  },
});
`;

write('edited/agent.ts', agent('0'));
write('edited/lib/tools.ts', tools('0'));
write('edited/lib/late.ts', "export const late: string = 'late';\n");
const server = await ServerProcess.start({ agents: folder });
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** What a new conversation is told, as soon as it is the words given. */
async function expectWords(words: string): Promise<void> {
  const chat = await Conversation.open(server, 'edited');
  await vi.waitFor(async () => expect((await chat.say('hi')).map(textOf)).toEqual([words]), {
    timeout: 10_000,
    interval: 100,
  });
}

it('answers with each edit of an agent and of what it imports, and warns of nothing', async () => {
  await expectWords('agent 0, tools 0');
  for (const version of ['1', '2', '3', '4']) {
    write('edited/agent.ts', agent(version));
    await expectWords(`agent ${version}, tools ${Number(version) - 1}`);
    write('edited/lib/tools.ts', tools(version));
    await expectWords(`agent ${version}, tools ${version}`);
  }

  expect(server.stderr).not.toMatch(/warning/i);
});

it('ends a run as it began while its agent is edited', async () => {
  write('edited/agent.ts', agent('old'));
  write('edited/lib/tools.ts', tools('old'));
  await expectWords('agent old, tools old');
  const chat = await Conversation.open(server, 'edited');
  const running = chat.say('wait');
  await vi.waitFor(async () => expect((await chat.session()).events).toHaveLength(2), 10_000);

  write('edited/agent.ts', agent('new'));
  write('edited/lib/tools.ts', tools('new'));
  await expectWords('agent new, tools new');
  write('edited/lib/go', '');

  expect(outline(await running)).toEqual(['edited: call wait', 'edited: response wait', 'edited: old late old']);
  expect((await chat.say('wait')).map(textOf).at(-1)).toBe('new late new');
});

it('goes on with the last version while an edit is broken', async () => {
  write('edited/agent.ts', agent('good'));
  await expectWords('agent good, tools new');

  write('edited/lib/tools.ts', `${tools('broken')}\nexport const x = ;`);
  await vi.waitFor(async () => {
    await expectWords('agent good, tools new');
    const { body } = await server.fetchJson('/list-apps?detailed=true');
    expect(body).toMatchObject({
      apps: [{ error: expect.stringMatching(/^edited\/lib\/tools.ts:19:18: SyntaxError/) }],
    });
  }, 10_000);

  write('edited/lib/tools.ts', tools('mended'));
  await expectWords('agent good, tools mended');
});
