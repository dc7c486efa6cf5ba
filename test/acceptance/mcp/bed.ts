import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { ServerProcess } from '../../support/server.ts';
import { Conversation } from '../real-input/conversation.ts';

const packages = new URL('../../../node_modules/@modelcontextprotocol/', import.meta.url);
export const everything = new URL('server-everything/dist/index.js', packages).pathname;
export const filesystem = new URL('server-filesystem/dist/index.js', packages).pathname;

const readyPattern = /running on port|listening on port/;

/** A port nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** The reference server over one of its transports, in a process that can be killed and started again. */
export interface Everything {
  /** The `args` of a YAML entry that reaches it. */
  readonly args: Record<string, unknown>;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** Over HTTP the process is ours. */
export async function httpEverything(kind: 'sse' | 'streamableHttp'): Promise<Everything> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const base = `http://127.0.0.1:${port}`;
  return {
    args:
      kind === 'sse'
        ? { sse_server_params: { url: base } }
        : { streamable_http_connection_params: { url: `${base}/mcp` } },
    async start() {
      const started = spawn(process.execPath, [everything, kind], {
        env: { PATH: process.env['PATH'], PORT: String(port) },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child = started;
      let said = '';
      for await (const chunk of started.stderr.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if (readyPattern.test((said += chunk.toString()))) break;
      }
      started.stderr.resume();
    },
    async kill() {
      if (!child) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      child = undefined;
      await ended;
    },
  };
}

/** Over stdio the process is the agent server's; it leaves its id in a file. */
export async function stdioEverything(folder: string): Promise<Everything> {
  const pidFile = join(folder, 'everything.pid');
  const program = join(folder, 'everything.mjs');
  const source = `import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
await import(${JSON.stringify(pathToFileURL(everything).href)});
`;
  await writeFile(program, source);
  return {
    args: { stdio_server_params: { command: process.execPath, args: [program, 'stdio'] } },
    start: async () => {},
    kill: async () => void process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL'),
  };
}

/** A folder that is real: servers compare paths. */
export const workFolder = async (): Promise<string> => realpath(await mkdtemp(join(tmpdir(), 'mcp-acceptance-')));

/** Writes a YAML agent with a script and tools. */
export async function writeApp(agents: string, app: string, agent: Record<string, unknown>): Promise<void> {
  await mkdir(join(agents, app), { recursive: true });
  const text = stringify({ name: app, model: 'scripted', instruction: 'Use your tools.', ...agent });
  await writeFile(join(agents, app, 'root_agent.yaml'), text);
}

export function startServer(agents: string): Promise<ServerProcess> {
  return ServerProcess.start({ agents, env: { ADK_ALLOW_CONFIG_STDIO_MCP_SERVERS: '1' } });
}

export const chatWith = (server: ServerProcess, app: string): Promise<Conversation> => Conversation.open(server, app);

export const remove = (folder: string): Promise<void> => rm(folder, { recursive: true });

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export const pidOf = (folder: string): number => Number(readFileSync(join(folder, 'everything.pid'), 'utf8'));
