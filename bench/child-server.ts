import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { get } from './adk.ts';
import { Connection } from './connection.ts';

/** The kernel counts process time in hundredths of a second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const START_TIMEOUT_MS = 120_000;

export interface ChildServer {
  readonly port: number;
  /** From the spawn to the first answer with status 200. */
  readonly readyMs: number;
  /** User and system time since the start, summed over threads and child processes; NaN where /proc is missing. */
  cpuSeconds(): number;
  /** Resident memory of the process and its children; NaN where /proc is missing. */
  residentBytes(): number;
  stop(): Promise<void>;
}

export interface ChildServerOptions {
  readonly args: readonly string[];
  /** A cheap GET that answers 200 as soon as the server is of use. */
  readonly readyPath: string;
  /** Where its log goes: shown when it does not start. */
  readonly logFile: string;
}

const running = new Set<ChildProcess>();
/** However the benchmark ends, it leaves no server behind. */
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Starts a Node process that prints its base URL and waits until it answers. */
export async function startServer({ args, readyPath, logFile }: ChildServerOptions): Promise<ChildServer> {
  const log = openSync(logFile, 'w');
  const from = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', log], env: quietEnvironment() });
  closeSync(log);
  running.add(child);
  try {
    const port = await printedPort(child);
    const probe = new Connection(port);
    const reply = await probe.send(get(readyPath));
    const readyMs = performance.now() - from;
    probe.close();
    if (reply.status !== 200) throw new Error(`GET ${readyPath} answered ${reply.status}: ${reply.start}`);
    const pid = child.pid!;
    return {
      port,
      readyMs,
      cpuSeconds: () => sum(processTree(pid), cpuSecondsOf),
      residentBytes: () => sum(processTree(pid), residentBytesOf),
      stop: () => stop(child),
    };
  } catch (cause) {
    await stop(child);
    const said = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
    throw new Error(`"${args.join(' ')}" did not start. Its log ends with:\n${said}`, { cause });
  }
}

/** Production settings, and no credentials: no model outside this machine may be called. */
function quietEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(GOOGLE_|GEMINI_|ANTHROPIC_|OPENAI_|OTEL_|PORT$|HOST$|AGENTS_DIR$|NODE_OPTIONS$)/.test(name),
  );
  return { ...Object.fromEntries(kept), NODE_ENV: 'production' };
}

function printedPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error('It printed no URL')), START_TIMEOUT_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`It ended with code ${code}`));
    });
    child.stdout?.on('data', (bytes) => {
      text = (text + String(bytes)).slice(-10_000);
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(timer);
}

function processTree(pid: number): readonly number[] {
  const children: number[] = [];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const listed = readFileSync(join('/proc', String(pid), 'task', thread, 'children'), 'utf8');
      children.push(...listed.split(' ').filter(Boolean).map(Number));
    }
  } catch {
    // no /proc, or the process has just ended: its own reader says NaN
  }
  return [pid, ...children.flatMap(processTree)];
}

function cpuSecondsOf(pid: number): number {
  try {
    // The command name may hold spaces, so fields are counted from the bracket that closes it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}

function residentBytesOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}

const sum = (pids: readonly number[], read: (pid: number) => number): number =>
  pids.reduce((total, pid) => total + read(pid), 0);
