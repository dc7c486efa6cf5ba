import { afterEach, expect, it } from 'vitest';
import { javascriptSandbox } from '../../src/code/javascript/javascript-sandbox.ts';
import { openThreads, runIn, runOf } from './sandbox-context.ts';

const sandbox = javascriptSandbox({ stateful: true, maxSessions: 1, timeoutMs: 1000, maxConcurrent: 3 });
afterEach(async () => await sandbox.close());

const seen = async (executionId: string, user = 'u'): Promise<string> =>
  (await runIn(sandbox, 'console.log(typeof x)', { executionId, ctx: runOf(user) })).stdout.trim();
const define = async (executionId: string): Promise<void> => {
  await runIn(sandbox, 'let x = 1', { executionId });
};

it('keeps what code defined for the same session of the same user', async () => {
  await define('a');

  expect(await seen('a')).toBe('number');
  expect(await seen('a', 'another')).toBe('undefined');
});

it('lets go of the session unused for longest', async () => {
  await define('a');
  await define('b');

  expect(await seen('b')).toBe('number');
  expect(await seen('a')).toBe('undefined');
});

it('runs the pieces of one session one after the other', async () => {
  const add = 'globalThis.n = (globalThis.n ?? 0) + 1; await new Promise((r) => setTimeout(r, 10)); console.log(n)';

  const outputs = await Promise.all([1, 2, 3].map(async () => await runIn(sandbox, add, { executionId: 'a' })));

  expect(outputs.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '3\n']);
});

it('keeps a session whose code was interrupted', async () => {
  await define('a');
  const { stderr } = await runIn(sandbox, 'for (;;) {}', { executionId: 'a' });

  expect(stderr).toContain('TimeoutError');
  expect(await seen('a')).toBe('number');
});

it('ends its interpreters when it is closed', async () => {
  const before = openThreads();
  await define('a');
  await sandbox.close();

  await expect.poll(openThreads).toBeLessThanOrEqual(before);
  expect(await seen('a')).toBe('undefined');
});
