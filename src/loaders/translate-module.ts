import { type AnyNode, type Declaration, type Identifier, type Literal, parse, type Program } from 'acorn';
import { analyze, type ScopeManager, type Variable } from 'eslint-scope';

/** A module that another one imports. */
export interface ModuleRequest {
  readonly specifier: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The exports it has to have, each with where in the source it is asked for. */
  readonly names: readonly { readonly name: string; readonly at: number }[];
  /** Whether all it exports is passed on (`export * from`). */
  readonly isStar: boolean;
}

/** An ES module as a function. */
export interface TranslatedModule {
  /** The body of the function. Line n of the source is its line n + 1. */
  readonly body: string;
  /**
   * The names of its parameters: what the requests export, in their order; a function that takes the getters of the
   * exports; one that loads the requests; `import()`; `import.meta`; the identity.
   */
  readonly parameters: readonly string[];
  readonly requests: readonly ModuleRequest[];
  readonly names: readonly string[];
  /** Whether there is anything in it that only an ES module has. */
  readonly isModule: boolean;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Makes an ES module an async function that does the same, on the same lines. What it imports becomes members of what
 * other modules export, and so stays live. Throws SyntaxError for what acorn does not know.
 */
export function translateModule(source: string): TranslatedModule {
  const program = parse(source, { ecmaVersion: 'latest', sourceType: 'module', ranges: true });
  // acorn's nodes are ESTree's, in types of their own.
  const scopes = analyze(program as Parameters<typeof analyze>[0], { ecmaVersion: 2026, sourceType: 'module' });
  const names = freeNames(source);
  const imports = importsOf(program, names.modules);
  const { exports, edits } = exportsOf(program, { source, scopes, names, imports });
  const inside = nodesIn(program);
  const references = referenceEdits(inside, { scopes, imports, names });
  const specials = specialEdits(inside, names);

  const getters = Array.from(exports, ([name, value]) => `[${JSON.stringify(name)}]:()=>${value}`);
  const start = `${names.exports}({${getters.join()}});await ${names.load}();`;
  const shebang = source.startsWith('#!') ? [{ start: 0, end: 2, text: '//' }] : [];
  return {
    body: `'use strict';return(async()=>{${start}\n${edited(source, [...shebang, ...edits, ...references, ...specials])}\n})()`,
    parameters: [names.modules, names.exports, names.load, names.import, names.meta, names.callee],
    requests: imports.requests,
    names: [...exports.keys()],
    isModule: program.body.some(isModuleStatement) || specials.some(({ text }) => text === names.meta),
  };
}

type Names = ReturnType<typeof freeNames>;

/** Names that occur nowhere in the source. */
function freeNames(source: string) {
  let prefix = '$m';
  while (source.includes(prefix)) prefix += '$';
  const name = (end: string): string => prefix + end;
  return {
    modules: prefix,
    exports: name('e'),
    load: name('l'),
    import: name('i'),
    meta: name('t'),
    callee: name('c'),
    value: name('v'),
  } as const;
}

interface Imports {
  readonly requests: readonly ModuleRequest[];
  /** What imported names stand for, by the local name. */
  readonly bindings: ReadonlyMap<string, string>;
  /** What an export that comes from elsewhere stands for, by exported name. */
  readonly passedOn: ReadonlyMap<string, string>;
}

/** What the statements ask of other modules, in their order, which is that of evaluation. */
function importsOf(program: Program, modules: string): Imports {
  const requests: ModuleRequest[] = [];
  const bindings = new Map<string, string>();
  const passedOn = new Map<string, string>();
  for (const node of program.body) {
    if (
      node.type !== 'ImportDeclaration' &&
      node.type !== 'ExportAllDeclaration' &&
      node.type !== 'ExportNamedDeclaration'
    )
      continue;
    if (!node.source) continue;
    const module = `${modules}[${requests.length}]`;
    const asked: { name: string; at: number }[] = [];
    const member = (name: string, at: number): string => {
      asked.push({ name, at });
      return `${module}[${JSON.stringify(name)}]`;
    };
    if (node.type === 'ExportAllDeclaration') {
      if (node.exported) passedOn.set(nameOf(node.exported), module);
    } else if (node.type === 'ExportNamedDeclaration') {
      for (const { local, exported, start } of node.specifiers) {
        passedOn.set(nameOf(exported), member(nameOf(local), start));
      }
    } else {
      for (const specifier of node.specifiers) {
        const { type, local, start } = specifier;
        const imported = type === 'ImportSpecifier' ? nameOf(specifier.imported) : 'default';
        bindings.set(local.name, type === 'ImportNamespaceSpecifier' ? module : member(imported, start));
      }
    }
    requests.push({
      specifier: String(node.source.value),
      attributes: Object.fromEntries(node.attributes.map(({ key, value }) => [nameOf(key), String(value.value)])),
      names: asked,
      isStar: node.type === 'ExportAllDeclaration' && !node.exported,
    });
  }
  return { requests, bindings, passedOn };
}

/** The expression behind each export, and what becomes of the statements. */
function exportsOf(
  program: Program,
  { source, scopes, names, imports }: { source: string; scopes: ScopeManager; names: Names; imports: Imports },
): { exports: Map<string, string>; edits: Edit[] } {
  const exports = new Map(imports.passedOn);
  const edits: Edit[] = [];
  const remove = (start: number, end: number): void => {
    // Ends the statement above, which may have left that to its line's end.
    edits.push({ start, end, text: `;${source.slice(start + 1, end).replaceAll(/[^\n\r\u2028\u2029]/g, ' ')}` });
  };
  for (const node of program.body) {
    if (node.type === 'ExportDefaultDeclaration') {
      const { declaration } = node;
      const isDeclaration = declaration.type === 'FunctionDeclaration' || declaration.type === 'ClassDeclaration';
      if (isDeclaration && declaration.id) {
        exports.set('default', declaration.id.name);
        remove(node.start, declaration.start);
        continue;
      }
      exports.set('default', names.value);
      const head = /^export(?:\s|\/\*[^]*?\*\/|\/\/.*)*default/.exec(source.slice(node.start))?.[0] ?? '';
      const end = source[node.end - 1] === ';' && !isDeclaration ? node.end - 1 : node.end;
      // The key gives its name to what has none, as the export does.
      const lines = head.replaceAll(/[^\n]/g, '');
      edits.push({ start: node.start, end: node.start + head.length, text: `;const ${names.value}={default:${lines}` });
      edits.push({ start: end, end, text: '}.default;' });
    } else if (node.type === 'ExportNamedDeclaration' && node.declaration) {
      for (const name of declaredNames(node.declaration, scopes)) exports.set(name, name);
      remove(node.start, node.declaration.start);
    } else if (isModuleStatement(node)) {
      if (node.type === 'ExportNamedDeclaration' && !node.source) {
        for (const { local, exported } of node.specifiers) {
          exports.set(nameOf(exported), imports.bindings.get(nameOf(local)) ?? nameOf(local));
        }
      }
      remove(node.start, node.end);
    }
  }
  return { exports, edits };
}

function declaredNames(node: Declaration, scopes: ScopeManager): string[] {
  if (node.type !== 'VariableDeclaration') return [node.id.name]; // a function declares its parameters, too
  const declared = scopes.getDeclaredVariables(node as Parameters<ScopeManager['getDeclaredVariables']>[0]);
  return declared.map(({ name }) => name);
}

/** Where imported names are used: replaced by what they stand for. */
function referenceEdits(
  inside: readonly AnyNode[],
  { scopes, imports, names }: { scopes: ScopeManager; imports: Imports; names: Names },
): Edit[] {
  const shorthand = new Set<number>();
  const called = new Set<number>();
  const passedOn = new Set<number>();
  for (const node of inside) {
    if (node.type === 'Property' && node.shorthand) shorthand.add(node.start);
    if (node.type === 'CallExpression' && node.callee.type === 'Identifier') called.add(node.callee.start);
    if (node.type === 'TaggedTemplateExpression' && node.tag.type === 'Identifier') called.add(node.tag.start);
    if (node.type === 'ExportSpecifier') passedOn.add(node.local.start);
  }
  const expression = ({ name }: Variable, start: number): string => {
    const value = imports.bindings.get(name) ?? name;
    if (shorthand.has(start)) return `${name}:${value}`;
    // A function that was imported is called without `this`.
    return called.has(start) ? `${names.callee}(${value})` : value;
  };
  const variables = scopes.globalScope?.childScopes[0]?.variables ?? [];
  return variables
    .filter(({ name }) => imports.bindings.has(name))
    .flatMap((variable) =>
      variable.references.flatMap(({ identifier }) => {
        const [start, end] = identifier.range ?? [0, 0];
        return passedOn.has(start) ? [] : [{ start, end, text: expression(variable, start) }];
      }),
    );
}

const importLength = 6;

/** `import()` and `import.meta`. */
function specialEdits(inside: readonly AnyNode[], names: Names): Edit[] {
  return inside.flatMap((node) => {
    const { type, start } = node;
    if (type === 'ImportExpression') return [{ start, end: start + importLength, text: names.import }];
    return type === 'MetaProperty' && node.meta.name === 'import' ? [{ start, end: node.end, text: names.meta }] : [];
  });
}

function edited(source: string, edits: readonly Edit[]): string {
  let text = '';
  let position = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    text += source.slice(position, edit.start) + edit.text;
    position = edit.end;
  }
  return text + source.slice(position);
}

/** Every node below one, without recursion: expressions may be deep. */
function nodesIn(root: AnyNode): AnyNode[] {
  const found = [root];
  for (const node of found) {
    for (const value of Object.values(node).flat()) if (isNode(value)) found.push(value);
  }
  return found;
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value;

const isModuleStatement = ({ type }: AnyNode): boolean => /^(?:Import|Export)\w*Declaration$/.test(type);

const nameOf = (node: Identifier | Literal): string => (node.type === 'Identifier' ? node.name : String(node.value));
