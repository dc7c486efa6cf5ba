import { isIPv6 } from 'node:net';
import { isLoopback } from '../base/addresses.ts';
import type { Composed } from './compose.ts';
import type { Config } from './config.ts';

/** Connections the kernel may hold until they are accepted: one that finds no room tries again after a second. */
const backlog = 4_096;

/** Accepts connections, and gives the address it is bound to. Throws Node's error (`EADDRINUSE` …) when it cannot. */
export async function listen({ app }: Composed, { host, port }: Config): Promise<{ address: string; port: number }> {
  await app.listen({ host, port, backlog });
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server listens on no port');
  return bound;
}

/** Where a program of this machine reaches a server that is bound to this address. */
export function urlOf(address: string, port: number): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/** Why the server may not be started with this address; `undefined` when it may. */
export function hostFault({ host, insecure, dev }: Config, callersKnown: boolean): string | undefined {
  if (isLoopback(host)) return undefined;
  if (dev) {
    return `--dev lets every client write agents, which run with the rights of the server: it works with --host 127.0.0.1 only, not with ${host}`;
  }
  if (!insecure && !callersKnown) {
    return `--host ${host} is reachable by others, and the server would not know who calls: add keys, tokens, a login or a trusted proxy (--auth-keys FILE, --auth-jwt JSON, --auth-login-issuer URL, --auth-trusted-proxy-addresses ADDRESS), or --insecure to serve everyone`;
  }
  return undefined;
}
