import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startChromium } from './chromium.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address that `shared` asks. */
    shared: string;
  }
}

/** Programs that all test files share. Each starts when the first file asks for it. */
class Shared {
  readonly #closing: (() => Promise<void>)[] = [];
  #postgres: ReturnType<typeof startPostgres> | undefined;
  #chromium: ReturnType<typeof startChromium> | undefined;

  /** The URI of a new database. No test cuts the power, so nothing is flushed to the disk. */
  async database(): Promise<string> {
    this.#postgres ??= startPostgres(['max_connections=300', 'fsync=off', 'full_page_writes=off']).then((server) => {
      this.#closing.push(() => server.close());
      return server;
    });
    return (await this.#postgres).newDatabase();
  }

  /** The WebSocket address of the browser. */
  async chromium(): Promise<string> {
    this.#chromium ??= startChromium().then((server) => {
      this.#closing.push(() => server.close());
      return server;
    });
    return (await this.#chromium).wsEndpoint();
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
  }
}

/** Before any test: builds what is old, because tests start the server and open the web UI that users get. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { status } = spawnSync(process.execPath, ['bin/build.js', '--old'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The server or its web UI could not be built');

  const shared = new Shared();
  const server = createServer((request, response) => {
    const wanted = request.url === '/database' ? shared.database() : shared.chromium();
    wanted.then(
      (address) => response.end(address),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('shared', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    await shared.close();
  };
}
