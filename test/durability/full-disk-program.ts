import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { ServerProcess } from '../support/server.ts';

// Runs where it may mount what it likes: makes a small disk for all that a server keeps, lets it run full, and tells
// what the server answers before, meanwhile and afterwards.

const [, , disk = ''] = process.argv;
const artifactFolder = join(disk, 'artifacts');
const session = '/apps/echo/users/u/sessions/s';

function mount(command: 'mount' | 'umount', ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

const say = (fact: object): boolean => process.stdout.write(`${JSON.stringify(fact)}\n`);
const message = { newMessage: { role: 'user', parts: [{ text: 'hi' }] } };
const runBody = { appName: 'echo', userId: 'u', sessionId: 's', ...message };
const agent = `name: echo\ninstruction: Answer.\nmodel: scripted\nscript:\n  - text: 'yes'\n`;
const ballast = join(disk, 'ballast');

function fill(): void {
  const file = openSync(ballast, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file); // it is full
  }
}

function start(): Promise<ServerProcess> {
  const database = `sqlite:${join(disk, 'data.db')}`;
  const stores = [
    '--session-service',
    database,
    '--memory-service',
    database,
    '--artifact-service',
    `file:${artifactFolder}`,
  ];
  return ServerProcess.start({ agents: join(disk, 'agents'), flags: [...stores, '--dev', '--log-level', 'warn'] });
}

/** Status, and whether the answer says when to try again. */
async function put(server: ServerProcess, name: string, body: RequestInit['body']): Promise<[number, boolean]> {
  const url = `${server.url}${session}/artifacts/${name}`;
  const answer = await fetch(url, { method: 'PUT', body, duplex: 'half' });
  await answer.arrayBuffer();
  return [answer.status, answer.headers.has('retry-after')];
}

async function writes(server: ServerProcess): Promise<[number, boolean][]> {
  const form = new FormData();
  form.append('files', new Blob([agent]), 'made/root_agent.yaml');
  const builder = await fetch(`${server.url}/builder/save`, { method: 'POST', body: form });
  const answers = [
    await server.fetchJson('/run', { json: runBody }),
    await server.fetchJson('/run_sse', { json: runBody }),
    await server.fetchJson(`${session}/runs`, { json: message }),
    await server.fetchJson(session, { method: 'PATCH', json: { stateDelta: { a: 'b'.repeat(10_000) } } }),
    await server.fetchJson('/apps/echo/eval_sets/set', { json: {} }),
    builder,
  ];
  const told = answers.map(({ status, headers }): [number, boolean] => [status, headers.has('retry-after')]);
  return [...told, await put(server, 'new', Buffer.alloc(100_000))];
}

async function kept(server: ServerProcess): Promise<object> {
  const { body } = await server.fetchJson(session);
  const artifact = await fetch(`${server.url}${session}/artifacts/old?alt=media`);
  return {
    events: (body as { events?: unknown[] }).events?.length,
    artifact: (await artifact.arrayBuffer()).byteLength,
    names: (await server.fetchJson(`${session}/artifacts`)).body,
  };
}

async function served(server: ServerProcess): Promise<number> {
  while ((await server.fetchJson('/ready')).status !== 200) await pause(50);
  return (await server.fetchJson('/run', { json: runBody })).status;
}

mount('mount', '-t', 'tmpfs', '-o', 'size=3m', 'none', disk);
mkdirSync(join(disk, 'agents/echo'), { recursive: true });
writeFileSync(join(disk, 'agents/echo/root_agent.yaml'), agent);
const first = await start();
await first.fetchJson(session, { json: {} });
await first.fetchJson('/run', { json: runBody });
await put(first, 'old', Buffer.alloc(30_000));
await first.stop();

fill();
const server = await start();
say({ ready: (await server.fetchJson('/ready')).status, kept: await kept(server) });
say({ refused: await writes(server) });
say({ kept: await kept(server), leftOver: readdirSync(artifactFolder) });
rmSync(ballast);
say({ served: await served(server) });

fill();
say({ refused: await writes(server) });
rmSync(ballast);
say({ served: await served(server), kept: await kept(server) });

// Mounted over itself, the folder becomes read-only in the middle of an upload.
async function* slowly(): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from('half');
  while (!readdirSync(artifactFolder).some((name) => name.startsWith('.new-'))) await pause(10);
  mount('mount', '--bind', artifactFolder, artifactFolder);
  mount('mount', '-o', 'remount,bind,ro', artifactFolder);
  yield Buffer.from('whole');
}
say({ refused: await put(server, 'torn', ReadableStream.from(slowly())), kept: await kept(server) });
mount('umount', artifactFolder);
say({ taken: await put(server, 'torn', 'whole') });
rmSync(artifactFolder, { recursive: true });
say({ taken: await put(server, 'other', 'whole') });

say({ end: await server.stop() });
say({ ...new DatabaseSync(join(disk, 'data.db')).prepare('pragma integrity_check').get() });
