import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { camelKeys } from '../../../src/plugins/replay/key-case.ts';
import type { ServerProcess } from '../../support/server.ts';

/** A session as a case holds it and as the server gives it, less what two runs of a conversation never share. */
export interface Gist {
  readonly state: unknown;
  readonly events: readonly unknown[];
}

export interface Replay {
  readonly stored: Gist;
  readonly recorded: Gist;
  /** Texts of the fragments that were streamed. */
  readonly fragments: readonly string[];
}

interface Part {
  text?: string;
  functionCall?: { id: string; name: string };
  functionResponse?: { id: string; name: string };
}
interface Message {
  text?: string;
  content?: { parts: Part[] };
  stateDelta?: object;
}
interface Spec {
  agent: string;
  initialState?: object;
  userMessages: Message[];
}

const user = 'adk_conformance_test_user';
const ofOneRun = new Set(['id', 'timestamp', 'invocationId', 'longRunningToolIds', 'thoughtSignature']);
const data = new Set(['args', 'response']);

/** Without ids and times, nulls and empty values, and the state keys of the replay itself. */
function gist(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(gist);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, entry]) => {
    if (ofOneRun.has(key) || key.startsWith('_adk')) return [];
    const kept: unknown = data.has(key) ? entry : gist(entry);
    const isEmpty = kept === null || (typeof kept === 'object' && Object.keys(kept).length === 0);
    return isEmpty ? [] : [[key, kept] as const];
  });
  return Object.fromEntries(entries);
}

export function gistOf({ state = {}, events }: { state?: unknown; events: readonly unknown[] }): Gist {
  return { state: gist(state), events: events.map(gist) };
}

const read = async (file: string): Promise<unknown> => camelKeys(parse(await readFile(file, 'utf8')));
const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** Holds the conversation of a case with the server, as ADK's conformance client does. */
export async function replay(server: ServerProcess, folder: string): Promise<Replay> {
  const spec = (await read(join(folder, 'spec.yaml'))) as Spec;
  const streaming = await isThere(join(folder, 'generated-session-sse.yaml'));
  const sessions = `/apps/${spec.agent}/users/${user}/sessions`;
  const made = await server.fetchJson(sessions, { json: { state: spec.initialState ?? {} } });
  const { id: sessionId } = made.body as { id: string };
  const calls = new Map<string, string>();
  const fragments: string[] = [];
  for (const [index, message] of spec.userMessages.entries()) {
    const parts = message.content?.parts ?? [{ text: message.text ?? '' }];
    for (const { functionResponse } of parts) {
      if (functionResponse) functionResponse.id = calls.get(functionResponse.name) ?? functionResponse.id;
    }
    const config = { dir: folder, user_message_index: index, streaming_mode: streaming ? 'sse' : 'none' };
    const stream = await server.sse('/run_sse', {
      appName: spec.agent,
      userId: user,
      sessionId,
      newMessage: { role: 'user', parts },
      streaming,
      stateDelta: { ...message.stateDelta, _adk_replay_config: config },
    });
    for (const event of (await stream.all()) as { partial?: boolean; error?: string; content?: { parts: Part[] } }[]) {
      if (event.error !== undefined) throw new Error(event.error);
      for (const { functionCall, text } of event.content?.parts ?? []) {
        if (functionCall) calls.set(functionCall.name, functionCall.id);
        if (event.partial && text !== undefined) fragments.push(text);
      }
    }
  }
  const { body } = await server.fetchJson(`${sessions}/${sessionId}`);
  const recorded = await read(join(folder, `generated-session${streaming ? '-sse' : ''}.yaml`));
  return { stored: gistOf(body as Gist), recorded: gistOf(recorded as Gist), fragments };
}
