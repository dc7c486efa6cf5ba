/** One visible line of a JSON tree. */
export interface TreeRow {
  /** Its path: `$.a[0]`, unique in the tree. */
  readonly path: string;
  readonly name: string;
  readonly value: unknown;
  readonly depth: number;
  /** Entries below it; undefined for a value that has none. */
  readonly count: number | undefined;
  readonly position: number;
  readonly siblings: number;
}

const isOpenable = (value: unknown): value is object => typeof value === 'object' && value !== null;
const plainName = /^[a-z_$][\w$]*$/i;

const pathOf = (parent: string, name: string, inArray: boolean): string => {
  if (inArray) return `${parent}[${name}]`;
  return plainName.test(name) ? `${parent}.${name}` : `${parent}[${JSON.stringify(name)}]`;
};

/** The visible lines when these paths are open. Closed parts are not visited. */
export function treeRows(root: unknown, isOpen: (path: string, depth: number) => boolean): TreeRow[] {
  const rows: TreeRow[] = [];
  const visit = (value: unknown, parent: string, depth: number): void => {
    if (!isOpenable(value)) return;
    const inArray = Array.isArray(value);
    const entries = Object.entries(value);
    for (const [at, [name, child]] of entries.entries()) {
      const path = pathOf(parent, name, inArray);
      const count = isOpenable(child) ? Object.keys(child).length : undefined;
      rows.push({ path, name, value: child, depth, count, position: at + 1, siblings: entries.length });
      if (count && isOpen(path, depth)) visit(child, path, depth + 1);
    }
  };
  visit(root, '$', 0);
  return rows;
}

const longestShown = 300;

/** A value in a few characters. */
export function previewOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[ ${value.length} ]`;
  if (isOpenable(value)) return Object.keys(value).length === 0 ? '{}' : `{ ${Object.keys(value).length} }`;
  if (typeof value === 'string') {
    const text = JSON.stringify(value.slice(0, longestShown));
    return value.length > longestShown ? `${text.slice(0, -1)}… (${value.length} characters)` : text;
  }
  return JSON.stringify(value) ?? 'undefined';
}
