import { define, isJsonObject, type JsonObject } from '../../base/json.ts';

/** One step of a JSON path: a key of an object or an index of an array. */
type Step = string | number;

const step = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;
const LONGEST_ARRAY = 10_000;

function stepsOf(path: string): Step[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const steps: Step[] = [];
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (!match) return undefined;
    const quoted = match[3] ?? match[4];
    if (match[2] !== undefined) steps.push(Number(match[2]));
    else steps.push(quoted === undefined ? (match[1] ?? '') : quoted.replaceAll(/\\(.)/g, '$1'));
  }
  return steps.length > 0 && steps.every((one) => typeof one === 'string' || one < LONGEST_ARRAY) ? steps : undefined;
}

function childOf(holder: unknown, key: Step): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (holder as JsonObject)[key]
    : undefined;
}

function put(holder: unknown, key: Step, value: unknown): void {
  if (Array.isArray(holder) && typeof key === 'number') holder[key] = value;
  else if (isJsonObject(holder)) define(holder, String(key), value);
}

function valueOf(fragment: JsonObject): unknown {
  for (const kind of ['stringValue', 'numberValue', 'boolValue']) {
    if (fragment[kind] !== undefined) return fragment[kind];
  }
  return 'nullValue' in fragment ? null : undefined;
}

/**
 * Adds one streamed fragment (`{ jsonPath, stringValue | numberValue | boolValue | nullValue }`) to the arguments of a
 * call. Texts for the same path are joined; a fragment without a valid path or value is ignored.
 */
export function applyPartialArg(args: JsonObject, fragment: unknown): void {
  if (!isJsonObject(fragment) || typeof fragment['jsonPath'] !== 'string') return;
  const steps = stepsOf(fragment['jsonPath']);
  const value = valueOf(fragment);
  const last = steps?.pop();
  if (!steps || last === undefined || value === undefined) return;
  let holder: unknown = args;
  for (const [at, key] of steps.entries()) {
    let child = childOf(holder, key);
    if (typeof child !== 'object' || child === null) {
      child = typeof (steps[at + 1] ?? last) === 'number' ? [] : {};
      put(holder, key, child);
    }
    holder = child;
  }
  const before = childOf(holder, last);
  put(holder, last, typeof value === 'string' && typeof before === 'string' ? before + value : value);
}
