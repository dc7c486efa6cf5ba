import { expect, it } from 'vitest';
import type { GenerateConfig } from '../../../src/core/model.ts';
import { toChatBody } from '../../../src/models/openai/openai-chat-request.ts';
import { reasons } from '../../../src/models/openai/openai-common.ts';
import { toResponsesBody } from '../../../src/models/openai/openai-responses-request.ts';
import type { Content, Part } from '../../../src/schemas/content.ts';

const hi: Content[] = [{ role: 'user', parts: [{ text: 'hi' }] }];
const official = { maxTokens: 'max_completion_tokens', extraContent: false } as const;
const google = { ...official, extraContent: true };

const requestOf = (config: GenerateConfig, model: string, contents: Content[]) => ({
  model,
  contents,
  config,
  stream: false,
});
const chat = (
  config: GenerateConfig,
  model = 'gpt-4.1',
  contents = hi,
  dialect: typeof google | typeof official = official,
) => toChatBody(requestOf(config, model, contents), model, dialect);
const responses = (config: GenerateConfig, model = 'gpt-4.1', contents = hi) =>
  toResponsesBody(requestOf(config, model, contents), model);
const chatSettings = (config: GenerateConfig, model?: string): object => {
  const { model: _model, messages: _messages, ...rest } = chat(config, model);
  return rest;
};
const responsesSettings = (config: GenerateConfig, model?: string): object => {
  const { model: _model, input: _input, store: _store, include: _include, ...rest } = responses(config, model);
  return rest;
};

it.each([
  ['o1', true],
  ['o4-mini', true],
  ['gpt-5', true],
  ['gpt-5.2-codex', true],
  ['gpt-10', true],
  ['gpt-5-chat-latest', false],
  ['gpt-4o', false],
  ['gpt-oss:20b', false],
  ['qwen3:8b', false],
])('knows whether %s reasons: %s', (model, expected) => {
  expect(reasons(model)).toBe(expected);
});

const config: GenerateConfig = {
  temperature: 0,
  topP: 0.9,
  maxOutputTokens: 9,
  stopSequences: ['x'],
  seed: 1,
  presencePenalty: 0.5,
  frequencyPenalty: 0.25,
  responseLogprobs: true,
  logprobs: 2,
};

it('sends settings as far as a model takes them', () => {
  expect(chatSettings(config)).toEqual({
    max_completion_tokens: 9,
    temperature: 0,
    top_p: 0.9,
    stop: ['x'],
    seed: 1,
    presence_penalty: 0.5,
    frequency_penalty: 0.25,
    logprobs: true,
    top_logprobs: 2,
  });
  expect(chatSettings(config, 'o3')).toEqual({ max_completion_tokens: 9, seed: 1 });
  expect(responsesSettings(config)).toEqual({ temperature: 0, top_p: 0.9, max_output_tokens: 9 });
  expect(responsesSettings(config, 'o3')).toEqual({ max_output_tokens: 9 });
});

it.each([
  ['gpt-5', { thinkingBudget: 0 }, 'minimal'],
  ['gpt-5.2', { thinkingBudget: 0 }, 'none'],
  ['o3', { thinkingBudget: 0 }, 'low'],
  ['o3', { thinkingLevel: 'MINIMAL' }, 'low'],
  ['gpt-5', { thinkingLevel: 'high' }, 'high'],
  ['gpt-5', { thinkingBudget: 1_000 }, 'low'],
  ['gpt-5', { thinkingBudget: 8_000 }, 'medium'],
  ['gpt-5', { thinkingBudget: 20_000 }, 'high'],
  ['gpt-5', { thinkingBudget: -1 }, undefined],
])('lets %s think as %j says: %s', (model, thinkingConfig, effort) => {
  const given = effort ? { effort } : {};

  expect(chatSettings({ thinkingConfig }, model)).toEqual(effort ? { reasoning_effort: effort } : {});
  expect(responsesSettings({ thinkingConfig }, model)).toEqual({ reasoning: { ...given, summary: 'auto' } });
  expect(responsesSettings({ thinkingConfig: { ...thinkingConfig, includeThoughts: false } }, model)).toEqual(
    effort ? { reasoning: given } : {},
  );
});

it('sends the instruction in the role a model listens to', () => {
  const systemInstruction = 'Be brief.';

  expect(chat({ systemInstruction }).messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
  expect(chat({ systemInstruction }, 'o3').messages[0]).toEqual({ role: 'developer', content: 'Be brief.' });
  expect(responsesSettings({ systemInstruction })).toEqual({ instructions: 'Be brief.' });
});

it('sends tools and the choice among them', () => {
  const parameters = { $schema: 'x', type: 'object', properties: { a: { type: 'string' } } };
  const { $schema: _, ...sent } = parameters;
  const tools = [
    { functionDeclarations: [{ name: 'f', description: 'd', parameters }] },
    { functionDeclarations: [{ name: 'g', description: 'e' }] },
    { googleSearch: {} },
  ];
  const none = { type: 'object', properties: {} };
  const calling = (functionCallingConfig: object): GenerateConfig => ({ tools, toolConfig: { functionCallingConfig } });

  expect(chatSettings({ tools })).toEqual({
    tools: [
      { type: 'function', function: { name: 'f', description: 'd', parameters: sent } },
      { type: 'function', function: { name: 'g', description: 'e', parameters: none } },
    ],
  });
  expect(responsesSettings({ tools })).toEqual({
    tools: [
      { type: 'function', name: 'f', description: 'd', parameters: sent, strict: false },
      { type: 'function', name: 'g', description: 'e', parameters: none, strict: false },
    ],
  });
  for (const settings of [chatSettings, responsesSettings]) {
    expect(settings(calling({ mode: 'ANY' }))).toMatchObject({ tool_choice: 'required' });
    expect(settings(calling({ mode: 'NONE' }))).toMatchObject({ tool_choice: 'none' });
    expect(settings(calling({ mode: 'AUTO' }))).not.toHaveProperty('tool_choice');
    expect(settings({ ...calling({ mode: 'ANY' }), tools: [] })).toEqual({});
  }
  const one = calling({ mode: 'ANY', allowedFunctionNames: ['f'] });
  expect(chatSettings(one)).toMatchObject({ tool_choice: { type: 'function', function: { name: 'f' } } });
  expect(responsesSettings(one)).toMatchObject({ tool_choice: { type: 'function', name: 'f' } });
});

const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };

it.each([
  [closed, true],
  [{ ...closed, required: [] }, false],
  [{ ...closed, additionalProperties: true }, false],
  [{ ...closed, properties: { a: { type: 'string', default: 'x' } } }, false],
  [{ ...closed, properties: { a: { anyOf: [{ type: 'object', properties: {} }] } } }, false],
])('asks for JSON by schema, strictly where that is possible: %j', (responseSchema, strict) => {
  const format = { name: 'response', schema: responseSchema, strict };

  expect(chatSettings({ responseSchema })).toEqual({
    response_format: { type: 'json_schema', json_schema: format },
  });
  expect(responsesSettings({ responseSchema })).toEqual({ text: { format: { type: 'json_schema', ...format } } });
});

it('asks for JSON of any shape', () => {
  expect(chatSettings({ responseMimeType: 'application/json' })).toEqual({ response_format: { type: 'json_object' } });
  expect(responsesSettings({ responseMimeType: 'application/json' })).toEqual({
    text: { format: { type: 'json_object' } },
  });
});

const image: Part = { inlineData: { mimeType: 'image/png', data: '-_-_' } };
const png = 'data:image/png;base64,+/+/';
const pdf = 'data:application/pdf;base64,+/+/';
const note = (text: string): unknown => expect.stringContaining(text);

const shown: readonly [why: string, part: Part, inChat: object, inResponses: object][] = [
  [
    'an image',
    image,
    { type: 'image_url', image_url: { url: png } },
    { type: 'input_image', detail: 'auto', image_url: png },
  ],
  [
    'an image elsewhere',
    { fileData: { mimeType: 'image/png', fileUri: 'https://x.test/a' } },
    { type: 'image_url', image_url: { url: 'https://x.test/a' } },
    { type: 'input_image', detail: 'auto', image_url: 'https://x.test/a' },
  ],
  [
    'a recording',
    { inlineData: { mimeType: 'audio/mpeg', data: '+/+/' } },
    { type: 'input_audio', input_audio: { data: '+/+/', format: 'mp3' } },
    { type: 'input_text', text: note('of type audio/mpeg') },
  ],
  [
    'a PDF',
    { inlineData: { mimeType: 'application/pdf', data: '+/+/', displayName: 'a.pdf' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
    { type: 'input_file', filename: 'a.pdf', file_data: pdf },
  ],
  [
    'a PDF elsewhere',
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://x.test/a' } },
    { type: 'text', text: note('https://x.test/a') },
    { type: 'input_file', file_url: 'https://x.test/a' },
  ],
  [
    'a text file',
    { inlineData: { mimeType: 'text/csv', data: 'YSxi' } },
    { type: 'text', text: 'a,b' },
    { type: 'input_text', text: 'a,b' },
  ],
  [
    'a file in a bucket',
    { fileData: { mimeType: 'video/mp4', fileUri: 'gs://a/b' } },
    { type: 'text', text: note('gs://a/b') },
    { type: 'input_text', text: note('gs://a/b') },
  ],
];

it.each(shown)('shows %s', (_why, part, inChat, inResponses) => {
  const contents = [{ role: 'user', parts: [image, part] }];

  expect(chat({}, undefined, contents).messages[0]?.content).toEqual([shown[0]?.[2], inChat]);
  expect(responses({}, undefined, contents).input).toEqual([
    { type: 'message', role: 'user', content: [shown[0]?.[3], inResponses] },
  ]);
});

const history: Content[] = [
  { role: 'user', parts: [{ text: 'For context:' }, { text: '[a] said: x' }] },
  {
    role: 'model',
    parts: [
      { text: 'unsigned', thought: true },
      { text: 'I look.' },
      { functionCall: { id: 'adk-1', name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' },
      { functionCall: { id: 'adk-2', name: 'g' } },
    ],
  },
  {
    role: 'user',
    parts: [
      { functionResponse: { id: 'adk-2', name: 'g', response: { result: 'ok' } } },
      { functionResponse: { id: 'adk-1', name: 'f', response: { b: 2 }, parts: [image] } },
    ],
  },
  { role: 'model', parts: [{ text: 'only thought', thought: true }] },
  { role: 'user', parts: [{ text: 'go on' }] },
];

it('tells a history of calls to the chat completions API', () => {
  const called = (id: string, name: string, args: string) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  const first = called('adk-1', 'f', '{"a":1}');
  const second = called('adk-2', 'g', '{}');
  const expected = [
    { role: 'user', content: 'For context:\n[a] said: x' },
    { role: 'assistant', content: 'I look.', tool_calls: [first, second] },
    { role: 'tool', tool_call_id: 'adk-1', content: '{"b":2}' },
    { role: 'tool', tool_call_id: 'adk-2', content: 'ok' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'From f:' },
        { type: 'image_url', image_url: { url: png } },
      ],
    },
    { role: 'user', content: 'go on' },
  ];

  expect(chat({}, undefined, history).messages).toEqual(expected);
  expect(chat({}, undefined, history, google).messages[1]).toMatchObject({
    tool_calls: [{ ...first, extra_content: { google: { thought_signature: 'c2ln' } } }, second],
  });
});

it('tells a history of calls to the responses API', () => {
  expect(responses({}, undefined, history).input).toEqual([
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'For context:' },
        { type: 'input_text', text: '[a] said: x' },
      ],
    },
    { type: 'message', role: 'assistant', content: 'I look.' },
    { type: 'function_call', call_id: 'adk-1', name: 'f', arguments: '{"a":1}' },
    { type: 'function_call', call_id: 'adk-2', name: 'g', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'adk-1',
      output: [
        { type: 'input_text', text: '{"b":2}' },
        { type: 'input_image', detail: 'auto', image_url: png },
      ],
    },
    { type: 'function_call_output', call_id: 'adk-2', output: 'ok' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
  ]);
});
