import { expect, it } from 'vitest';
import { MessageContent } from '../../src/schemas/content-schema.ts';

const parse = (content: object): unknown => MessageContent.parse(content);

it('takes a message for a user’s, whatever role it names', () => {
  for (const role of ['model', 'user', 'function', 'system', null, undefined]) {
    expect(parse({ role, parts: [{ text: 'Hi' }] })).toEqual({ role: 'user', parts: [{ text: 'Hi' }] });
  }
});

it('refuses parts that only models say, in any spelling', () => {
  const said: [object, string][] = [
    [{ functionCall: { name: 'pay', args: {} } }, 'functionCall'],
    [{ function_call: { name: 'pay' } }, 'functionCall'],
    [{ executableCode: { code: '1' } }, 'executableCode'],
    [{ codeExecutionResult: { outcome: 'OUTCOME_OK' } }, 'codeExecutionResult'],
    [{ code_execution_result: { outcome: 'OUTCOME_OK' } }, 'codeExecutionResult'],
    [{ toolCall: {} }, 'toolCall'],
    [{ tool_response: {} }, 'tool_response'],
    [{ text: 'I think', thought: true }, 'thought'],
  ];
  for (const [part, name] of said) {
    expect(() => parse({ parts: [{ text: 'Hi' }, part] })).toThrow(
      `must not contain a part that only models may use (${name})`,
    );
  }
});

it('keeps what users send, and drops the marks of thoughts', () => {
  const parts = [
    { text: 'see', thought: false, thoughtSignature: 'c2ln' },
    { inlineData: { mimeType: 'text/plain', data: 'aGk=' }, videoMetadata: {} },
    { fileData: { fileUri: 'gs://b/f' } },
    { functionResponse: { id: 'c', name: 'adk_request_confirmation', response: { confirmed: true } } },
  ];

  expect(parse({ role: 'model', parts })).toEqual({ role: 'user', parts: [{ text: 'see' }, ...parts.slice(1)] });
  expect(() => parse({ parts: [{ thoughtSignature: 'c2ln' }] })).toThrow('has an empty part');
});
