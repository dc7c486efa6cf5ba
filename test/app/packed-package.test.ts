import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

// The package as npm packs it, in a project of somebody else.
const project = mkdtempSync(join(tmpdir(), 'packed-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));

const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc');
const program = `
import { llmAgent } from 'agent-server';
import { createServer, type Event, InMemorySessions, type Session, type SessionService } from 'agent-server/server';
const stored: string[] = [];
class Mine extends InMemorySessions implements SessionService {
  override appendEvent(session: Session, event: Event): Promise<Event> {
    stored.push(event.author);
    return super.appendEvent(session, event);
  }
}
const agents = llmAgent({ name: 'greeter', model: 'scripted', script: [{ match: '', text: 'Hello!' }] });
const server = createServer({ agents, port: 0, sessionService: new Mine(), logLevel: 'silent' });
const url = await server.listen();
const body = { appName: 'greeter', userId: 'ada', sessionId: 's1', newMessage: { parts: [{ text: 'hi' }] }, runConfig: { autoCreateSession: true } };
const answer = await fetch(url + '/run', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
console.log(JSON.stringify({ status: answer.status, text: await answer.text(), stored }));
await server.close();
`;

beforeAll(() => {
  const sources = join(project, 'sources');
  for (const name of ['package.json', 'bin', 'dist', 'schema', 'README.md', 'LICENSE']) {
    cpSync(name, join(sources, name), { recursive: true });
  }
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], {
    cwd: sources,
    encoding: 'utf8',
  });
  const [{ filename } = { filename: '' }] = JSON.parse(packed) as { filename: string }[];
  mkdirSync(join(project, 'node_modules'));
  for (const name of readdirSync('node_modules')) {
    symlinkSync(join(process.cwd(), 'node_modules', name), join(project, 'node_modules', name));
  }
  mkdirSync(join(project, 'node_modules/agent-server'));
  execFileSync('tar', ['xzf', filename, '-C', 'node_modules/agent-server', '--strip-components=1'], { cwd: project });
  rmSync(sources, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'main.ts'), program);
}, 120_000);

function check(file: string): { said: string; files: string } {
  const options = { strict: true, skipLibCheck: false, target: 'es2024', module: 'nodenext', types: ['node'] };
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...options, noEmit: true }, files: [file] }),
  );
  const { stdout } = spawnSync(process.execPath, [compiler, '--listFiles'], { cwd: project, encoding: 'utf8' });
  const lines = stdout.split('\n');
  return {
    said: lines.filter((line) => line.includes('error TS')).join('\n'),
    files: lines.filter((line) => line.startsWith('/')).join('\n'),
  };
}

it('type-checks strictly with its declarations, without types of Fastify or of a provider, and chats', () => {
  const { said, files } = check('main.ts');
  const run = spawnSync(process.execPath, ['main.ts'], { cwd: project, encoding: 'utf8' });

  expect(said).toBe('');
  expect(files).toContain('agent-server/dist/server/index.d.ts');
  expect(files).not.toMatch(/node_modules\/(fastify|openai|@anthropic-ai|@google\/genai)\//);
  expect(run.stderr).toBe('');
  expect(JSON.parse(run.stdout)).toMatchObject({ status: 200, stored: ['user', 'greeter'] });
}, 120_000);

it.each(['agent-server', 'agent-server/server', 'agent-server/testing'])(
  '%s has declarations without faults',
  (name) => {
    writeFileSync(
      join(project, 'entry.ts'),
      `import * as entry from '${name}';\nconsole.log(Object.keys(entry).length);\n`,
    );

    expect(check('entry.ts').said).toBe('');
  },
  120_000,
);
