export type Attributes = Readonly<Record<string, string | number>>;

/** A DOT string. Names come from people and models: nothing in them ends the string or is read as an escape. */
export function quote(text: string): string {
  const escaped = text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll(/\r\n?|\n/g, String.raw`\n`)
    .replaceAll('\0', '');
  return `"${escaped}"`;
}

/** Collects the lines of a directed graph. */
export class DotWriter {
  readonly #lines: string[] = [];
  #depth = 1;

  /** Settings of the graph or cluster that is open. */
  set(attributes: Attributes): void {
    for (const [key, value] of Object.entries(attributes)) this.#line(`${key}=${quote(String(value))};`);
  }

  node(id: string, attributes: Attributes): void {
    this.#line(`${quote(id)} ${list(attributes)};`);
  }

  edge(from: string, to: string, attributes: Attributes): void {
    this.#line(`${quote(from)} -> ${quote(to)} ${list(attributes)};`);
  }

  cluster(name: string, draw: () => void): void {
    this.#line(`subgraph ${quote(`cluster_${name}`)} {`);
    this.#depth += 1;
    draw();
    this.#depth -= 1;
    this.#line('}');
  }

  toString(): string {
    return `digraph {\n${this.#lines.join('\n')}\n}\n`;
  }

  #line(text: string): void {
    this.#lines.push('  '.repeat(this.#depth) + text);
  }
}

function list(attributes: Attributes): string {
  const pairs = Object.entries(attributes).map(([key, value]) => `${key}=${quote(String(value))}`);
  return `[${pairs.join(', ')}]`;
}
