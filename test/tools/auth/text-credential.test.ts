import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { functionCalls } from '../../../src/schemas/event.ts';
import { authConfigFrom } from '../../../src/tools/auth/auth-config.ts';
import { credentialExchanger } from '../../../src/tools/auth/exchange.ts';
import { credentialFromText } from '../../../src/tools/auth/text-credential.ts';
import { authenticatedTool } from '../../../src/tools/authenticated-tool.ts';
import { call, calls, replyModel, text } from '../../support/reply-model.ts';
import { runAll, say, testRunner } from '../../support/run.ts';

const key = { type: 'apiKey', in: 'header', name: 'X-Key' };
const oauth = { type: 'oauth2', flows: { authorizationCode: { tokenUrl: 'https://a.example/token' } } };
const landed = 'https://ui.example/?code=c&state=s';

it.each([
  [key, ' k-1 ', { authType: 'apiKey', apiKey: 'k-1' }],
  [
    { type: 'http', scheme: 'bearer' },
    'a:b',
    { authType: 'http', http: { scheme: 'bearer', credentials: { token: 'a:b' } } },
  ],
  [
    { type: 'http', scheme: 'Basic' },
    'ann:pa:ss',
    { authType: 'http', http: { scheme: 'Basic', credentials: { username: 'ann', password: 'pa:ss' } } },
  ],
  [oauth, landed, { authType: 'oauth2', oauth2: { authResponseUri: landed, redirectUri: 'https://ui.example/' } }],
  [oauth, 'not an address', undefined],
  [key, '  ', undefined],
])('reads what was written for %o: %s', (authScheme, result, credential) => {
  expect(credentialFromText({ result }, authConfigFrom({ authScheme }))).toEqual(credential);
});

it('leaves answers alone that hold more than a text', () => {
  const config = authConfigFrom({ authScheme: key });

  expect(credentialFromText({ result: 'k', more: 1 }, config)).toBeUndefined();
  expect(credentialFromText({ result: { apiKey: 'k' } }, config)).toBeUndefined();
  expect(credentialFromText({}, config)).toBeUndefined();
});

it('gives a tool the key the user wrote', async () => {
  const tool = authenticatedTool({
    name: 'locked',
    description: 'Needs a key.',
    auth: { authScheme: key, credentialKey: 'k' },
    run: (_args, _ctx, credential) => ({ opened: credential.apiKey }),
  });
  const model = replyModel(calls(call('locked')), text('done'));
  const agent = llmAgent({ name: 'a', model, tools: [tool] });
  const { runner, key: session } = await testRunner(agent, { credentials: credentialExchanger() });

  const asked = await runAll(runner, say(session, 'go'));
  const { id = '', name = '' } = asked.flatMap(functionCalls).at(-1) ?? {};
  const newMessage = { role: 'user', parts: [{ functionResponse: { id, name, response: { result: 'k-1' } } }] };
  const answered = await runAll(runner, say(session, '', { newMessage }));

  expect(name).toBe('adk_request_credential');
  expect(answered[0]?.content?.parts[0]?.functionResponse?.response).toEqual({ opened: 'k-1' });
});
