import { authenticatedTool, functionTool, llmAgent, requestInput } from 'agent-server';

const weather = authenticatedTool({
  name: 'weather',
  description: 'Tells the weather.',
  auth: { authScheme: { type: 'apiKey', in: 'header', name: 'x-key' }, credentialKey: 'weather' },
  run: (_args: object, _ctx, { apiKey }) => ({ key: apiKey }),
});
const bearer = authenticatedTool({
  name: 'mail',
  description: 'Reads mail.',
  auth: { authScheme: { type: 'http', scheme: 'bearer' }, credentialKey: 'mail' },
  run: (_args: object, _ctx, { http }) => ({ token: http?.credentials.token }),
});
const own = authenticatedTool({
  name: 'own',
  description: 'Uses a key of the server.',
  auth: {
    authScheme: { type: 'apiKey', in: 'header', name: 'x-key' },
    rawAuthCredential: { authType: 'apiKey', apiKey: 'own-key' },
  },
  run: (_args: object, _ctx, { apiKey }) => ({ fits: apiKey === 'own-key' }),
});
const calendar = authenticatedTool({
  name: 'calendar',
  description: 'Reads the calendar.',
  auth: {
    authScheme: {
      type: 'oauth2',
      flows: {
        authorizationCode: {
          authorizationUrl: `${process.env['OAUTH_URL'] ?? 'https://login.example'}/auth`,
          tokenUrl: `${process.env['OAUTH_URL'] ?? 'https://login.example'}/token`,
          scopes: { read: 'Read' },
        },
      },
    },
    rawAuthCredential: {
      authType: 'oauth2',
      oauth2: { clientId: 'client-1', clientSecret: 'hush-hush', redirectUri: 'http://localhost:8080/dev-ui/' },
    },
    credentialKey: 'calendar',
  },
  run: (_args: object, _ctx, { oauth2 }) => ({ granted: oauth2?.accessToken?.startsWith('access-') }),
});
const startJob = functionTool({
  name: 'start_job',
  description: 'Starts a job.',
  isLongRunning: true,
  run: () => undefined,
});
const startTicket = functionTool({
  name: 'start_ticket',
  description: 'Opens a ticket.',
  isLongRunning: true,
  run: () => ({ ticket: 'T-1' }),
});

export const rootAgent = llmAgent({
  name: 'asking',
  model: 'gemini-2.5-flash',
  tools: [weather, bearer, own, calendar, startJob, startTicket, requestInput],
});
