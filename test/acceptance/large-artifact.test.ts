import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { ServerProcess } from '../support/server.ts';

const agents = fileURLToPath(new URL('durable/agents', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agent-large-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const mebibyte = 1024 * 1024;
const size = 200;
const hasProc = existsSync('/proc/self/status');
if (!hasProc) console.log('skipped: this system does not tell how much memory a process had at most');

function* content(): Generator<Uint8Array, void, void> {
  for (let n = 0; n < size; n += 1) yield Buffer.alloc(mebibyte, n);
}

/** The most memory a process ever had, in MiB. */
function peak(pid: number | undefined): number {
  const [, kibibytes = ''] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

it.skipIf(!hasProc)('takes and gives a large artifact without holding it in memory', async () => {
  const server = await ServerProcess.start({ agents, flags: ['--artifact-service', `file:${folder}`] });
  const url = `${server.url}/apps/counter/users/u/sessions/s/artifacts/film`;
  await server.fetchJson('/apps/counter/users/u/sessions/s', { json: {} });
  await (await fetch(url, { method: 'PUT', body: 'the first, which loads what is loaded on first use' })).text();
  const before = peak(server.pid);

  const put = await fetch(url, { method: 'PUT', body: ReadableStream.from(content()), duplex: 'half' });
  const version: unknown = await put.json();
  let received = 0;
  for await (const chunk of (await fetch(`${url}?alt=media`)).body ?? []) received += chunk.length;
  const range = await fetch(`${url}?alt=media`, { headers: { range: `bytes=${7 * mebibyte - 1}-${7 * mebibyte}` } });

  expect([put.status, version, received]).toEqual([200, expect.objectContaining({ version: 1 }), size * mebibyte]);
  expect(Buffer.from(await range.arrayBuffer()).toString('hex')).toBe('0607');
  expect(peak(server.pid) - before).toBeLessThan(size / 2);
  expect(await server.stop()).toBe(0);
});
