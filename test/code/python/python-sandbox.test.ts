import { afterAll, expect, it } from 'vitest';
import { pythonSandbox, requirePyodide } from '../../../src/code/python/python-sandbox.ts';
import { fileText, openThreads, runIn, runOf, textFile } from '../sandbox-context.ts';

// Loading the interpreter takes seconds: most tests share one.
const options = { stateful: true, timeoutMs: 20_000, memoryMb: 32, maxFiles: 2, maxFileBytes: 1000 };
const sandbox = pythonSandbox(options);
const shared = { executionId: 'shared' };
const run = (code: string): ReturnType<typeof runIn> => runIn(sandbox, code, shared);
afterAll(async () => await sandbox.close());

it('says what to install when the interpreter is missing', () => {
  expect(() => requirePyodide('file:///nowhere/at-all.js')).toThrow(
    expect.objectContaining({
      code: 'ConfigurationException',
      message: expect.stringMatching(/npm install pyodide@\d+\.\d+\.\d+$/),
    }),
  );
});

it('runs Python with its standard library, and keeps what it defined', async () => {
  await run('import json, math, csv, asyncio, random\nx = json.dumps([math.floor(2.5)])');

  expect(await run('await asyncio.sleep(0.01); print(x, random.random() < 1)')).toEqual({
    stdout: '[2] True\n',
    stderr: '',
    outputFiles: [],
  });
});

it.each([
  ['1/0', 'ZeroDivisionError: division by zero'],
  ['x = = 1', 'SyntaxError'],
  ['def f(): return f()\nf()', 'RecursionError'],
  ['exit(3)', 'SystemExit: 3'],
  ['input()', 'Error: '],
  ['b = bytearray(10**8)', 'MemoryError'],
  ['open("big", "wb").write(bytes(10**7)); open("big2", "wb").truncate(10**9)', 'OSError'],
])('tells what went wrong with %j', async (code, message) => {
  const { stderr } = await run(code);

  expect(stderr).toContain(message);
  expect(stderr).not.toContain('_pyodide');
});

it('takes warnings and quiet exits for no failure', async () => {
  expect(await run('import sys; print("w", file=sys.stderr, end=""); exit()')).toMatchObject({
    stdout: 'w',
    stderr: '',
  });
});

it.each([
  ['import js', 'ImportError'],
  ['import pyodide_js', 'ImportError'],
  ['from js import process', 'ImportError'],
  ['import micropip', 'ImportError'],
  ['import ctypes', 'ImportError'],
  ['import _pyodide_core', 'ImportError'],
  ['open("/etc/passwd")', 'FileNotFoundError'],
  ['import os; os.system("id")', 'PermissionError'],
  ['import os; os.popen("id")', 'Error'],
  ['import subprocess; subprocess.run(["id"])', 'Error'],
  ['import socket; socket.socket()', 'PermissionError'],
  ['import socket; socket.create_connection(("127.0.0.1", 80))', 'PermissionError'],
  ['import urllib.request; urllib.request.urlopen("http://127.0.0.1:80")', 'Error'],
  ['import pyodide.http; await pyodide.http.pyfetch("http://127.0.0.1:80")', 'Error'],
  ['import pyodide.code; pyodide.code.run_js("1")', 'PermissionError'],
  ['from pyodide.ffi import to_js; to_js([]).constructor.constructor("return process")()', 'Not permitted'],
])('cannot reach the machine by %j', async (code, message) => {
  const { stdout, stderr } = await run(code);

  expect(stderr).toContain(message);
  expect(stdout).toBe('');
});

it('shows code no environment and no folder but its own', async () => {
  const code = 'import os; print(dict(os.environ), os.getcwd(), os.path.exists("/work"), os.path.exists("/proc/1"))';

  expect((await run(code)).stdout).toBe('{} /home/pyodide False False\n');
});

it('finds nothing to use even in the objects of JavaScript that are left', async () => {
  const code = `import gc
from pyodide.ffi import JsProxy, to_js
for found in [o for o in gc.get_objects() if isinstance(o, JsProxy)] + [to_js([]), to_js({}), to_js(lambda: 1)]:
    for name in ('process', 'require', 'fetch', 'fs', 'tests'):
        value = getattr(found, name, None)
        if value is not None: print('found', name, value)
    try:
        print('made', found.constructor.constructor('return process')())
    except BaseException:
        pass
`;
  expect(await run(code)).toMatchObject({ stdout: '', stderr: '' });
});

it('hands files to code, and takes those that are new or changed', async () => {
  const code = `import os
os.makedirs('sub', exist_ok=True)
open('sub/out.txt', 'w').write(open('in.csv').read().upper())`;
  const files = [textFile('in.csv', 'a,b')];

  const { stderr, outputFiles } = await runIn(sandbox, code, { files, executionId: 'files' });
  const again = await runIn(sandbox, 'open("in.csv", "a").write(",c")', { files, executionId: 'files' });

  expect(stderr).toBe('');
  expect(outputFiles.map((file) => [file.name, file.mimeType, fileText(file)])).toEqual([
    ['sub/out.txt', 'text/plain', 'A,B'],
  ]);
  expect(again.outputFiles.map((file) => [file.name, fileText(file)])).toEqual([['in.csv', 'a,b,c']]);
  const many = await runIn(sandbox, 'for i in range(9): open(f"f{i}", "w").write("x")', { executionId: 'files' });
  expect(many.stderr).toContain('No more than 2 files');
  expect(many.outputFiles.length).toBeLessThanOrEqual(2);
});

it('stops code that never ends, even if it will not hear of it', { timeout: 60_000 }, async () => {
  const hasty = pythonSandbox({ timeoutMs: 300 });
  const deaf = 'while True:\n  try:\n    while True: pass\n  except BaseException: pass';

  expect((await runIn(hasty, deaf)).stderr).toBe('TimeoutError: the code ran longer than 0.3 s and was stopped');
  expect((await runIn(hasty, 'while True: print("x" * 1000)')).stdout.length).toBeLessThanOrEqual(70_000);
});

it('stops when the run is cancelled, and leaves no thread behind', { timeout: 60_000 }, async () => {
  const before = openThreads();
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const python = pythonSandbox({ stateful: true, timeoutMs: 20_000 });
  await runIn(python, 'loaded = True', { executionId: 'a' });
  const ctx = runOf('u', controller.signal);
  const running = runIn(python, 'while True: pass', { executionId: 'a', ctx });
  setTimeout(() => controller.abort(reason), 100);

  await expect(running).rejects.toBe(reason);
  await expect.poll(openThreads).toBeLessThanOrEqual(before);
});
