import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import { thrownAt } from '../../src/base/thrown-at.ts';

const serverFile = new URL('../../src/runner/runner.ts', import.meta.url);

const withStack = (...frames: string[]): Error =>
  Object.assign(new TypeError('boom'), {
    stack: ['TypeError: boom', ...frames.map((frame) => `    at ${frame}`)].join('\n'),
  });

it.each([
  ['fails (file:///apps/shop/agent.ts:12:7)', { file: '/apps/shop/agent.ts', line: 12, column: 7 }],
  ['file:///apps/shop/agent.ts:12:7', { file: '/apps/shop/agent.ts', line: 12, column: 7 }],
  ['async file:///apps/shop/agent.ts:12:7', { file: '/apps/shop/agent.ts', line: 12, column: 7 }],
  ['async Object.run (/apps/shop/agent.ts:12:7)', { file: '/apps/shop/agent.ts', line: 12, column: 7 }],
  ['new Shop (file:///apps/shop/agent.ts?app-module=1.23:3:4)', { file: '/apps/shop/agent.ts', line: 3, column: 4 }],
  ['fails (file:///my%20apps/caf%C3%A9/agent.ts:1:2)', { file: '/my apps/café/agent.ts', line: 1, column: 2 }],
  ['fails (/my apps (copy)/agent.ts:1:2)', { file: '/my apps (copy)/agent.ts', line: 1, column: 2 }],
  [
    'eval (eval at sum (file:///apps/calc/agent.ts?app-module=2.1:5:10), <anonymous>:1:7)',
    { file: '/apps/calc/agent.ts', line: 5, column: 10 },
  ],
])('reads the place in "%s"', (frame, place) => {
  expect(thrownAt(withStack(frame))).toEqual(place);
});

it('skips frames of the server, of packages and of Node.js', () => {
  const error = withStack(
    'parse (node:internal/url:1:2)',
    `Runner.start (${serverFile.href}:3:4)`,
    `Runner.start (${serverFile.pathname}:3:4)`,
    'get (file:///apps/node_modules/axios/index.js:5:6)',
    'async Promise.all (index 0)',
    'search (file:///apps/shop/tools.ts:7:8)',
    'run (file:///apps/shop/agent.ts:9:10)',
  );
  expect(thrownAt(error)).toMatchObject({ file: '/apps/shop/tools.ts', line: 7 });
});

it('takes the place of a cause when the error itself has none', () => {
  const inner = withStack('query (file:///apps/shop/store.ts:4:2)');
  const outer = new AppError('tool_failed', 'The tool failed', { cause: inner });
  outer.stack = `AppError: The tool failed\n    at run (${serverFile.href}:1:1)`;
  expect(thrownAt(outer)).toMatchObject({ file: '/apps/shop/store.ts', line: 4 });
});

it('ends with causes that go in a circle', () => {
  const error = withStack('parse (node:internal/url:1:2)');
  error.cause = error;
  expect(thrownAt(error)).toBeUndefined();
});

it('does not take a message for a frame', () => {
  const error = new Error('see\n    at fake (/etc/passwd:1:1)');
  error.stack = `Error: ${error.message}\n    at run (file:///apps/shop/agent.ts:2:3)`;
  expect(thrownAt(error)).toMatchObject({ file: '/apps/shop/agent.ts', line: 2 });
});

it.each([
  ['text'],
  [undefined],
  [null],
  [{ stack: '    at run (file:///apps/shop/agent.ts:2:3)' }],
  [Object.create(null)],
])('finds no place in %o, which is no error', (thrown) => {
  expect(thrownAt(thrown)).toBeUndefined();
});

it('finds no place in an error without a stack', () => {
  expect(thrownAt(Object.assign(new Error('boom'), { stack: undefined }))).toBeUndefined();
});

it('finds the line of this file', () => {
  const { line } = thrownAt(new Error('here')) ?? {};
  const [, own] = /thrown-at\.test\.ts:(\d+):\d+/.exec(new Error('one line below').stack ?? '') ?? [];
  expect(line).toBe(Number(own) - 1);
});

it.each(['inline', 'beside'] as const)('names the source that JavaScript was built from (map %s)', (kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'thrown-at-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // The first character of the JavaScript is line 3, column 5 of the source.
  const map = JSON.stringify({ version: 3, sources: ['../src/agent.ts'], names: [], mappings: 'AAEI' });
  const url =
    kind === 'inline' ? `data:application/json;base64,${Buffer.from(map).toString('base64')}` : 'agent.js.map';
  const file = join(folder, 'agent.js');
  writeFileSync(join(folder, 'agent.js.map'), map);
  writeFileSync(file, `throw new Error('boom')\n//# sourceMappingURL=${url}\n`);

  expect(thrownAt(withStack(`file://${file}:1:1`))).toEqual({
    file: join(folder, '../src/agent.ts'),
    line: 3,
    column: 5,
  });
});

it('keeps to the JavaScript when its source map cannot be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'thrown-at-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'agent.js');
  writeFileSync(file, `throw new Error('boom')\n//# sourceMappingURL=gone.js.map\n`);
  expect(thrownAt(withStack(`file://${file}:1:7`))).toMatchObject({ file, line: 1 });
});
