import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';

/** What these tests use of the package `oidc-provider`, which has no types of its own. */
type ProviderClass = new (issuer: string, options: object) => { callback(): RequestListener };

export const client = { clientId: 'agents', clientSecret: 'a secret of the client, long enough' };

/**
 * A certified OpenID provider on this machine, closed after the test. Its login form takes any name, and no password.
 * Everyone whose name begins with `op` is in the group `staff`.
 */
export async function startOidcProvider() {
  let listener: RequestListener = (_, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(close);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close,
    /** Begins to serve a client at this address. Until then the provider is away. */
    async serve(redirectUri: string): Promise<void> {
      // It warns of what is good for a test only.
      for (const method of ['warn', 'info'] as const) vi.spyOn(console, method).mockImplementation(() => {});
      const name = 'oidc-provider';
      const { Provider } = (await import(name)) as { Provider: ProviderClass };
      const provider = new Provider(url, {
        clients: [
          {
            client_id: client.clientId,
            client_secret: client.clientSecret,
            redirect_uris: [redirectUri],
            grant_types: ['authorization_code'],
          },
        ],
        pkce: { required: () => true },
        conformIdTokenClaims: false,
        claims: { openid: ['sub', 'groups'] },
        cookies: { keys: ['a key of the cookies'] },
        findAccount: (_: unknown, id: string) => ({
          accountId: id,
          claims: () => ({ sub: id, groups: id.startsWith('op') ? ['staff'] : [] }),
        }),
      });
      listener = provider.callback();
    },
  };
}
