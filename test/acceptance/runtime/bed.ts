import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { GeminiDouble } from '../../support/gemini-double.ts';
import { ServerProcess } from '../../support/server.ts';
import { Conversation } from '../real-input/conversation.ts';

/** The apps of these tests: agents as their authors write them. */
export const agents = join(import.meta.dirname, 'agents');

export interface Bed {
  readonly double: GeminiDouble;
  readonly server: ServerProcess;
  /** A fresh session of a fresh user. */
  chat(app: string, options?: { state?: Record<string, unknown>; userId?: string }): Promise<Conversation>;
}

export const doubleKey = 'AIzaSyDouble-0123456789abcdefghijklmno';

/** The real server over the apps, its Gemini models answered by a double that each test finds empty. */
export async function openBed(): Promise<Bed> {
  const double = await GeminiDouble.start();
  const env = { GOOGLE_GEMINI_BASE_URL: double.url, GOOGLE_API_KEY: doubleKey };
  const server = await ServerProcess.start({ agents, env });
  beforeEach(() => double.forget());
  afterEach(() => {
    const faults = double.requests.flatMap((request) => request.faults);
    if (faults.length > 0) throw new Error(`Gemini would have refused:\n${faults.join('\n')}`);
  });
  afterAll(async () => {
    const code = await server.stop();
    await double.close();
    if (code !== 0) throw new Error(`The server ended with code ${code}:\n${server.stderr}`);
  });
  return { double, server, chat: (app, options) => Conversation.open(server, app, options) };
}
