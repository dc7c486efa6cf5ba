import type { AgentGraph, GraphNode } from '../../../../src/schemas/extensions.ts';
import type { Activity } from './activity.ts';

interface AgentTreeProps {
  readonly graph: AgentGraph;
  readonly activity: Activity;
  readonly selected: string | undefined;
  /** Absent: the list is only read. */
  readonly onSelect?: (id: string) => void;
}

/** The agents as nested lists: for screen readers, and for graphs that are too large to draw. */
export function AgentTree({ graph, activity, selected, onSelect }: AgentTreeProps) {
  const byParent = new Map<string, GraphNode[]>();
  for (const node of graph.nodes) {
    const parent = node.id.includes('/') ? node.id.slice(0, node.id.lastIndexOf('/')) : '';
    byParent.set(parent, [...(byParent.get(parent) ?? []), node]);
  }
  const active = new Set(activity.agents);
  const level = (parent: string) => {
    const nodes = byParent.get(parent);
    if (!nodes) return null;
    return (
      <ul className="agent-tree">
        {nodes.map((node) => (
          <li key={node.id}>
            {onSelect ? (
              <button
                type="button"
                className="agent-tree-item"
                aria-pressed={node.id === selected}
                onClick={() => onSelect(node.id)}
              >
                <Line node={node} isActive={active.has(node.name)} />
              </button>
            ) : (
              <Line node={node} isActive={active.has(node.name)} />
            )}
            {level(node.id)}
          </li>
        ))}
      </ul>
    );
  };
  return <nav aria-label="Agents">{level('')}</nav>;
}

function Line({ node, isActive }: { readonly node: GraphNode; readonly isActive: boolean }) {
  const { name, kind, model, tools } = node;
  return (
    <>
      <span className="agent-tree-name">{name}</span>{' '}
      <span className="meta">
        {kind}
        {model === undefined ? '' : ` · ${model}`}
        {tools.length === 0 ? '' : ` · ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`}
        {isActive ? ' · ran' : ''}
      </span>
    </>
  );
}
