import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ServerProcess } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'serve-'));
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};

write(
  'agents/echo/agent.ts',
  `import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';
const shout = functionTool({
  name: 'shout', description: 'Shouts.', parameters: z.object({ text: z.string() }),
  run: ({ text }) => ({ loud: text.toUpperCase() }),
});
export const rootAgent = llmAgent({
  name: 'echo', model: 'scripted', instruction: 'Echo.', tools: [shout],
  script: [{ match: '(.+)', calls: [{ name: 'shout', args: { text: '$1' } }] }, { after: 'shout', text: '\${shout.loud}!' }],
});
`,
);
write(
  'agents/faulty/agent.ts',
  `import { functionTool, llmAgent } from 'agent-server';
const late = functionTool({
  name: 'late', description: 'Fails later.',
  run: () => {
    setTimeout(() => { throw new Error('thrown late with sk-abcdefghijklmnop'); }, 5);
    void Promise.reject(new Error('rejected late'));
    return { ok: true };
  },
});
export const rootAgent = llmAgent({
  name: 'faulty', model: 'scripted', instruction: 'x', tools: [late],
  script: [{ after: 'late', text: 'done' }, { calls: [{ name: 'late' }] }],
});
`,
);
write('agents/hello/root_agent.yaml', 'name: hello\ninstruction: Greet.\nmodel: scripted\nscript: [{ text: one }]\n');
write('agents/broken/agent.ts', 'export const rootAgent = oops;\n');
write('agents/snake/agent.py', '');

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({ agents: join(folder, 'agents') });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function ask(app: string, text: string): Promise<{ status: number; said: string; body: unknown }> {
  const session = await server.fetchJson(`/apps/${app}/users/u/sessions`, { json: {} });
  const { id: sessionId } = session.body as { id: string };
  const { status, body } = await server.fetchJson('/run', {
    json: { appName: app, userId: 'u', sessionId, newMessage: { role: 'user', parts: [{ text }] } },
  });
  const events = Array.isArray(body) ? (body as { content?: { parts: { text?: string }[] } }[]) : [];
  return { status, body, said: events.at(-1)?.content?.parts[0]?.text ?? '' };
}

it('prints where it is and which apps it found', () => {
  expect(server.stdout).toContain(`Web UI  ${server.url}/dev-ui/`);
  expect(server.stdout).toMatch(
    / {4}broken {2}TypeScript\n {4}echo {4}TypeScript\n {4}faulty {2}TypeScript\n {4}hello {3}YAML\n/,
  );
  expect(server.stdout).toContain('not an app: snake: Python agents cannot be run here');
});

it('runs agents outside the repository that import agent-server and zod', async () => {
  expect(await ask('echo', 'hi there')).toMatchObject({ status: 200, said: 'HI THERE!' });
});

it('answers for a broken app with what is wrong and where, and goes on', async () => {
  const { status, body } = await server.fetchJson('/run', {
    json: { appName: 'broken', userId: 'u', sessionId: 's', newMessage: { parts: [{ text: 'x' }] } },
  });

  expect(status).toBe(500);
  expect(body).toMatchObject({
    code: 'app_broken',
    error: 'broken/agent.ts:1:26: ReferenceError: oops is not defined',
  });
  expect((await ask('hello', 'x')).status).toBe(200);
});

it('uses an edited agent at the next request', async () => {
  write('agents/hello/root_agent.yaml', 'name: hello\ninstruction: Greet.\nmodel: scripted\nscript: [{ text: two }]\n');

  await vi.waitFor(async () => expect((await ask('hello', 'x')).said).toBe('two'), { timeout: 2000, interval: 100 });
});

it('survives what an agent throws and rejects later, and logs it without secrets', async () => {
  expect(await ask('faulty', 'go')).toMatchObject({ status: 200, said: 'done' });

  await vi.waitFor(() => {
    expect(server.stderr).toContain('thrown late with [redacted]');
    expect(server.stderr).toContain('rejected late');
  });
  expect((await ask('echo', 'still')).said).toBe('STILL!');
});

it('logs JSON lines only', () => {
  const lines = server.stderr.trim().split('\n');

  expect(lines.map((line) => (JSON.parse(line) as { level: number }).level).every((level) => level >= 30)).toBe(true);
});

const spawned: ReturnType<typeof spawn>[] = [];
afterEach(() => spawned.splice(0).forEach((child) => child.kill('SIGKILL')));

async function run(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, ['dist/main.js', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  spawned.push(child);
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => (out += String(text)));
  child.stderr.on('data', (text) => (err += String(text)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}

it.each([
  [['--prot', '1'], 'Unknown flag --prot (did you mean "--port"?)'],
  [['serve', 'x'], 'Unexpected argument "x"'],
  [['--port', 'x'], '--port must be a whole number from 0 to 65535, not "x"'],
  [['--host', '0.0.0.0'], '--host 0.0.0.0 is reachable by others'],
  [['--host', '0.0.0.0', '--insecure', '--dev'], '--dev lets every client write agents'],
  [['--surface', 'trace'], '--surface must be one of api, dev, app-details'],
  [['--agents', '/no/such/folder'], 'The agents folder "/no/such/folder" does not exist'],
  [['--cors-allow-credentials', '--allow-origin', '*'], 'Cross-origin credentials cannot be allowed'],
])('ends with code 2 for %j', async (args, message) => {
  const { code, err } = await run(args);

  expect(err).toContain(message);
  expect(err).toContain('See agent-server --help.');
  expect(code).toBe(2);
});

it('shows help and version', async () => {
  expect(await run(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--port PORT') as string });
  expect(await run(['-v'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
});

it('says so when the port is in use, and ends with code 1', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as { port: number };

  const { code, err } = await run([], { PORT: String(port), AGENTS_DIR: folder });

  holder.close();
  expect(err).toContain(`Port ${port} on 127.0.0.1 is in use`);
  expect(code).toBe(1);
});

it('ends with code 0 at SIGTERM, within its grace although a run goes on', async () => {
  write(
    'slow/slow/root_agent.yaml',
    'name: slow\ninstruction: x\nmodel: scripted\nscript: [{ text: x, delayMs: 60000 }]\n',
  );
  const slow = await ServerProcess.start({ agents: join(folder, 'slow'), flags: ['--shutdown-grace', '200ms'] });
  await slow.fetchJson('/apps/slow/users/u/sessions/s', { json: {} });
  const stream = await slow.sse('/run_sse', {
    appName: 'slow',
    userId: 'u',
    sessionId: 's',
    streaming: true,
    newMessage: { parts: [{ text: 'x' }] },
  });

  const [code, frames] = await Promise.all([slow.stop(), stream.all()]);

  expect(code).toBe(0);
  expect(frames.at(-1)).toMatchObject({ errorCode: expect.any(String) as string });
});
