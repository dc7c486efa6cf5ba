import { builtInPlanner, llmAgent, planReActPlanner, sequentialAgent } from 'agent-server';

const open = llmAgent({ name: 'open', model: 'gemini-2.5-flash', planner: planReActPlanner(), outputKey: 'answer' });
const inside = llmAgent({
  name: 'inside',
  model: 'gemini-2.5-flash',
  planner: builtInPlanner({ thinkingConfig: { includeThoughts: true, thinkingBudget: 99 } }),
});

export const rootAgent = sequentialAgent({ name: 'planned', subAgents: [open, inside] });
