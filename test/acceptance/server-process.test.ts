import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { ServerProcess } from '../support/server.ts';

const folder = await mkdtemp(join(tmpdir(), 'server-process-'));
afterAll(() => vi.unstubAllEnvs());
afterAll(() => rm(folder, { recursive: true }));

/** A stand-in for the server: tells its environment as JSON, streams two frames, ends with code 3 on SIGTERM. */
const program = `
import { createServer } from 'node:http';
const server = createServer((request, response) => {
  if (request.url === '/env') return response.end(JSON.stringify({ env: process.env, args: process.argv.slice(2) }));
  if (request.url === '/torn') return response.end('data: {"a":1}\\n\\ndata: {');
  response.write('data: {"a":1}\\n\\n: ping\\n\\n');
  response.end('data: {"a":2}\\n\\n');
});
server.listen(0, '127.0.0.1', () => console.log('ready http://127.0.0.1:' + server.address().port + ' and more'));
process.on('SIGTERM', () => { console.error('bye'); process.exit(3); });
`;

async function start(source: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  const entry = join(folder, `${crypto.randomUUID()}.mjs`);
  await writeFile(entry, source);
  return await ServerProcess.start({ entry, agents: folder, env, flags: ['--log-level', 'info'] });
}

it('finds the address, passes flags and only the environment it is told, and reports the exit code', async () => {
  vi.stubEnv('GOOGLE_API_KEY', 'of the developer');
  const server = await start(program, { EXTRA: '1' });

  const { status, body } = await server.fetchJson('/env');

  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(status).toBe(200);
  expect(body).toMatchObject({ env: { EXTRA: '1' }, args: ['--port', '0', '--agents', folder, '--log-level', 'info'] });
  expect(body).not.toHaveProperty('env.GOOGLE_API_KEY');
  expect(await server.stop()).toBe(3);
  expect(server.stderr).toBe('bye\n');
});

it('reads a stream frame by frame and keeps its bytes', async () => {
  const server = await start(program);

  const stream = await server.sse('/run_sse', {});

  expect(await stream.all()).toEqual([{ a: 1 }, { a: 2 }]);
  expect(stream.raw.toString()).toBe('data: {"a":1}\n\n: ping\n\ndata: {"a":2}\n\n');
  await expect((await server.sse('/torn', {})).all()).rejects.toThrow('ends inside a frame');
  await server.stop();
});

it('throws with the output of a server that ends before it is ready', async () => {
  await expect(start('console.error("no such folder"); process.exit(1);')).rejects.toThrow(
    /exit code 1[^]*no such folder/,
  );
});
