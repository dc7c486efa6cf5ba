import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeAgents, type App } from './agents.ts';
import { startServer, type ChildServer } from './child-server.ts';

/** What a case gets: how much work to do, and servers on demand. */
export interface Bench {
  /** How often a figure is taken; the median counts. */
  readonly rounds: number;
  /** 1 for the full amount of work. */
  readonly scale: number;
  /** Starts the measured server over a folder that holds only these apps. */
  start(apps: readonly App[], flags?: readonly string[]): Promise<ChildServer>;
  /** The same over any folder of apps. */
  startOver(agents: string): Promise<ChildServer>;
  /** A folder that goes with the bench. */
  readonly folder: string;
  startBare(kind: 'fastify' | 'sse' | 'echo'): Promise<ChildServer>;
  /** Stops every server started so far. */
  stopAll(): Promise<void>;
  /** Stops everything and removes the folders. */
  close(): Promise<void>;
}

export interface BenchOptions {
  readonly rounds: number;
  readonly scale: number;
  /** The file that Node starts as the measured server. */
  readonly entry: string;
}

export function openBench({ rounds, scale, entry }: BenchOptions): Bench {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-bench-'));
  const running: ChildServer[] = [];
  let started = 0;
  const start = async (args: readonly string[], readyPath: string): Promise<ChildServer> => {
    started += 1;
    const server = await startServer({ args, readyPath, logFile: join(folder, `${started}.log`) });
    running.push(server);
    return server;
  };
  const stopAll = async (): Promise<void> => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
  };
  return {
    rounds,
    scale,
    folder,
    start: (apps, flags = []) => {
      const agents = join(folder, apps.join('-'));
      writeAgents(agents, apps);
      return start([...startFlags(), entry, '--port', '0', '--agents', agents, ...flags], '/list-apps');
    },
    startOver: (agents) => start([...startFlags(), entry, '--port', '0', '--agents', agents], '/list-apps'),
    startBare: (kind) => start(['bench/bare-server.ts', kind], '/version'),
    stopAll,
    close: async () => {
      await stopAll();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What `npm start` tells Node: the measured server is told the same. */
function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}
