import type { KeyboardEvent } from 'react';
import type { Activity } from './activity.ts';
import type { Drawing, PlacedEdge, PlacedNode } from './layout.ts';

interface GraphDrawingProps {
  readonly drawing: Drawing;
  readonly activity: Activity;
  readonly isRunning: boolean;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly onFold: (id: string) => void;
}

const arrow = 'arrow';
/** Smallest readable scale; beyond it the drawing scrolls. */
const leastScale = 0.75;

/** The agents as boxes; those that took part are at full strength. Screen readers get the tree instead. */
export function GraphDrawing({ drawing, activity, isRunning, selected, onSelect, onFold }: GraphDrawingProps) {
  const active = new Set(activity.agents);
  const names = new Map(drawing.nodes.map(({ node }) => [node.id, node.name]));
  const isActive = ({ from, to }: PlacedEdge): boolean =>
    active.has(names.get(from) ?? '') && active.has(names.get(to) ?? '');
  return (
    <div className="graph-scroll">
      <svg
        className="graph"
        style={{ width: '100%', minWidth: drawing.width * leastScale, maxWidth: drawing.width }}
        viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        aria-hidden
      >
        <defs>
          <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 L8 4 L0 8 z" className="graph-arrow" />
          </marker>
        </defs>
        {drawing.nodes
          .filter(({ isFrame }) => isFrame)
          .map((placed) => (
            <Frame key={placed.node.id} placed={placed} onFold={onFold} />
          ))}
        {drawing.edges.map((edge) => (
          <path
            key={`${edge.kind} ${edge.from} ${edge.to}`}
            className={`graph-edge ${edge.kind}${isActive(edge) ? ' active' : ''}`}
            d={pathThrough(edge.points)}
            markerEnd={`url(#${arrow})`}
          />
        ))}
        {drawing.nodes
          .filter(({ isFrame }) => !isFrame)
          .map((placed) => (
            <Agent
              key={placed.node.id}
              placed={placed}
              tools={activity.tools.get(placed.node.name) ?? []}
              isActive={active.has(placed.node.name)}
              isCurrent={isRunning && activity.current === placed.node.name}
              isSelected={placed.node.id === selected}
              onSelect={() => (isWorkflow(placed) ? onFold(placed.node.id) : onSelect(placed.node.id))}
            />
          ))}
      </svg>
    </div>
  );
}

const isWorkflow = ({ node }: PlacedNode): boolean =>
  node.kind === 'sequential' || node.kind === 'parallel' || node.kind === 'loop';

function Frame({ placed, onFold }: { readonly placed: PlacedNode; readonly onFold: (id: string) => void }) {
  const { x, y, width, height, node } = placed;
  return (
    <g className="graph-frame" onClick={() => onFold(node.id)}>
      <rect x={x} y={y} width={width} height={height} rx={8} />
      <text x={x + 8} y={y + 14}>
        {node.name} · {node.kind}
      </text>
    </g>
  );
}

interface AgentProps {
  readonly placed: PlacedNode;
  readonly tools: readonly string[];
  readonly isActive: boolean;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

const lettersPerPixel = 1 / 7.2;

function Agent({ placed, tools, isActive, isCurrent, isSelected, onSelect }: AgentProps) {
  const { x, y, width, height, node } = placed;
  const room = Math.floor((width - 20) * lettersPerPixel);
  const called = tools.at(-1);
  const below = called === undefined ? (node.model ?? node.kind) : `⚙ ${called}`;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') onSelect();
  };
  return (
    <g
      className={`graph-node${isActive ? ' active' : ''}${isCurrent ? ' current' : ''}${isSelected ? ' selected' : ''}`}
      data-agent={node.name}
      onClick={onSelect}
      onKeyDown={onKeyDown}
    >
      <rect x={x} y={y} width={width} height={height} rx={6} />
      <text className="graph-name" x={x + 10} y={y + 19}>
        {shortened(node.name, room)}
      </text>
      <text className="graph-below" x={x + 10} y={y + 36}>
        {shortened(below, room + 2)}
      </text>
      {isCurrent && <circle cx={x + width - 10} cy={y + 10} r={4} />}
    </g>
  );
}

const shortened = (text: string, room: number): string => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

/** A soft line: straight to the middle of each stretch, round at the points. */
function pathThrough(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${first.x} ${first.y}`;
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (!next) path += ` L${point.x} ${point.y}`;
    else path += ` Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  }
  return path;
}
