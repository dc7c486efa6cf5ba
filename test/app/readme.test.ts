import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServerProcess } from '../support/server.ts';

const readme = readFileSync('README.md', 'utf8');
const block = (language: string, after: string): string => {
  const from = readme.indexOf(after);
  const match = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme.slice(from));
  return match?.[1] ?? '';
};

const folder = mkdtempSync(join(tmpdir(), 'readme-'));
function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

let server: ServerProcess;
beforeAll(async () => {
  write('weather/agent.ts', block('ts', 'first agent in TypeScript'));
  write('poet/root_agent.yaml', block('yaml', 'first agent in YAML'));
  write('faulty/root_agent.yaml', block('yaml', 'first agent in YAML').replace('temperature: 1.0', 'temperature: hot'));
  server = await ServerProcess.start({ agents: folder });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function ask(app: string, text: string): Promise<{ status: number; body: unknown; text: string }> {
  await server.fetchJson(`/apps/${app}/users/ada/sessions/first`, { json: {} });
  return await server.fetchJson('/run', {
    json: { appName: app, userId: 'ada', sessionId: 'first', newMessage: { role: 'user', parts: [{ text }] } },
  });
}

it('shows a TypeScript agent that works', async () => {
  expect((await ask('weather', 'What is the weather in Lima?')).text).toContain('Sunny in Lima, 24 degrees.');
});

it('shows a YAML agent that works', async () => {
  expect((await ask('poet', 'Who are you?')).text).toContain('Roses are red');
});

it('shows the message of a mistake as it is', async () => {
  const { status, body } = await ask('faulty', 'x');

  expect(status).toBe(500);
  const message = (body as { error: string }).error.replace('faulty/', 'poet/');
  expect(readme).toContain(message);
});

it('links to files that are there', () => {
  for (const [, target = ''] of readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
    expect(() => readFileSync(target)).not.toThrow(/ENOENT/);
  }
});
