/**
 * A function expression in the sandbox's JavaScript: takes the host's functions, defines the globals for the code, and
 * returns the functions that the host calls. Keeps its own references, so that code which replaces built-ins harms
 * itself only.
 */
export const javascriptPrelude = `(function (host) {
  'use strict';
  const { stringify } = JSON;
  const { isArray } = Array;
  const now = Date.now;
  const maxTimers = 1000;

  const describe = (error) => {
    if (!(error instanceof Error)) return 'Uncaught ' + show(error);
    const head = String(error.name) + ': ' + String(error.message);
    const stack = typeof error.stack === 'string' ? error.stack.trimEnd() : '';
    return stack === '' ? head : head + '\\n' + stack;
  };
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'function') return '[function ' + (value.name || 'anonymous') + ']';
    if (typeof value !== 'object' || value === null) return String(value);
    if (value instanceof Error) return describe(value);
    try {
      const plain = value instanceof Map ? [...value] : value instanceof Set ? [...value] : value;
      return stringify(plain, (_, item) => (typeof item === 'bigint' ? String(item) : item), isArray(plain) ? 0 : 1)
        .replace(/\\n */g, ' ');
    } catch {
      return String(value);
    }
  };
  const print = (...values) => host.print(values.map(show).join(' ') + '\\n');

  const files = Object.freeze({
    list: () => host.list().split('\\n').filter((name) => name !== ''),
    read: (name) => host.readText(String(name)),
    readBytes: (name) => new Uint8Array(host.readBytes(String(name))),
    write(name, data, mimeType) {
      const type = mimeType === undefined ? '' : String(mimeType);
      if (data instanceof ArrayBuffer) host.writeBytes(String(name), type, data.slice(0));
      else if (ArrayBuffer.isView(data)) {
        const { buffer, byteOffset, byteLength } = data;
        host.writeBytes(String(name), type, buffer.slice(byteOffset, byteOffset + byteLength));
      } else host.writeText(String(name), type, typeof data === 'string' ? data : show(data));
    },
  });

  let lastId = 0;
  const timers = new Map();
  const schedule = (run, ms, args, repeat) => {
    if (typeof run !== 'function') throw new TypeError('A timer takes a function');
    if (timers.size >= maxTimers) throw new RangeError('No more than ' + maxTimers + ' timers may wait');
    const wait = Math.max(1, Number(ms) || 0);
    timers.set((lastId += 1), { run, args, due: now() + wait, wait, repeat });
    return lastId;
  };
  const first = () => {
    let found;
    for (const [id, timer] of timers) if (!found || timer.due < found.timer.due) found = { id, timer };
    return found;
  };

  const globals = {
    console: Object.freeze({ log: print, info: print, debug: print, warn: print, error: print }),
    files,
    setTimeout: (run, ms, ...args) => schedule(run, ms, args, false),
    setInterval: (run, ms, ...args) => schedule(run, ms, args, true),
    clearTimeout: (id) => void timers.delete(id),
    clearInterval: (id) => void timers.delete(id),
  };
  for (const name of Object.keys(globals)) {
    Object.defineProperty(globalThis, name, { value: globals[name], writable: true, configurable: true });
  }

  // The interpreter does not count the memory of shared buffers, and there is no other thread to share them with.
  for (const name of ['SharedArrayBuffer', 'Atomics']) delete globalThis[name];

  return {
    describe,
    // Runs the timer that is due; gives the milliseconds until the next is, or -1 when none waits.
    runTimer() {
      const next = first();
      if (!next) return -1;
      const wait = next.timer.due - now();
      if (wait > 0) return wait;
      if (next.timer.repeat) next.timer.due = now() + next.timer.wait;
      else timers.delete(next.id);
      next.timer.run(...next.timer.args);
      return 0;
    },
    clear: () => timers.clear(),
  };
})`;
