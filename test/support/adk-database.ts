// What ADK for TypeScript 2.0.0 sends to a database, as seen from a run of it: here to stand for one.

/** The rows of a session of four events, as ADK stored them: a message, a call, its answer with a delta, and a text. */
export const adkSession = {
  key: { appName: 'quick', userId: 'ada', sessionId: 's1' },
  createMs: 1_795_291_522_840,
  state: '{"topic":"looms","mood_now":"blue","gone":null}',
  appState: '{"theme":"light"}',
  userState: '{"name":"Ada","camelKey":{"inner_key":1}}',
  events: [
    adkEvent('10EwYzu9', 1_795_291_522_852, {
      author: 'user',
      content: { role: 'user', parts: [{ text: 'hi' }] },
    }),
    adkEvent('uMYzqbau', 1_795_291_522_893, {
      content: {
        role: 'model',
        parts: [
          {
            function_call: { id: 'adk-1', name: 'add_two', args: { first_number: 1, camelKey: 2 } },
            thought_signature: 'c2ln',
          },
        ],
      },
      long_running_tool_ids: ['adk-1'],
      usage_metadata: { total_token_count: 7 },
      custom_metadata: { my_key: [1], camelKey: 1 },
    }),
    adkEvent('URplCCWI', 1_795_291_522_929, {
      content: {
        role: 'user',
        parts: [{ function_response: { id: 'adk-1', name: 'add_two', response: { the_sum: 3, someKey: 1 } } }],
      },
      actions: {
        ...emptyActions(),
        state_delta: { mood_now: 'blue', 'app:theme': 'light', 'user:camelKey': { inner_key: 1 }, gone: null },
        artifact_delta: { 'my_file.txt': 0 },
      },
    }),
    adkEvent('I8hKrnmX', 1_795_291_522_956, { content: { role: 'model', parts: [{ text: 'Three 👋' }] } }),
  ],
};

export interface AdkEvent {
  readonly id: string;
  readonly timestamp: number;
  readonly data: Record<string, unknown>;
}

export function adkEvent(id: string, timestamp: number, fields: Record<string, unknown>): AdkEvent {
  const common = { invocation_id: 'e-1', author: 'bot', actions: emptyActions(), long_running_tool_ids: [] };
  return { id, timestamp, data: { ...common, id, timestamp, ...fields } };
}

function emptyActions(): Record<string, unknown> {
  return { state_delta: {}, artifact_delta: {}, requested_auth_configs: {}, requested_tool_confirmations: {} };
}

/** The same events as they look here. */
export const adkSessionHere = {
  state: {
    topic: 'looms',
    mood_now: 'blue',
    'app:theme': 'light',
    'user:name': 'Ada',
    'user:camelKey': { inner_key: 1 },
  },
  lastUpdateTime: 1_795_291_522.956,
  events: [
    { id: '10EwYzu9', author: 'user', content: { role: 'user', parts: [{ text: 'hi' }] } },
    {
      id: 'uMYzqbau',
      timestamp: 1_795_291_522.893,
      content: {
        role: 'model',
        parts: [
          {
            functionCall: { id: 'adk-1', name: 'add_two', args: { first_number: 1, camelKey: 2 } },
            thoughtSignature: 'c2ln',
          },
        ],
      },
      longRunningToolIds: ['adk-1'],
      usageMetadata: { totalTokenCount: 7 },
      customMetadata: { my_key: [1], camelKey: 1 },
    },
    {
      id: 'URplCCWI',
      content: {
        role: 'user',
        parts: [{ functionResponse: { id: 'adk-1', name: 'add_two', response: { the_sum: 3, someKey: 1 } } }],
      },
      actions: {
        stateDelta: { mood_now: 'blue', 'app:theme': 'light', 'user:camelKey': { inner_key: 1 }, gone: null },
        artifactDelta: { 'my_file.txt': 0 },
      },
    },
    { id: 'I8hKrnmX', invocationId: 'e-1', content: { role: 'model', parts: [{ text: 'Three 👋' }] } },
  ],
};
