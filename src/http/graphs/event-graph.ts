import type { Agent } from '../../core/runtime.ts';
import { type Event, functionCalls, functionResponses } from '../../schemas/event.ts';
import { agentsOf, toolNamesOf } from '../views/agent-tree.ts';
import { type Attributes, DotWriter } from './dot.ts';
import { type Ends, isWorkflow, linkMembers } from './links.ts';

const transferTool = 'transfer_to_agent';

/** The whole agent tree with its tools, and what the event did in it highlighted: who spoke, and who called whom. */
export function eventGraph(root: Agent, event?: Event, dark = true): string {
  const dot = new DotWriter();
  const style = dark ? darkStyle : lightStyle;
  dot.set({ rankdir: 'LR', bgcolor: style.background });
  const pairs = event ? pairsOf(event) : [];
  const lit = new Set(pairs.flat());
  const agentNames = new Set(agentsOf(root).map((agent) => agent.name));
  const drawn = new Set<string>();
  const edges = new Map<string, readonly [string, string]>();

  const addNode = (name: string, attributes: Attributes): void => {
    if (drawn.has(name)) return;
    drawn.add(name);
    dot.node(name, { ...attributes, ...(lit.has(name) ? style.litNode : style.node) });
  };
  const addTool = (name: string): void => addNode(name, { label: `🔧 ${name}`, shape: 'box' });
  const link = (from: string, to: string): void => void edges.set(JSON.stringify([from, to]), [from, to]);

  const draw = (agent: Agent): Ends => {
    if (isWorkflow(agent)) {
      let members: Ends[] = [];
      dot.cluster(agent.name, () => {
        dot.set({ label: `${agent.name} (${kindNames[agent.kind ?? ''] ?? 'Agent'})`, ...style.cluster });
        members = (agent.subAgents ?? []).map(draw);
      });
      return linkMembers(agent.kind, members, link);
    }
    addNode(agent.name, { label: `🤖 ${agent.name}`, shape: 'ellipse' });
    for (const tool of toolNamesOf(agent)) {
      if (!agentNames.has(tool)) addTool(tool);
      link(agent.name, tool);
    }
    for (const child of agent.subAgents ?? []) for (const entry of draw(child).entries) link(agent.name, entry);
    return { entries: [agent.name], exits: [agent.name] };
  };
  draw(root);

  for (const [from, to] of pairs) {
    // What a toolset offers is known only once it was called.
    if (from === event?.author && to !== '' && to !== transferTool && !drawn.has(to)) {
      addTool(to);
      link(from, to);
    }
  }
  for (const [from, to] of edges.values()) {
    const forward = pairs.some(([a, b]) => a === from && b === to);
    const backward = pairs.some(([a, b]) => a === to && b === from);
    if (!forward && !backward) dot.edge(from, to, style.edge);
    else dot.edge(from, to, { ...style.litEdge, ...(forward ? {} : { dir: 'back' }) });
  }
  return dot.toString();
}

/** Who reached whom in an event: author to tool for calls, tool to author for responses, else the author alone. */
function pairsOf(event: Event): (readonly [string, string])[] {
  const calls = functionCalls(event);
  if (calls.length > 0) {
    return calls.flatMap(({ name, args }) => {
      const target = name === transferTool ? (args?.['agent_name'] ?? args?.['agentName']) : undefined;
      return [[event.author, typeof target === 'string' ? target : name] as const];
    });
  }
  const responses = functionResponses(event);
  if (responses.length > 0) return responses.map(({ name }) => [name, event.author] as const);
  return [[event.author, '']];
}

const kindNames: Readonly<Record<string, string>> = {
  sequential: 'Sequential Agent',
  loop: 'Loop Agent',
  parallel: 'Parallel Agent',
};

const litNode = { style: 'filled,rounded', fillcolor: '#0F5223', color: '#0F5223', fontcolor: '#cccccc' };
const litEdge = { color: '#69CB87', penwidth: 2 };
const darkStyle = {
  background: '#333537',
  node: { style: 'rounded', color: '#cccccc', fontcolor: '#cccccc' },
  edge: { color: '#cccccc', arrowhead: 'none' },
  cluster: { style: 'rounded', color: '#cccccc', fontcolor: '#cccccc' },
  litNode,
  litEdge,
};
const lightStyle = {
  background: '#ffffff',
  node: { style: 'rounded', color: '#5f6368', fontcolor: '#202124' },
  edge: { color: '#5f6368', arrowhead: 'none' },
  cluster: { style: 'rounded', color: '#5f6368', fontcolor: '#202124' },
  litNode,
  litEdge,
};
