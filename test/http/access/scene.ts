import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { llmAgent } from 'agent-server';
import { createServer, type ServerOptions } from 'agent-server/server';
import { onTestFinished } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import type { Log } from '../../../src/core/log.ts';
import type { CallerIdentity } from '../../../src/identity/authenticate-function.ts';

/** The callers of these tests, by the credential that each sends. */
export const callers = {
  ada: { userId: 'ada' },
  bob: { userId: 'bob' },
  operator: { userId: 'olga', roles: ['operator'] },
  developer: { userId: 'ada', roles: ['developer'] },
  otherDeveloper: { userId: 'dora', roles: ['developer'] },
  admin: { userId: 'ada', roles: ['admin'] },
  all: { userId: 'root', roles: ['user', 'operator', 'developer', 'admin'] },
  /** A backend that signs its users in itself. */
  backend: { id: 'backend', actsForUsers: true },
  /** A program that is no user. */
  program: { id: 'program' },
  /** May use another app only. */
  elsewhere: { userId: 'ada', roles: ['user', 'developer'], apps: ['other'] },
} as const satisfies Record<string, CallerIdentity>;
export type CallerName = keyof typeof callers;

/** What the agents are told, which their users may not read. */
export const secretInstruction = 'Sell what is left over.';
export const secretDescription = 'Sells remainders.';

/** What a request sends; `undefined`: no credential. */
export type Credential = CallerName | 'bad' | undefined;

export const headersOf = (credential: Credential): Record<string, string> =>
  credential === undefined ? {} : { authorization: `Bearer ${credential}-credential` };

export interface LogLine extends Record<string, unknown> {
  readonly message: string;
}

/** A server that knows its callers, with the apps `demo` and `other`, and everything that development needs. */
export async function knowingServer(options: Partial<ServerOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-access-'));
  const lines: LogLine[] = [];
  const note = (fields: object, message: string): void => void lines.push({ ...fields, message });
  const log: Log = { info: note, warn: note, error: note };
  const speaker = (name: string) =>
    llmAgent({
      name,
      model: 'scripted',
      description: secretDescription,
      instruction: secretInstruction,
      script: [{ match: '', text: 'Hello!' }],
    });
  const server = createServer({
    agents: [folder, speaker('demo'), speaker('other')],
    port: 0,
    env: {},
    log,
    dev: true,
    shutdownGrace: 0,
    authenticate({ headers }) {
      const name = /^Bearer (\w+)-credential$/.exec(String(headers['authorization'] ?? ''))?.[1];
      if (name === 'bad') throw new AppError('unauthenticated', 'The credential is not valid');
      return name === undefined ? undefined : callers[name as CallerName];
    },
    ...options,
  });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const url = await server.listen();

  const call = async (credential: Credential, operation: string, body?: unknown): Promise<Answer> => {
    const [method = '', path = ''] = operation.split(' ');
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headersOf(credential), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  };
  return { url, lines, call };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The body of an error without what is different in each request. */
export function problemIn({ text }: Answer): Record<string, unknown> {
  const { requestId: _, instance: __, ...problem } = JSON.parse(text) as Record<string, unknown>;
  return problem;
}

export const runOf = (userId: string, more: object = {}): object => ({
  appName: 'demo',
  userId,
  sessionId: 's',
  newMessage: { role: 'user', parts: [{ text: 'Hi' }] },
  runConfig: { autoCreateSession: true },
  ...more,
});
