import { expect, it } from 'vitest';
import type { Event } from '../../src/schemas/event.ts';
import { saying } from '../../src/testing/contracts/events.ts';
import { pendingRequests } from '../../src/tools/pending-requests.ts';

const calling = (name: string, id: string, args: Record<string, unknown>): Event =>
  saying('', {}, { content: { role: 'model', parts: [{ functionCall: { id, name, args } }] } });
const answering = (name: string, id: string, author = 'user'): Event =>
  saying('', {}, { author, content: { role: 'user', parts: [{ functionResponse: { id, name, response: {} } }] } });

it('lists the open questions of each kind, oldest first', () => {
  const events = [
    calling('adk_request_confirmation', 'adk-1', {
      originalFunctionCall: { id: 'adk-0', name: 'pay', args: {} },
      toolConfirmation: { hint: 'Pay?', confirmed: false, payload: { sum: 3 } },
    }),
    calling('adk_request_input', 'adk-2', { message: 'Which city?', response_schema: { type: 'string' }, payload: 1 }),
    calling('adk_request_credential', 'adk-3', { function_call_id: 'adk-0', auth_config: { credentialKey: 'k' } }),
    calling('get_weather', 'adk-4', {}),
  ];

  expect(pendingRequests(events)).toEqual([
    {
      kind: 'confirmation',
      interruptId: 'adk-1',
      functionCallName: 'adk_request_confirmation',
      author: 'poet',
      message: 'Pay?',
      payload: { sum: 3 },
      toolName: 'pay',
    },
    {
      kind: 'input',
      interruptId: 'adk-2',
      functionCallName: 'adk_request_input',
      author: 'poet',
      message: 'Which city?',
      payload: 1,
      responseSchema: { type: 'string' },
    },
    {
      kind: 'credential',
      interruptId: 'adk-3',
      functionCallName: 'adk_request_credential',
      author: 'poet',
      authConfig: { credentialKey: 'k' },
    },
  ]);
});

it('drops a question once the user has answered it, and only then', () => {
  const events = [calling('adk_request_input', 'adk-1', {}), calling('adk_request_input', 'adk-2', {})];

  expect(pendingRequests([...events, answering('adk_request_input', 'adk-1')])).toMatchObject([
    { interruptId: 'adk-2' },
  ]);
  expect(pendingRequests([...events, answering('adk_request_input', 'adk-1', 'poet')])).toHaveLength(2);
});
