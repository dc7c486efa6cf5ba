import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import type { ArtifactService, NewContent } from '../../../src/core/services.ts';
import { FileArtifacts } from '../../../src/services/artifacts/files/files.ts';
import { InMemoryArtifacts } from '../../../src/services/artifacts/in-memory.ts';
import { rawClient } from '../raw-client.ts';
import { listen, type Logged, server, sessionPath } from '../server.ts';

const path = `${sessionPath('s')}/artifacts/film`;
const head = (target: string, type: string, length: number, method = 'PUT'): string =>
  `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agent-slow-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A server on which whole requests have half a second, which Node looks at every two. */
async function hurried(artifacts: ArtifactService, config: object) {
  const { app, logged } = await server({ artifacts, config });
  app.server.headersTimeout = 500;
  app.server.requestTimeout = 500;
  await app.inject({ method: 'POST', url: sessionPath('s') });
  return { app, logged, ...(await rawClient(await listen(app))) };
}

/** Sends a byte a few times a second, until the connection is gone or so many are sent. */
async function drip(socket: { write(text: string): boolean; readonly destroyed: boolean }, count: number) {
  for (let sent = 0; sent < count && !socket.destroyed; sent += 1) {
    socket.write('x');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const faults = (logged: readonly Logged[]): Logged[] => logged.filter(({ level }) => level !== 'info');

it('takes uploads that last longer than a request may, and then other requests of the same connection', async () => {
  const { socket, received } = await hurried(new FileArtifacts(freshFolder()), { uploadIdleMs: 2000 });

  socket.write(head(path, 'video/mp4', 30));
  await drip(socket, 30);
  await vi.waitUntil(() => received().includes('"version":0'), { timeout: 5000 });
  socket.write(head('/run', 'application/json', 30, 'POST'));
  await drip(socket, 29);

  expect(received().match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408']);
});

it('takes forms that last longer than a request may', async () => {
  const builderRoot = freshFolder();
  const { socket, received } = await hurried(new InMemoryArtifacts(), { uploadIdleMs: 2000, builderRoot });
  const start =
    '--b\r\ncontent-disposition: form-data; name="files"; filename="cook/root_agent.yaml"\r\n\r\nname: cook\ninstruction: ';

  const end = '\r\n--b--\r\n';
  const length = start.length + 20 + end.length;
  socket.write(head('/builder/save', 'multipart/form-data; boundary=b', length, 'POST') + start);
  await drip(socket, 20);
  socket.write(end);
  await vi.waitUntil(() => received().endsWith('true'), { timeout: 5000 });

  expect(received()).toMatch(/^HTTP\/1.1 200/);
});

it('gives up on uploads that fall silent, with 408, and keeps nothing of them', async () => {
  const folder = freshFolder();
  const { socket, received, ended, logged } = await hurried(new FileArtifacts(folder), { uploadIdleMs: 300 });

  socket.write(`${head(path, 'video/mp4', 30)}some`);
  await ended;

  expect(received()).toMatch(/^HTTP\/1.1 408 /);
  await vi.waitFor(() => expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]));
  expect(faults(logged)).toEqual([]);
});

/** A store that takes its time before it reads, or after. */
class SlowStore extends InMemoryArtifacts {
  readonly #when: 'first' | 'last' | 'never';

  constructor(when: 'first' | 'last' | 'never') {
    super();
    this.#when = when;
  }

  async saveArtifactContent(key: Parameters<ArtifactService['saveArtifact']>[0], name: string, content: NewContent) {
    if (this.#when === 'first') await new Promise((resolve) => setTimeout(resolve, 3000));
    for await (const _ of content.bytes) {
      if (this.#when === 'last') await new Promise((resolve) => setTimeout(resolve, 3000));
      if (this.#when === 'never') throw new AppError('unavailable', 'The store is gone', { retryAfter: 2 });
    }
    return this.saveArtifact(key, name, { text: 'x' });
  }
}

it.each([
  ['first', 4_000_000],
  ['last', 10],
] as const)('does not blame the client of a store that is slow (%s)', async (when, size) => {
  const { socket, received } = await hurried(new SlowStore(when), { uploadIdleMs: 300 });

  socket.write(head(path, 'video/mp4', size) + 'x'.repeat(size));
  await vi.waitUntil(() => received() !== '', { timeout: 10_000 });

  expect(received()).toMatch(/^HTTP\/1.1 200/);
});

it('answers a client that is still sending, and reads the rest for a while only', async () => {
  const { socket, received, ended } = await hurried(new SlowStore('never'), { uploadIdleMs: 1000 });

  socket.write(`${head(path, 'video/mp4', 30_000_000)}${'x'.repeat(5_000_000)}`);
  await vi.waitUntil(() => received().endsWith('}'), { timeout: 5000 });
  await Promise.all([drip(socket, 100), ended]);

  expect(received()).toMatch(/^HTTP\/1.1 503 /);
  expect(received()).toContain('retry-after: 2');
});

it('does not log clients that leave in the middle of an upload as a fault', async () => {
  const builderRoot = freshFolder();
  const { app, logged } = await hurried(new FileArtifacts(freshFolder()), { builderRoot });
  const url = app.listeningOrigin;
  const form = '--b\r\ncontent-disposition: form-data; name="files"; filename="cook/root_agent.yaml"\r\n\r\nname: cook';
  const starts = [
    `${head(path, 'video/mp4', 30)}some`,
    head('/builder/save', 'multipart/form-data; boundary=b', 300, 'POST') + form,
    `${head('/run', 'application/json', 30, 'POST')}{"`,
  ];
  let gone = 0;
  app.server.on('connection', (socket) => socket.once('close', () => (gone += 1)));
  for (const start of starts) {
    const { socket } = await rawClient(url);
    socket.write(start);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.resetAndDestroy();
  }
  await vi.waitUntil(() => gone === starts.length, { timeout: 5000 });
  await new Promise((resolve) => setTimeout(resolve, 100));

  expect(faults(logged)).toEqual([]);
});

/** A store of an endless artifact, which fails when it is told to. */
class EndlessStore extends InMemoryArtifacts {
  isGone = false;

  async openArtifact(key: Parameters<ArtifactService['saveArtifact']>[0], name: string) {
    await this.saveArtifact(key, name, { text: 'x' });
    const [about] = await this.listVersions(key, name);
    return { about: about!, size: 10_000_000_000, read: () => this.#read() };
  }

  async *#read() {
    while (!this.isGone) yield Buffer.alloc(100_000);
    throw new AppError('unavailable', 'The store is gone');
  }
}

it('does not log clients that leave in the middle of a download, but stores that do', async () => {
  const artifacts = new EndlessStore();
  const { app, logged, socket, received, ended } = await hurried(artifacts, {});
  const leaver = await rawClient(app.listeningOrigin);
  const get = `GET ${path}?alt=media HTTP/1.1\r\nHost: localhost\r\n\r\n`;

  let isGone = false;
  app.server.once('request', (_request, response) => response.once('close', () => (isGone = true)));
  leaver.socket.write(get);
  await vi.waitUntil(() => leaver.received().length > 1_000_000);
  leaver.socket.resetAndDestroy();
  await vi.waitUntil(() => isGone);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(faults(logged)).toEqual([]);

  socket.write(get);
  await vi.waitUntil(() => received().length > 1_000_000);
  artifacts.isGone = true;
  await ended;
  await vi.waitFor(() => expect(faults(logged)).toEqual([expect.objectContaining({ level: 'warn' })]));
});
