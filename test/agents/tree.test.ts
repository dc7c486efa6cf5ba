import { expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { indexTree } from '../../src/agents/tree.ts';
import { loopAgent, parallelAgent, sequentialAgent } from '../../src/agents/workflow.ts';
import type { Agent } from '../../src/core/runtime.ts';

const leaf = (name: string): Agent => ({ name, async *run() {} });

it('finds agents and their parents by name', () => {
  const b = leaf('b');
  const a = sequentialAgent({ name: 'a', subAgents: [b] });
  const tree = indexTree(llmAgent({ name: 'root', subAgents: [a, leaf('c')] }));

  expect(tree.find('b')).toBe(b);
  expect(tree.parentOf(b)).toBe(a);
  expect(tree.parentOf(tree.root)).toBeUndefined();
  expect(tree.find('d')).toBeUndefined();
  expect(tree.agents.map(({ name }) => name)).toEqual(['root', 'a', 'b', 'c']);
  expect(indexTree(tree.root)).toBe(tree);
});

it.each(['user', '', ' a', 'a ', 'a  b', '-a', 'a.', 'a\n', 'a\tb', 'a/b', 'a..b', '$a', '__proto__ '])(
  'refuses the agent name "%s"',
  (name) => {
    expect(() => llmAgent({ name })).toThrow(expect.objectContaining({ code: 'ConfigurationException' }));
    expect(() => indexTree(leaf(name))).toThrow(expect.objectContaining({ code: 'ConfigurationException' }));
  },
);

it.each(['_a', '_1', 'a', '1st', 'two words', 'a.b_c-d e', 'User', 'büro', '助手', 'नमस्ते', 'constructor'])(
  'accepts the agent name "%s"',
  (name) => {
    expect(indexTree(llmAgent({ name })).find(name)?.name).toBe(name);
  },
);

it('refuses siblings of the same name when the parent is made', () => {
  expect(() => loopAgent({ name: 'root', subAgents: [leaf('a'), leaf('a')] })).toThrow(
    'Agent "root" has two sub-agents named "a"',
  );
});

it('refuses a name that occurs twice in a tree, and an agent with two parents', () => {
  const shared = leaf('a');
  const left = sequentialAgent({ name: 'left', subAgents: [shared] });
  const right = sequentialAgent({ name: 'right', subAgents: [shared] });

  expect(() => indexTree(parallelAgent({ name: 'root', subAgents: [left, right] }))).toThrow(
    'Agent name "a" occurs twice below "root"',
  );
});
