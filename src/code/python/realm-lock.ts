import { builtinModules, syncBuiltinESMExports } from 'node:module';

/** Modules that reach nothing outside the thread and that the runtime itself still needs. */
const harmless = new Set([
  'assert',
  'buffer',
  'console',
  'constants',
  'crypto',
  'diagnostics_channel',
  'events',
  'path',
  'path/posix',
  'path/win32',
  'perf_hooks',
  'process',
  'punycode',
  'querystring',
  'stream',
  'string_decoder',
  'timers',
  'timers/promises',
  'url',
  'util',
  'util/types',
]);
/** Loading these modules would change the thread, so they are not closed here. All they could use is closed when code loads them. */
const unloadable = /^(?:sys|domain|node:test.*)$/;

const removedProcessMembers = [
  '_getActiveHandles _getActiveRequests _kill _linkedBinding abort argv binding chdir config dlopen execArgv execPath',
  'execve finalization getBuiltinModule initgroups kill loadEnvFile moduleLoadList openStdin report setegid seteuid',
  'setgid setgroups setuid umask',
].flatMap((names) => names.split(' '));
const removedGlobals = [
  'BroadcastChannel',
  'EventSource',
  'WebSocket',
  'XMLHttpRequest',
  'fetch',
  'localStorage',
  'module',
  'navigator',
  'require',
  'sessionStorage',
];

function denied(): never {
  throw new Error('Not permitted in the sandbox');
}

/**
 * Removes from this thread, for good, all access beyond it: files, network, processes, threads, module loading, and
 * code from text. This is a second line of defence: code that escapes its interpreter finds nothing to use. Built-in
 * modules are separate objects in each thread, so other threads are not affected.
 */
export function lockRealm(): void {
  process.removeAllListeners('warning');
  const names = builtinModules.filter((name) => !harmless.has(name) && !unloadable.test(name));
  const modules: unknown[] = names.map(loaded);
  const crypto = process.getBuiltinModule('crypto');
  const threads = process.getBuiltinModule('worker_threads');
  for (const exports of modules) {
    if (typeof exports === 'object' && exports !== null && 'promises' in exports) close(exports.promises);
    close(exports);
  }
  replace(crypto, 'setEngine', denied);
  replace(threads, 'parentPort', undefined);
  syncBuiltinESMExports();
  for (const name of removedProcessMembers) replace(process, name, undefined);
  for (const name of removedGlobals) replace(globalThis, name, undefined);
  forbidCodeFromText();
}

/** Some modules do not exist in worker threads. */
function loaded(name: string): unknown {
  try {
    return process.getBuiltinModule(name);
  } catch {
    return undefined;
  }
}

function close(exports: unknown): void {
  if (typeof exports !== 'function' && (typeof exports !== 'object' || exports === null)) return;
  for (const key of Reflect.ownKeys(exports)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(exports, key);
    if (typeof descriptor?.value === 'function') replace(exports, key, denied);
    else if (descriptor?.get) replace(exports, key, undefined);
  }
}

/** Removes `eval` and every way to the constructors of functions. */
function forbidCodeFromText(): void {
  const kinds = [async function () {}, function* () {}, async function* () {}];
  for (const kind of kinds) replace(Object.getPrototypeOf(kind) as object, 'constructor', denied);
  // `instanceof Function` still works.
  const stand = Object.assign((): never => denied(), { prototype: Function.prototype });
  replace(Function.prototype, 'constructor', stand);
  replace(globalThis, 'Function', stand);
  replace(globalThis, 'eval', denied);
}

function replace(target: object, key: PropertyKey, value: unknown): void {
  const isDone = Reflect.defineProperty(target, key, { value, writable: false, configurable: false, enumerable: true });
  // A property that cannot be redefined may still be writable.
  if (!isDone) Reflect.set(target, key, value);
}
