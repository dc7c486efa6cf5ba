import { afterAll, expect, it } from 'vitest';
import { javascriptSandbox } from '../../../src/code/javascript/javascript-sandbox.ts';
import { fileText, openThreads, runIn, runOf, textFile } from '../sandbox-context.ts';

const sandbox = javascriptSandbox({ timeoutMs: 20_000 });
const hasty = javascriptSandbox({ timeoutMs: 300 });
afterAll(async () => {
  await sandbox.close();
  await hasty.close();
});

it('gives what code prints, in the order it prints it', async () => {
  const code = `console.log('a', { b: [1, 2] }, 5n, undefined); console.error('warned');
    setTimeout(() => console.log('late'), 5); Promise.resolve().then(() => console.log('soon'));`;

  expect(await runIn(sandbox, code)).toEqual({
    stdout: 'a { "b": [1, 2] } 5 undefined\nwarned\nsoon\nlate\n'.replace('[1, 2]', '[ 1, 2 ]'),
    stderr: '',
    outputFiles: [],
  });
});

it('waits for what code awaits at its top', async () => {
  const code = 'const x = await new Promise((r) => setTimeout(() => r(7), 5)); console.log(x);';

  expect((await runIn(sandbox, code)).stdout).toBe('7\n');
});

it('runs TypeScript without its types', async () => {
  const code = 'const x: number = 3; console.log(x as unknown);';

  expect((await runIn(sandbox, code, { language: 'typescript' })).stdout).toBe('3\n');
});

it('refuses languages it does not run', async () => {
  expect((await runIn(sandbox, 'print(1)', { language: 'python' })).stderr).toBe(
    'Error: JavaScript can be run here, "python" cannot',
  );
});

it.each([
  ['throws', 'throw new TypeError("no")', 'TypeError: no'],
  ['throws later', '(async () => { throw new Error("late") })()', 'Error: late'],
  ['throws in a timer', 'setTimeout(() => { throw new Error("timed") }, 1)', 'Error: timed'],
  ['cannot be parsed', 'let = ;', 'SyntaxError'],
  ['recurses without end', '(function f() { return f() })()', 'Maximum call stack'],
  ['waits for ever', 'await new Promise(() => {})', 'awaits something that never happens'],
  ['throws what hides', 'throw { toString() { throw 1 } }', 'Uncaught'],
])('tells what went wrong with code that %s', async (_, code, message) => {
  expect((await runIn(sandbox, code)).stderr).toContain(message);
});

it.each([
  'for (;;) {}',
  'setInterval(() => {}, 1)',
  'Promise.resolve().then(function f() { return Promise.resolve().then(f) })',
  'for (;;) { try { for (;;) {} } catch {} }',
  'const e = new Error("m"); Object.defineProperty(e, "stack", { get() { for (;;) {} } }); throw e',
])('stops code that never ends, and keeps what it printed: %s', async (code) => {
  const { stdout, stderr } = await runIn(hasty, `console.log('begun'); ${code}`);

  expect(stderr).toBe('TimeoutError: the code ran longer than 0.3 s and was stopped');
  expect(stdout).toBe('begun\n');
});

it('cuts output off, and says so', async () => {
  const small = javascriptSandbox({ timeoutMs: 300, maxOutputBytes: 5 });

  expect((await runIn(small, 'for (;;) console.log("éééé")')).stdout).toBe('éé\n[output cut off after 5 bytes]');
  expect((await runIn(small, 'throw new Error("x".repeat(99))')).stderr).toBe('Error\n[output cut off after 5 bytes]');
});

it.each(['const all = []; for (;;) all.push(new Uint8Array(1_000_000))', 'new Uint8Array(1e9)', '"x".repeat(2 ** 30)'])(
  'refuses code more memory than it may take: %s',
  async (code) => {
    const { stderr } = await runIn(javascriptSandbox({ memoryMb: 8, timeoutMs: 20_000 }), code);

    expect(stderr).toMatch(/memory|invalid array buffer length|string too long|invalid string length/i);
  },
);

it.each([
  'typeof fetch + typeof process + typeof require + typeof Atomics + typeof WebAssembly',
  'console.log.constructor.constructor("return typeof process")()',
  'files.read.constructor("return typeof process")()',
  'new Function("return typeof process + typeof global")()',
  '(0, eval)("typeof process")',
  'Object.getPrototypeOf(async () => {}).constructor("return typeof process") && "undefined"',
  'typeof ({}).constructor.constructor("return this")().process',
  'typeof ({}).__proto__.constructor.constructor("return globalThis")().require',
  'await import("node:fs").then(() => "loaded", () => "undefined")',
  '(() => { try { null.x } catch (e) { return typeof e.constructor.constructor("return this")().process } })()',
  '(() => { try { files.read("gone") } catch (e) { return typeof e.constructor.constructor("return this")().process } })()',
])('has nothing of the machine in reach: %s', async (expression) => {
  const { stdout, stderr } = await runIn(sandbox, `console.log(${expression})`);

  expect(stderr).toBe('');
  expect(stdout).toMatch(/^(?:undefined)+\n$/);
});

it('cannot be harmed by code that replaces what it is built on', async () => {
  const code = `JSON.stringify = Array.prototype.map = Object.keys = () => { throw 1 };
    Object.prototype.then = () => {}; console.log('still here');`;

  const { stdout, stderr } = await runIn(sandbox, code);

  expect(stdout + stderr).toContain('1');
});

it('hands files to code, and takes those it writes', async () => {
  const code = `files.write('sum.txt', String(files.read('in.csv').split(',').length));
    files.write('raw/x.bin', new Uint8Array([0, 255]).subarray(1)); console.log(files.list().join());`;

  const { stdout, stderr, outputFiles } = await runIn(sandbox, code, { files: [textFile('in.csv', 'a,b')] });

  expect(stderr).toBe('');
  expect(stdout).toBe('in.csv,sum.txt,raw/x.bin\n');
  expect(outputFiles).toEqual([
    { name: 'sum.txt', mimeType: 'text/plain', data: Buffer.from('2').toString('base64') },
    { name: 'raw/x.bin', mimeType: 'application/octet-stream', data: Buffer.from([255]).toString('base64') },
  ]);
});

it.each([
  ['../x', 'x', 'segment'],
  ['/etc/passwd', 'x', 'segment'],
  ['a\nb', 'x', 'control'],
  ['big', 'x'.repeat(200), 'no more than 100 bytes'],
])('refuses to write %j', async (name, text, fault) => {
  const small = javascriptSandbox({ maxFileBytes: 100, timeoutMs: 20_000 });
  const code = `files.write(${JSON.stringify(name)}, ${JSON.stringify(text)})`;

  expect(await runIn(small, code)).toMatchObject({ stderr: expect.stringContaining(fault), outputFiles: [] });
});

it('bounds the number of files and of timers', async () => {
  const code = 'for (let i = 0; i < 99; i++) files.write("f" + i, "x")';

  expect(await runIn(sandbox, code)).toMatchObject({ stderr: expect.stringContaining('No more than 16 files') });
  expect((await runIn(sandbox, 'for (;;) setTimeout(() => {}, 1e6)')).stderr).toContain('No more than 1000 timers');
});

it('stops an endless loop when the run is cancelled, and leaves no thread behind', async () => {
  const before = openThreads();
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const running = runIn(sandbox, 'for (;;) {}', { ctx: runOf('u', controller.signal) });
  setTimeout(() => controller.abort(reason), 100);

  await expect(running).rejects.toBe(reason);
  await expect(runIn(sandbox, '1', { ctx: runOf('u', controller.signal) })).rejects.toBe(reason);
  await expect.poll(openThreads).toBeLessThanOrEqual(before);
});

it('ends what runs when it is closed, and serves those who share it after', async () => {
  const running = runIn(sandbox, 'for (;;) {}');
  setTimeout(() => void sandbox.close(), 100);

  expect((await running).stderr).toBe('Error: the sandbox was closed');
  expect((await runIn(sandbox, 'console.log(1)')).stdout).toBe('1\n');
});

it('never holds up the event loop, and lets code wait for its turn', async () => {
  const one = javascriptSandbox({ maxConcurrent: 1, timeoutMs: 300 });
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 10);

  const outputs = await Promise.all([runIn(one, 'for (;;) {}'), runIn(one, 'console.log(2)')]);
  clearInterval(timer);

  expect(outputs.map(({ stdout }) => stdout)).toEqual(['', '2\n']);
  expect(ticks).toBeGreaterThan(3);
});

it('reads back what it wrote as it was', async () => {
  const code = 'files.write("a.txt", "héllo ✓"); console.log(files.read("a.txt"), files.readBytes("a.txt").length)';

  const { stdout, outputFiles } = await runIn(sandbox, code);

  expect(stdout).toBe('héllo ✓ 10\n');
  expect(fileText(outputFiles[0]!)).toBe('héllo ✓');
});

it.each([{ timeoutMs: 0 }, { timeout: 5 }, { memoryMb: '64' }])('refuses options that are wrong: %j', (options) => {
  expect(() => javascriptSandbox(options as object)).toThrow(
    expect.objectContaining({ code: 'ConfigurationException', message: expect.stringContaining('JavaScriptSandbox') }),
  );
});
