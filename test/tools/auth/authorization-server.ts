import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export const client = { clientId: 'client-1', clientSecret: 'hush-hush' };
export const redirectUri = 'http://localhost:8080/dev-ui/';

interface Grant {
  readonly challenge: string;
  readonly redirectUri: string;
}

/** An authorization server for one client. It checks what it is told and counts what it gives. */
export interface AuthorizationServer {
  readonly url: string;
  /** Token requests, as they came. */
  readonly requests: URLSearchParams[];
  /** Plays the user who visits the address and consents: the address they come back to. */
  consent(authUri: string, redirect?: string): string;
  /** What the next tokens are like. */
  lifetime: number;
  refreshes: boolean;
}

export async function authorizationServer(): Promise<AuthorizationServer> {
  const grants = new Map<string, Grant>();
  const refreshTokens = new Set<string>();
  const requests: URLSearchParams[] = [];

  const server = createServer((request, response) => {
    void respond(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const respond = async (request: IncomingMessage): Promise<{ status: number; body: object }> => {
    if (request.url === '/.well-known/openid-configuration') {
      return {
        status: 200,
        body: { issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` },
      };
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const form = new URLSearchParams(text);
    requests.push(form);
    const fault = faultOf(form);
    return fault
      ? { status: 400, body: { error: fault, error_description: `no ${fault}` } }
      : { status: 200, body: tokens(form) };
  };

  const faultOf = (form: URLSearchParams): string | undefined => {
    if (form.get('client_id') !== client.clientId || form.get('client_secret') !== client.clientSecret)
      return 'invalid_client';
    if (form.get('grant_type') === 'client_credentials') return undefined;
    if (form.get('grant_type') === 'refresh_token') {
      return refreshTokens.delete(form.get('refresh_token') ?? '') ? undefined : 'invalid_grant';
    }
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood = grant?.challenge === challenge && grant.redirectUri === form.get('redirect_uri');
    return isGood ? undefined : 'invalid_grant';
  };

  const tokens = (form: URLSearchParams): object => {
    const isUser = form.get('grant_type') !== 'client_credentials';
    const refresh = randomUUID();
    if (isUser && self.refreshes) refreshTokens.add(refresh);
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: url, aud: client.clientId, sub: 'ada', iat: now, exp: now + 60 };
    const idToken = [{ alg: 'RS256' }, claims, 'sig'].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    return {
      access_token: `access-${requests.length}`,
      token_type: 'Bearer',
      expires_in: self.lifetime,
      ...(isUser && self.refreshes && { refresh_token: refresh }),
      ...(isUser && { id_token: idToken.join('.') }),
    };
  };

  const self: AuthorizationServer = {
    url,
    requests,
    lifetime: 3600,
    refreshes: true,
    consent(authUri, redirect = redirectUri) {
      const asked = new URL(authUri).searchParams;
      const code = randomUUID();
      grants.set(code, { challenge: asked.get('code_challenge') ?? '', redirectUri: redirect });
      const back = new URL(redirect);
      back.searchParams.set('code', code);
      back.searchParams.set('state', asked.get('state') ?? '');
      return back.href;
    },
  };
  return self;
}
