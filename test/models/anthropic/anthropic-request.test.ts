import { expect, it } from 'vitest';
import type { GenerateConfig } from '../../../src/core/model.ts';
import { toAnthropicCall } from '../../../src/models/anthropic/anthropic-request.ts';
import { claudeFeatures } from '../../../src/models/anthropic/claude-features.ts';
import { closedSchema } from '../../../src/models/anthropic/closed-schema.ts';
import type { Content, Part } from '../../../src/schemas/content.ts';

const hi: Content[] = [{ role: 'user', parts: [{ text: 'hi' }] }];
const callOf = (config: GenerateConfig, model = 'claude-opus-5-5', contents = hi): ReturnType<typeof toAnthropicCall> =>
  toAnthropicCall({ model, contents, config, stream: false }, model);
const settings = (config: GenerateConfig, model?: string): object => {
  const { model: _model, messages: _messages, max_tokens: _tokens, ...rest } = callOf(config, model).body;
  return rest;
};

it.each([
  ['claude-3-haiku-20240307', { sampling: 'all', adaptiveThinking: false, structuredOutput: false, maxTokens: 4_096 }],
  [
    'claude-3-5-sonnet-20241022',
    { sampling: 'all', adaptiveThinking: false, structuredOutput: false, maxTokens: 8_192 },
  ],
  ['claude-sonnet-4-20250514', { sampling: 'all', adaptiveThinking: false, structuredOutput: false, maxTokens: 8_192 }],
  [
    'claude-opus-4-1-20250805',
    { sampling: 'temperature or topP', adaptiveThinking: false, structuredOutput: false, maxTokens: 8_192 },
  ],
  [
    'claude-haiku-4-5@20251001',
    { sampling: 'temperature or topP', adaptiveThinking: false, structuredOutput: true, maxTokens: 8_192 },
  ],
  [
    'claude-opus-4-6',
    { sampling: 'temperature or topP', adaptiveThinking: true, structuredOutput: true, maxTokens: 8_192 },
  ],
  ['claude-opus-4-7', { sampling: 'none', adaptiveThinking: true, structuredOutput: true, maxTokens: 16_384 }],
  ['claude-opus-4-10', { sampling: 'none', adaptiveThinking: true, structuredOutput: true, maxTokens: 16_384 }],
  ['claude-sonnet-5', { sampling: 'none', adaptiveThinking: true, structuredOutput: true, maxTokens: 16_384 }],
  ['claude-haiku-5-5', { sampling: 'none', adaptiveThinking: true, structuredOutput: true, maxTokens: 16_384 }],
  ['claude-mythos-preview', { sampling: 'none', adaptiveThinking: true, structuredOutput: true, maxTokens: 16_384 }],
])('knows what %s can do', (model, features) => {
  expect(claudeFeatures(model)).toMatchObject(features);
});

const sampled: GenerateConfig = { temperature: 1.5, topP: 0.9, topK: 3 };
const old = { 'anthropic-version': '2023-06-01' };

it.each([
  ['claude-3-5-haiku-20241022', sampled, { temperature: 1, top_p: 0.9, top_k: 3 }, old],
  ['claude-sonnet-4-5', sampled, { temperature: 1, top_k: 3 }, old],
  ['claude-sonnet-4-5', { topP: 0.9 }, { top_p: 0.9 }, old],
  ['claude-sonnet-4-5', {}, {}, {}],
  ['claude-opus-5-5', sampled, {}, {}],
])('sends %s of the sampling settings what it takes', (model, config, expected, headers) => {
  expect(settings(config, model)).toEqual(expected);
  expect(callOf(config, model).headers).toEqual(headers);
});

const adaptive = { type: 'adaptive', display: 'summarized' };

it.each([
  ['claude-opus-5-5', { includeThoughts: true }, { thinking: adaptive }],
  ['claude-opus-5-5', { thinkingLevel: 'HIGH' }, { thinking: adaptive, output_config: { effort: 'high' } }],
  ['claude-opus-5-5', { thinkingBudget: 9_000 }, { thinking: adaptive }],
  ['claude-opus-5-5', { includeThoughts: false }, { thinking: { type: 'adaptive', display: 'omitted' } }],
  ['claude-opus-5-5', { thinkingBudget: 0 }, { thinking: { type: 'disabled' } }],
  ['claude-fable-5', { thinkingBudget: 0 }, {}],
  ['claude-sonnet-4-5', { thinkingBudget: 9_000 }, { thinking: { type: 'enabled', budget_tokens: 9_000 } }],
  ['claude-sonnet-4-5', { thinkingBudget: 5 }, { thinking: { type: 'enabled', budget_tokens: 1_024 } }],
  ['claude-sonnet-4-5', { thinkingBudget: -1 }, { thinking: { type: 'enabled', budget_tokens: 4_096 } }],
])('lets %s think as %j says', (model, thinkingConfig, expected) => {
  expect(settings({ thinkingConfig, temperature: 1 }, model)).toMatchObject(expected);
  expect(settings({ thinkingConfig }, model)).toEqual(expected);
});

it('leaves room for an answer beside what is thought', () => {
  expect(callOf({ thinkingConfig: { thinkingBudget: 9_000 } }, 'claude-sonnet-4-5').body.max_tokens).toBe(10_024);
  expect(callOf({ maxOutputTokens: 50 }).body.max_tokens).toBe(50);
  expect(callOf({}).body.max_tokens).toBe(16_384);
});

it('sends instruction, tools and the choice among them', () => {
  const parameters = { $schema: 'x', type: 'object', properties: { a: { type: 'string' } } };
  const tools = [
    { functionDeclarations: [{ name: 'f', description: 'd', parameters }] },
    { functionDeclarations: [{ name: 'g', description: 'e' }] },
    { googleSearch: {} },
  ];
  const calling = (functionCallingConfig: object): GenerateConfig => ({ toolConfig: { functionCallingConfig } });

  expect(settings({ systemInstruction: 'Be brief.', stopSequences: ['x'], tools })).toEqual({
    system: 'Be brief.',
    stop_sequences: ['x'],
    tools: [
      { name: 'f', description: 'd', input_schema: { type: 'object', properties: { a: { type: 'string' } } } },
      { name: 'g', description: 'e', input_schema: { type: 'object' } },
    ],
  });
  expect(settings({ tools, ...calling({ mode: 'ANY' }) })).toMatchObject({ tool_choice: { type: 'any' } });
  expect(settings({ tools, ...calling({ mode: 'NONE' }) })).toMatchObject({ tool_choice: { type: 'none' } });
  expect(settings({ tools, ...calling({ mode: 'ANY', allowedFunctionNames: ['f'] }) })).toMatchObject({
    tool_choice: { type: 'tool', name: 'f' },
  });
  expect(settings(calling({ mode: 'ANY' }))).toEqual({});
});

it('lets Anthropic cache the beginning when the run asks for it', () => {
  const asked = { model: 'claude-opus-5-5', contents: hi, config: {}, stream: false };

  expect(toAnthropicCall({ ...asked, contextCache: {} }, asked.model).body.cache_control).toEqual({
    type: 'ephemeral',
  });
  expect(toAnthropicCall(asked, asked.model).body).not.toHaveProperty('cache_control');
});

it('asks for JSON by schema where the model can be held to one, else by word', () => {
  const responseSchema = { type: 'object', properties: { a: { type: 'string', minLength: 2 } }, required: ['a'] };

  expect(settings({ responseSchema })).toEqual({
    output_config: { format: { type: 'json_schema', schema: closedSchema(responseSchema) } },
  });
  expect(settings({ responseSchema, systemInstruction: 'Hi.' }, 'claude-3-haiku-20240307')).toEqual({
    system: `Hi.\n\nAnswer with JSON of this schema only: ${JSON.stringify(responseSchema)}`,
  });
  expect(settings({ responseMimeType: 'application/json' })).toEqual({ system: 'Answer with JSON only.' });
});

it('closes objects and tells in words what a schema cannot hold the model to', () => {
  expect(
    closedSchema({
      $schema: 'x',
      type: 'object',
      properties: {
        a: { type: 'string', minLength: 2, format: 'date' },
        b: { type: 'array', items: { $ref: '#/$defs/B' } },
      },
      $defs: { B: { oneOf: [{ type: 'object', properties: {} }, { const: 1 }], description: 'd', default: 1 } },
    }),
  ).toEqual({
    type: 'object',
    additionalProperties: false,
    properties: {
      a: { type: 'string', format: 'date', description: '(minLength: 2)' },
      b: { type: 'array', items: { $ref: '#/$defs/B' } },
    },
    $defs: {
      B: {
        anyOf: [{ type: 'object', properties: {}, additionalProperties: false }, { const: 1 }],
        description: 'd (default: 1)',
      },
    },
  });
});

const base64 = { type: 'base64', data: '+/+/' };
const shown: readonly [why: string, part: Part, block: object][] = [
  [
    'an image',
    { inlineData: { mimeType: 'image/png', data: '-_-_' } },
    { type: 'image', source: { ...base64, media_type: 'image/png' } },
  ],
  [
    'a PDF',
    { inlineData: { mimeType: 'application/pdf', data: '+/+/' } },
    { type: 'document', source: { ...base64, media_type: 'application/pdf' } },
  ],
  [
    'a text file',
    { inlineData: { mimeType: 'text/csv', data: 'YSxi' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
  ],
  [
    'an image elsewhere',
    { fileData: { mimeType: 'image/png', fileUri: 'https://x.test/a' } },
    { type: 'image', source: { type: 'url', url: 'https://x.test/a' } },
  ],
  [
    'a PDF elsewhere',
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://x.test/a' } },
    { type: 'document', source: { type: 'url', url: 'https://x.test/a' } },
  ],
  [
    'a recording',
    { inlineData: { mimeType: 'audio/wav', data: 'aGk=', displayName: 'a.wav' } },
    { type: 'text', text: expect.stringContaining('"a.wav" of type audio/wav') },
  ],
  [
    'a file in a bucket',
    { fileData: { fileUri: 'gs://a/b' } },
    { type: 'text', text: expect.stringContaining('gs://a/b') },
  ],
  ['code', { executableCode: { language: 'PYTHON', code: '1' } }, { type: 'text', text: '```python\n1\n```' }],
  [
    'what code printed',
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    { type: 'text', text: 'Result (OUTCOME_OK):\n1' },
  ],
];

it.each(shown)('shows %s', (_why, part, block) => {
  const { messages } = callOf({}, undefined, [{ role: 'user', parts: [part, { text: ' ' }] }]).body;

  expect(messages).toEqual([{ role: 'user', content: [block] }]);
});

it('answers a call with text, JSON and pictures', () => {
  const image: Part = { inlineData: { mimeType: 'image/png', data: '+/+/' } };
  const { messages } = callOf({}, undefined, [
    ...hi,
    { role: 'model', parts: [{ functionCall: { id: '1', name: 'f' } }] },
    { role: 'user', parts: [{ functionResponse: { id: '1', name: 'f', response: { a: 1 }, parts: [image] } }] },
  ]).body;

  expect(messages.at(-1)?.content).toEqual([
    {
      type: 'tool_result',
      tool_use_id: '1',
      content: [
        { type: 'text', text: '{"a":1}' },
        { type: 'image', source: { ...base64, media_type: 'image/png' } },
      ],
    },
  ]);
});
