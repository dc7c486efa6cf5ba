import { expect, it } from 'vitest';
import type { Tool } from '../../../src/core/runtime.ts';
import { textContent } from '../../../src/schemas/content.ts';
import { saying } from '../../../src/testing/contracts/events.ts';
import { builtInTools } from '../../../src/tools/built-in/built-ins.ts';
import { exampleTool } from '../../../src/tools/built-in/example-tool.ts';
import { loadMemory } from '../../../src/tools/built-in/load-memory.ts';
import { preloadMemory } from '../../../src/tools/built-in/preload-memory.ts';
import { modelRequest, services, toolContext } from '../contexts.ts';

const builtIn = (name: string, args?: Record<string, unknown>): Tool => builtInTools.get(name)?.(args) as Tool;

const remembering = async (...lines: string[]): Promise<ReturnType<typeof services>> => {
  const held = services();
  const events = lines.map((line, index) => saying(line, {}, { timestamp: 1000 + index }));
  await held.memories.addSessionToMemory({
    id: 's0',
    appName: 'app',
    userId: 'ada',
    state: {},
    events,
    lastUpdateTime: 0,
  });
  return held;
};

it('ends the loop and the turn with exit_loop', async () => {
  const ctx = toolContext();

  await builtIn('exit_loop').run?.({}, ctx);

  expect(ctx.actions).toMatchObject({ escalate: true, skipSummarization: true });
  expect(builtIn('exit_loop').declaration).not.toHaveProperty('parameters');
});

it('leaves the choice to the user with get_user_choice', async () => {
  const tool = builtIn('get_user_choice');
  const ctx = toolContext();

  expect(await tool.run?.({ options: ['a', 'b'] }, ctx)).toBeUndefined();
  expect(ctx.actions.skipSummarization).toBe(true);
  expect(tool.isLongRunning).toBe(true);
  expect(await tool.run?.({ options: [] }, ctx)).toHaveProperty('error');
});

it('leaves the answer to the user with adk_request_input', async () => {
  const tool = builtIn('request_input');

  expect(tool).toMatchObject({ name: 'adk_request_input', isLongRunning: true });
  expect(await tool.run?.({ message: 'Which city?' }, toolContext())).toBeUndefined();
  expect(Object.keys(tool.declaration?.parameters?.properties as object)).toEqual([
    'message',
    'payload',
    'response_schema',
  ]);
});

it('searches memory with load_memory and tells the model about it', async () => {
  const ctx = toolContext({ services: await remembering('tea at noon', 'coffee at one') });
  const request = modelRequest({ config: { systemInstruction: 'Be kind.' } });

  expect(await loadMemory.run?.({ query: 'tea' }, ctx)).toMatchObject({
    memories: [{ author: 'poet', content: { parts: [{ text: 'tea at noon' }] } }],
  });
  await loadMemory.processRequest?.(request, ctx);
  expect(request.config.systemInstruction).toMatch(/^Be kind\.\n\n.*load_memory/s);
});

it('shows the model what the message calls to mind with preload_memory, searching once', async () => {
  const held = await remembering('tea at noon', 'coffee at one', 'milk in tea');
  const ctx = toolContext({ services: held, message: textContent('user', 'When is tea?') });
  const [first, second] = [modelRequest(), modelRequest()];

  await preloadMemory.processRequest?.(first, ctx);
  await held.memories.deleteSessionMemory({ appName: 'app', userId: 'ada', sessionId: 's0' });
  await preloadMemory.processRequest?.(second, ctx);

  expect(first.config.systemInstruction).toContain('[1970-01-01T00:16:40.000Z] poet: tea at noon\n');
  expect(first.config.systemInstruction).toContain('poet: milk in tea');
  expect(first.config.systemInstruction).not.toContain('coffee');
  expect(second.config.systemInstruction).toBe(first.config.systemInstruction);
});

it('says nothing with preload_memory when nothing is found, said or searchable', async () => {
  const broken = {
    ...services(),
    memories: { ...services().memories, searchMemory: () => Promise.reject(new Error()) },
  };
  const contexts = [
    toolContext({ message: textContent('user', 'tea?') }),
    toolContext({ message: { role: 'user', parts: [{ functionResponse: { name: 'x', response: {} } }] } }),
    toolContext({ message: textContent('user', 'tea?'), services: broken }),
  ];
  for (const ctx of contexts) {
    const request = modelRequest();
    await preloadMemory.processRequest?.(request, ctx);
    expect(request.config).toEqual({});
  }
});

it('shows examples from a configuration file, calls and answers included', async () => {
  const tool = builtIn('ExampleTool', {
    examples: [
      {
        input: { role: 'user', parts: [{ text: 'roll' }] },
        output: [
          { role: 'model', parts: [{ function_call: { name: 'roll_die', args: { sides: 6 } } }] },
          { role: 'user', parts: [{ function_response: { name: 'roll_die', response: { result: 4 } } }] },
          { role: 'model', parts: [{ text: 'A four.' }] },
        ],
      },
      { input: 'bye', output: 'So long.' },
    ],
  });
  const request = modelRequest();

  await tool.processRequest?.(request, toolContext());

  expect(tool.declaration).toBeUndefined();
  const text = request.config.systemInstruction ?? '';
  const order = ['user: roll', 'calls roll_die with {"sides":6}', 'roll_die answers {"result":4}', 'model: A four.'];
  const places = [...order, 'user: bye', 'model: So long.'].map((line) => text.indexOf(line));
  expect(places.every((place) => place >= 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

it('asks an example provider for samples that fit the message', async () => {
  const tool = exampleTool({ examples: async (query) => (query === 'hi' ? [{ input: 'hi', output: 'ho' }] : []) });
  const [fitting, other] = [modelRequest(), modelRequest()];

  await tool.processRequest?.(fitting, toolContext({ message: textContent('user', 'hi') }));
  await tool.processRequest?.(other, toolContext({ message: textContent('user', 'bye') }));

  expect(fitting.config.systemInstruction).toContain('model: ho');
  expect(other.config.systemInstruction).toBeUndefined();
});

it('refuses examples that are none', () => {
  for (const args of [undefined, {}, { examples: 'x' }, { examples: [{ input: 1, output: 'x' }] }, { exampels: [] }]) {
    expect(() => builtIn('example_tool', args)).toThrow(/"example_tool" has invalid options/);
  }
});
