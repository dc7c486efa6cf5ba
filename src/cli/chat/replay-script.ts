import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { errorText } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { MessageContent } from '../../schemas/content-schema.ts';
import { type Content, textContent } from '../../schemas/content.ts';
import { lenient } from '../../schemas/lenient.ts';
import { UsageError } from '../usage-error.ts';

/** The user messages of a recorded conversation: the `spec.yaml` of an ADK conformance case. */
export interface ReplayScript {
  readonly initialState: JsonObject;
  readonly messages: readonly { readonly content: Content; readonly stateDelta: JsonObject }[];
}

const stateDelta = z.record(z.string(), z.unknown()).optional();
const Message = z.union([lenient({ text: z.string(), stateDelta }), lenient({ content: MessageContent, stateDelta })]);
const Script = lenient({
  initialState: z.record(z.string(), z.unknown()).default({}),
  userMessages: z.array(Message).default([]),
});

/** Reads the `spec.yaml` of a cassette; `undefined` if there is none. Throws UsageError if it is not valid. */
export function readReplayScript(dir: string): ReplayScript | undefined {
  const file = join(dir, 'spec.yaml');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined; // recorded without one: the user types the messages
  }
  try {
    const { initialState, userMessages } = Script.parse(parse(text, { maxAliasCount: 100 }));
    const messages = userMessages.map((message) => ({
      content: 'text' in message ? textContent('user', message.text) : message.content,
      stateDelta: message.stateDelta ?? {},
    }));
    return { initialState, messages };
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error);
    throw new UsageError(`"${file}" is not the script of a conversation: ${why}`);
  }
}
