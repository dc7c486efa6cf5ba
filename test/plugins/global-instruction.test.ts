import { expect, it } from 'vitest';
import type { ModelRequest } from '../../src/core/model.ts';
import type { CallbackContext, RunContext } from '../../src/core/runtime.ts';
import { globalInstructionPlugin } from '../../src/plugins/global-instruction.ts';

const run = { agent: { name: 'root' }, session: { state: { mood: 'calm' } } } as unknown as RunContext;
const ctx = { run } as CallbackContext;
const requestWith = (systemInstruction?: string): ModelRequest => ({
  model: 'm',
  contents: [],
  config: systemInstruction === undefined ? {} : { systemInstruction },
  stream: false,
});

it.each([
  ['Be {mood}.', 'Help.', 'Be calm.\n\nHelp.'],
  ['Be {mood}.', undefined, 'Be calm.'],
  [() => 'Be {mood}.', 'Help.', 'Be {mood}.\n\nHelp.'],
  [() => '', 'Help.', 'Help.'],
])('puts its text in front of the instruction', async (instruction, own, whole) => {
  const request = requestWith(own);

  await globalInstructionPlugin(instruction).beforeModel?.({ request, context: ctx });

  expect(request.config.systemInstruction).toBe(whole);
});

it('fails when the state lacks what the text needs', async () => {
  await expect(
    globalInstructionPlugin('{missing}').beforeModel?.({ request: requestWith(), context: ctx }),
  ).rejects.toMatchObject({
    code: 'ConfigurationException',
  });
});
