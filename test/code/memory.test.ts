import { afterAll, expect, it } from 'vitest';
import { javascriptSandbox } from '../../src/code/javascript/javascript-sandbox.ts';
import { pythonSandbox } from '../../src/code/python/python-sandbox.ts';
import { runIn } from './sandbox-context.ts';

const javascript = javascriptSandbox({ timeoutMs: 60_000 });
const python = pythonSandbox({ timeoutMs: 60_000, stateful: true });
afterAll(async () => {
  await javascript.close();
  await python.close();
});

it.each([
  ['new Uint8Array(1e9).fill(1)', 'out of memory'],
  ['const all = []; for (let i = 0; i < 100; i += 1) all.push(new Uint8Array(1e7).fill(1))', 'out of memory'],
  ['const b = new ArrayBuffer(8, { maxByteLength: 1e9 }); b.resize(1e9)', 'out of memory'],
  ['new SharedArrayBuffer(4e6)', 'SharedArrayBuffer is not defined'],
])(
  'refuses JavaScript more memory than it may take: %s',
  async (code, fault) => {
    const before = process.memoryUsage.rss();

    expect((await runIn(javascript, code)).stderr).toContain(fault);

    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 * 1024);
    expect((await runIn(javascript, 'console.log(2)')).stdout).toBe('2\n');
  },
  120_000,
);

it.each([
  'to_js(b"abc").constructor.new(1_000_000_000).fill(1)',
  'all = [to_js(bytes(20_000_000)) for i in range(100)]',
  'make = to_js(b"abc").buffer.constructor.new; all = [to_js(b"abc").constructor.new(make(50_000_000)).fill(7) for i in range(50)]',
])(
  'ends Python that gets at memory outside of its interpreter: %s',
  async (code) => {
    const before = process.memoryUsage.rss();

    const { stderr } = await runIn(python, `from pyodide.ffi import to_js\n${code}`, { executionId: 'e' });

    expect(stderr).toBe('MemoryError: the code exceeded its memory limit and was stopped');
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
    expect((await runIn(python, 'print(2)', { executionId: 'e' })).stdout).toBe('2\n');
  },
  180_000,
);
