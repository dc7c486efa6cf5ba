import { expect, it } from 'vitest';
import { agentTool } from '../../src/agents/agent-tool.ts';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { sequentialAgent } from '../../src/agents/workflow.ts';
import type { Toolset } from '../../src/core/runtime.ts';

it('closes what the agents hold that an agent uses as tools', async () => {
  const closed: string[] = [];
  const toolset = (name: string): Toolset => ({
    kind: 'toolset',
    name,
    getTools: async () => [],
    close: async () => void closed.push(name),
  });
  const writer = llmAgent({ name: 'writer', model: 'm', tools: [toolset('mail')] });
  const team = sequentialAgent({ name: 'team', description: 'Writes', subAgents: [writer] });
  const root = llmAgent({ name: 'root', model: 'm', tools: [agentTool({ agent: team }), toolset('files')] });

  await root.close?.();

  expect(closed.toSorted()).toEqual(['files', 'mail']);
});
