import { fileURLToPath } from 'node:url';
import type { Run } from '../../../src/schemas/run-record.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { ServerProcess } from '../../support/server.ts';
import { readFrames, type SseFrame } from '../../support/sse-frames.ts';

const agents = fileURLToPath(new URL('agents', import.meta.url));

/** A server of the test's own, which shares its database with others. */
export class Replica {
  readonly process: ServerProcess;

  private constructor(process: ServerProcess) {
    this.process = process;
  }

  static async start(uri: string, flags: readonly string[] = []): Promise<Replica> {
    const all = ['--session-service', uri, '--log-level', 'warn', '--shutdown-grace', '300ms', ...flags];
    return new Replica(await ServerProcess.start({ agents, flags: all }));
  }

  signal(name: NodeJS.Signals): void {
    if (this.process.pid !== undefined) process.kill(this.process.pid, name);
  }

  async newSession(app: string): Promise<string> {
    const { body } = await this.process.fetchJson(`/apps/${app}/users/u/sessions`, { json: {} });
    return `/apps/${app}/users/u/sessions/${(body as { id: string }).id}`;
  }

  async start(session: string, text: string, fields: object = {}): Promise<{ status: number; run: Run }> {
    const json = { newMessage: { role: 'user', parts: [{ text }] }, ...fields };
    const { status, body } = await this.process.fetchJson(`${session}/runs`, { json });
    return { status, run: body as Run };
  }

  async run(session: string, id: string): Promise<Run> {
    const { status, body, text } = await this.process.fetchJson(`${session}/runs/${id}`);
    if (status !== 200) throw new Error(`The run was answered with ${text}`);
    return body as Run;
  }

  async wait(session: string, id: string): Promise<Run> {
    return (await this.process.fetchJson(`${session}/runs/${id}/wait?timeoutMs=15000`)).body as Run;
  }

  async cancel(session: string, id: string, json: object = {}): Promise<Run> {
    return (await this.process.fetchJson(`${session}/runs/${id}/cancel`, { json })).body as Run;
  }

  /** Frames of a run, up to the end of its stream or as many as asked for. */
  async follow(session: string, id: string, { last = '', count = Infinity } = {}): Promise<SseFrame[]> {
    const frames: SseFrame[] = [];
    for await (const frame of this.frames(session, id, last)) {
      frames.push(frame);
      if (frames.length >= count) break;
    }
    return frames;
  }

  /** Frames of a run as they come, from behind the last that is known. */
  async *frames(session: string, id: string, last: string): AsyncGenerator<SseFrame, void, void> {
    const url = `${this.process.url}${session}/runs/${id}/stream`;
    const response = await fetch(url, { headers: { 'last-event-id': last } });
    if (response.status !== 200) throw new Error(`The stream was answered with ${await response.text()}`);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const { frames, rest } = readFrames(text);
      text = rest;
      yield* frames;
    }
  }

  /** What is stored in a session: who said what in which run. */
  async history(session: string): Promise<{ author: string; text: string; run: string }[]> {
    const { body } = await this.process.fetchJson(session);
    const { events } = body as { events: StoredEvent[] };
    return events.map(({ author, content, errorCode, invocationId }) => ({
      author,
      text: content?.parts[0]?.text ?? errorCode ?? '',
      run: invocationId,
    }));
  }

  async state(session: string): Promise<Record<string, unknown>> {
    return ((await this.process.fetchJson(session)).body as { state: Record<string, unknown> }).state;
  }
}

interface StoredEvent {
  readonly author: string;
  readonly invocationId: string;
  readonly errorCode?: string;
  readonly content?: { readonly parts: readonly { readonly text?: string }[] };
}

/** What the agent `steps` says. */
export const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index + 1}`.padStart(3, '0'));

export interface TwoReplicas {
  readonly postgres: PostgresServer;
  readonly uri: string;
  readonly a: Replica;
  readonly b: Replica;
  close(): Promise<void>;
}

/** Two servers on one database. */
export async function twoReplicas(flags: readonly string[] = []): Promise<TwoReplicas> {
  const postgres = await startPostgres();
  const uri = await postgres.newDatabase();
  const [a, b] = await Promise.all([Replica.start(uri, flags), Replica.start(uri, flags)]);
  return {
    postgres,
    uri,
    a,
    b,
    async close() {
      await Promise.all([a.process.stop(), b.process.stop()]);
      await postgres.close();
    },
  };
}
