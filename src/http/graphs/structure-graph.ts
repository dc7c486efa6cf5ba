import type { Agent } from '../../core/runtime.ts';
import { toolNamesOf } from '../views/agent-tree.ts';
import { type Attributes, DotWriter } from './dot.ts';
import { linkMembers } from './links.ts';

const start = '__START__';
const end = '__END__';

/** One level of the tree for each agent that has sub-agents: its path below the root (`""` is the root itself) and the agent. */
export function levelsOf(root: Agent): Map<string, Agent> {
  const levels = new Map([['', root]]);
  const visit = (agent: Agent, path: string): void => {
    for (const child of agent.subAgents ?? []) {
      const below = path ? `${path}/${child.name}` : child.name;
      if ((child.subAgents?.length ?? 0) > 0) levels.set(below, child);
      visit(child, below);
    }
  };
  visit(root, '');
  return levels;
}

/** The agent at a path below the root, with or without the root's name in front; `undefined` when there is none. */
export function agentAt(root: Agent, path: string): Agent | undefined {
  const names = path.split('/').filter(Boolean);
  const walk = (steps: readonly string[]): Agent | undefined => {
    let agent: Agent | undefined = root;
    for (const name of steps) agent = agent?.subAgents?.find((child) => child.name === name);
    return agent;
  };
  return walk(names) ?? (names[0] === root.name ? walk(names.slice(1)) : undefined);
}

/** The way of a turn through one agent: its sub-agents unopened, its tools beside it. */
export function structureGraph(agent: Agent, dark: boolean): string {
  const style = dark ? darkStyle : lightStyle;
  const dot = new DotWriter();
  dot.set({ rankdir: 'TB', bgcolor: style.background });
  const link = (from: string, to: string): void => dot.edge(from, to, { color: style.edge });
  const terminal = (id: string, label: string, color: string): void =>
    dot.node(id, { label, shape: 'circle', style: 'filled', fillcolor: color, color, fontcolor: '#FFFFFF' });
  const box = (name: string, more: Attributes = {}): void =>
    dot.node(name, {
      label: name,
      shape: 'box',
      style: 'rounded,filled',
      fillcolor: style.node,
      color: style.edge,
      fontcolor: style.text,
      ...more,
    });

  terminal(start, 'start', style.start);
  terminal(end, 'end', style.end);
  const children = agent.subAgents ?? [];
  for (const child of children) box(child.name);
  if ((agent.kind === 'sequential' || agent.kind === 'loop' || agent.kind === 'parallel') && children.length > 0) {
    const members = children.map(({ name }) => ({ entries: [name], exits: [name] }));
    const { entries, exits } = linkMembers(agent.kind, members, link);
    for (const entry of entries) link(start, entry);
    for (const exit of exits) link(exit, end);
    return dot.toString();
  }
  box(agent.name);
  link(start, agent.name);
  for (const child of children) link(agent.name, child.name);
  const known = new Set(children.map((child) => child.name));
  for (const tool of toolNamesOf(agent)) {
    if (!known.has(tool)) box(tool, { style: 'dashed' });
    dot.edge(agent.name, tool, { color: style.edge, style: 'dashed' });
  }
  link(agent.name, end);
  return dot.toString();
}

const darkStyle = {
  background: '#0F172A',
  node: '#1E293B',
  text: '#F8FAFC',
  edge: '#94A3B8',
  start: '#059669',
  end: '#DC2626',
};
const lightStyle = { ...darkStyle, background: '#F8FAFC', node: '#FFFFFF', text: '#0F172A', edge: '#64748B' };
