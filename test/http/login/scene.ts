import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type ServerOptions } from 'agent-server/server';
import { onTestFinished } from 'vitest';
import { type NewApiKey, newApiKey } from '../../../src/identity/api-keys.ts';
import type { ApiKey } from '../../../src/schemas/api-key.ts';
import { collectedLog } from '../../support/caller.ts';
import { folderOf } from '../../support/program.ts';
import { agent } from '../server.ts';

export const secret = 'the secret of all servers, which has 32 characters';

/** A server with API keys, at which browsers can log in. */
export async function loginServer({ auth, ...options }: Partial<ServerOptions> = {}) {
  const file = join(folderOf({ 'keys.json': '{"keys":[]}' }), 'keys.json');
  const log = collectedLog();
  const server = createServer({
    agents: [agent('demo')],
    port: 0,
    env: {},
    log,
    secret,
    shutdownGrace: 0,
    auth: { keys: file, ...auth },
    ...options,
  });
  onTestFinished(() => server.close());
  const url = await server.listen();
  const records = (): ApiKey[] => (JSON.parse(readFileSync(file, 'utf8')) as { keys: ApiKey[] }).keys;
  const write = (keys: readonly ApiKey[]): void => writeFileSync(file, JSON.stringify({ keys }));
  return {
    url,
    log,
    file,
    /** A new key of Ada's; the server sees it within two seconds. */
    addKey(more: Partial<NewApiKey> = {}): string {
      const { text, record } = newApiKey({
        owner: 'Ada',
        userId: 'ada',
        actsForUsers: false,
        roles: ['user'],
        ...more,
      });
      write([...records(), record]);
      return text;
    },
    revokeKeys: () => write(records().map((record) => ({ ...record, revokedAt: new Date().toISOString() }))),
  };
}

interface Sent {
  readonly method?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Keeps cookies, and says which page makes the request, as a browser does. */
export class Visitor {
  readonly url: string;
  readonly cookies = new Map<string, string>();

  constructor(url: string) {
    this.url = url;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** From a page of the server itself, unless `headers` say otherwise. */
  async send(path: string, { json, form, headers, ...sent }: Sent = {}) {
    const body = form ? new URLSearchParams(form) : json === undefined ? undefined : JSON.stringify(json);
    const method = sent.method ?? (body === undefined ? 'GET' : 'POST');
    const own = method === 'GET' ? {} : { origin: new URL(path, this.url).origin };
    const response = await fetch(new URL(path, this.url), {
      method,
      redirect: 'manual',
      headers: {
        'sec-fetch-site': 'same-origin',
        ...own,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(this.cookies.size > 0 && { cookie: this.cookie }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const set = response.headers.getSetCookie();
    for (const cookie of set) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/; Max-Age=0;/.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    const parsed: unknown = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, set, body: parsed, text };
  }

  /** The status of asking who one is, and of reading one's sessions. */
  async statuses(): Promise<readonly [number, number]> {
    const [me, sessions] = await Promise.all([this.send('/auth/me'), this.send('/apps/demo/users/ada/sessions')]);
    return [me.status, sessions.status];
  }
}
