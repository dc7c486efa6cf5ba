import { graphlib, layout } from '@dagrejs/dagre';
import type { AgentGraph, GraphNode } from '../../../../src/schemas/extensions.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** An agent as a box, or a workflow as a frame around its members. */
export interface PlacedNode extends Box {
  readonly node: GraphNode;
  readonly isFrame: boolean;
}

export interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'transfer' | 'next' | 'again';
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

const boxHeight = 46;
const minWidth = 96;
const maxWidth = 220;
const letterWidth = 7.4;
const margin = 12;

/** Lays out the agents from left to right; workflows in `folded` stand as single boxes. */
export function drawingOf(graph: AgentGraph, folded: ReadonlySet<string>): Drawing {
  const tree = new Tree(graph, folded);
  const made = new graphlib.Graph({ compound: true, multigraph: true });
  made.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 36, marginx: margin, marginy: margin });
  made.setDefaultEdgeLabel(() => ({}));
  for (const node of tree.shown) {
    made.setNode(node.id, tree.isFrame(node.id) ? { label: node.name } : { width: widthOf(node), height: boxHeight });
    const frame = tree.frameOf(node.id);
    if (frame !== undefined) made.setParent(node.id, frame);
  }
  const kinds = new Map<string, PlacedEdge['kind']>();
  for (const { from, to, kind } of graph.edges) {
    if (kind === 'contains' || !tree.isShown(from) || !tree.isShown(to)) continue;
    const starts = kind === 'transfer' ? [from] : tree.exits(from);
    for (const start of starts) {
      for (const end of tree.entries(to)) {
        const name = `${kind}/${start}/${end}`;
        kinds.set(name, kind);
        made.setEdge(start, end, {}, name);
      }
    }
  }
  layout(made);
  const placed = tree.shown.map((node) => {
    const { x, y, width, height } = made.node(node.id);
    return { node, x: x - width / 2, y: y - height / 2, width, height, isFrame: tree.isFrame(node.id) };
  });
  const { width = 0, height = 0 } = made.graph();
  return {
    width,
    height,
    nodes: placed,
    edges: made.edges().map((edge) => ({
      from: edge.v,
      to: edge.w,
      kind: kinds.get(edge.name ?? '') ?? 'next',
      points: made.edge(edge).points ?? [],
    })),
  };
}

const widthOf = ({ name, model = '' }: GraphNode): number =>
  Math.min(maxWidth, Math.max(minWidth, Math.max(name.length, model.length * 0.85) * letterWidth + 36));

/** Which agents are drawn, and where turns enter and leave them. */
class Tree {
  readonly shown: readonly GraphNode[];
  readonly #members = new Map<string, string[]>();
  readonly #kinds: ReadonlyMap<string, GraphNode['kind']>;
  readonly #shownIds: ReadonlySet<string>;
  readonly #folded: ReadonlySet<string>;

  constructor({ nodes, edges }: AgentGraph, folded: ReadonlySet<string>) {
    this.#folded = folded;
    this.#kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
    for (const { from, to, kind } of edges) {
      if (kind !== 'contains') continue;
      const members = this.#members.get(from);
      if (members) members.push(to);
      else this.#members.set(from, [to]);
    }
    this.shown = nodes.filter(({ id }) => !pathsAbove(id).some((above) => folded.has(above)));
    this.#shownIds = new Set(this.shown.map(({ id }) => id));
  }

  isShown(id: string): boolean {
    return this.#shownIds.has(id);
  }

  isFrame(id: string): boolean {
    return this.#members.has(id) && !this.#folded.has(id);
  }

  frameOf(id: string): string | undefined {
    const above = pathsAbove(id).at(-1);
    return above !== undefined && this.isFrame(above) && this.#members.get(above)?.includes(id) ? above : undefined;
  }

  entries(id: string): string[] {
    return this.#ends(
      id,
      (members) => members.slice(0, 1),
      (member) => this.entries(member),
    );
  }

  exits(id: string): string[] {
    return this.#ends(
      id,
      (members) => members.slice(-1),
      (member) => this.exits(member),
    );
  }

  #ends(id: string, choose: (members: string[]) => string[], inside: (member: string) => string[]): string[] {
    if (!this.isFrame(id)) return [id];
    const members = this.#members.get(id) ?? [];
    return (this.#kinds.get(id) === 'parallel' ? members : choose(members)).flatMap(inside);
  }
}

/** Ids of all agents above one, outermost first. */
function pathsAbove(id: string): string[] {
  const names = id.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}
