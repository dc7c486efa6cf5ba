import { expect, it } from 'vitest';
import { saying, testRunner } from '../support/run.ts';

it('closes every plugin and the loader, whatever the others do, and reports what failed', async () => {
  const closed: string[] = [];
  const plugins = [
    {
      name: 'broken',
      close: async () => {
        throw new Error('cannot close');
      },
    },
    { name: 'fine', close: async () => void closed.push('fine') },
    { name: 'plain' },
  ];
  const { runner } = await testRunner(saying('hi'), { plugins });

  await expect(runner.close()).rejects.toThrow('cannot close');

  expect(closed).toEqual(['fine']);
});

it('does not wait for ever for a plugin that never closes', async () => {
  const plugins = [{ name: 'stuck', close: () => new Promise<void>(() => {}) }];
  const { runner } = await testRunner(saying('hi'), { plugins, closeTimeoutMs: 5 });

  await expect(runner.close()).rejects.toThrow('"stuck" did not close within 5 ms');
});

it('refuses two plugins of one name', async () => {
  await expect(testRunner(saying('hi'), { plugins: [{ name: 'a' }, { name: 'a' }] })).rejects.toMatchObject({
    code: 'ConfigurationException',
  });
});
