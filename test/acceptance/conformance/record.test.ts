import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { GeminiDouble, type GeminiHandler } from '../../support/gemini-double.ts';
import { lastResponses, systemText } from '../../support/gemini-request.ts';
import { ServerProcess } from '../../support/server.ts';
import { Conversation } from '../real-input/conversation.ts';
import { agents, doubleKey } from '../runtime/bed.ts';
import { gistOf, type Gist } from './client.ts';

// What one server records with a model, another one replays without.

const cassettes = await mkdtemp(join(tmpdir(), 'cassettes-'));
const double = await GeminiDouble.start();
const env = { GOOGLE_GEMINI_BASE_URL: double.url, GOOGLE_API_KEY: doubleKey };
const recorder = await ServerProcess.start({ agents, env, flags: ['--plugin', 'record', '--cassettes', cassettes] });
const player = await ServerProcess.start({ agents, flags: ['--cassettes', cassettes] });
afterAll(async () => {
  await Promise.all([recorder.stop(), player.stop()]);
  await double.close();
  await rm(cassettes, { recursive: true });
});

const speaker = (text: string): string => /^\[(\w+)\]/.exec(text)?.[1] ?? '';
const tools: Record<string, string> = { boss: 'clerk', clerk: 'file', payer: 'pay', worker: 'job' };
const byAgent: GeminiHandler = ({ body }) => {
  const name = speaker(systemText(body));
  const tool = tools[name];
  if (tool === undefined || lastResponses(body).length > 0) return { chunks: [`${name} `, 'says', ' this.'] };
  return { thought: 'Hm.', calls: [{ name: tool, args: { request: 'Do it.' } }], thoughtSignature: 'c2ln' };
};

async function converse(
  server: ServerProcess,
  { app, messages }: { app: string; messages: readonly string[] },
  config: (index: number) => Record<string, unknown>,
): Promise<Gist> {
  const chat = await Conversation.open(server, app, { userId: 'ada' });
  for (const [index, message] of messages.entries()) {
    const events = await chat.stream(message, { stateDelta: config(index) });
    const fault = events.find((event) => 'error' in event || event.errorMessage);
    if (fault) throw new Error(JSON.stringify(fault));
  }
  return gistOf(await chat.session());
}

it.each([
  { app: 'composed', messages: ['boss', 'boss'] },
  { app: 'plain_line', messages: ['go', 'again'] },
  { app: 'resumable', messages: ['go'] },
  { app: 'planned', messages: ['why?'] },
])('records a conversation with $app and replays it without a model', async ({ app, messages }) => {
  double.answer(byAgent);
  const place = (index: number): object => ({ dir: app, user_message_index: index, streaming_mode: 'sse' });

  const original = await converse(recorder, { app, messages }, (index) => ({ _adk_recordings_config: place(index) }));
  const asked = double.requests.length;
  const copy = await converse(player, { app, messages }, (index) => ({ _adk_replay_config: place(index) }));

  expect(copy).toEqual(original);
  expect(asked).toBeGreaterThan(0);
  expect(double.requests).toHaveLength(asked);
});
