import { expect, it } from 'vitest';
import type { Agent, AgentLoader, App } from '../../src/core/runtime.ts';
import { mergedLoader } from '../../src/loaders/merged.ts';
import { staticLoader } from '../../src/loaders/static.ts';

const agent = (name: string, more: Partial<Agent> = {}): Agent => ({ name, async *run() {}, ...more });
const app = (name: string, more: Partial<Agent> = {}): App => ({ name, rootAgent: agent(`${name}_root`, more) });

it('serves apps made in code, sorted', async () => {
  const zoo = app('zoo');
  const loader = staticLoader([zoo, app('ant')]);

  expect(await loader.listAgents()).toEqual(['ant', 'zoo']);
  expect(await loader.loadAgent('zoo')).toBe(zoo);
  await expect(loader.loadAgent('cat')).rejects.toMatchObject({ code: 'app_not_found' });
  await expect(loader.loadAgent('toString')).rejects.toMatchObject({ code: 'app_not_found' });
});

it.each([
  [['a', 'a'], 'The app name "a" is taken by another app'],
  [[''], 'The app name "" is empty'],
  [['a/b'], 'The app name "a/b" holds a slash'],
])('refuses the names %j', (names, message) => {
  expect(() => staticLoader(names.map((name) => app(name)))).toThrow(message);
});

it('closes every agent, those below others too, although one fails', async () => {
  const closed: string[] = [];
  const closing = (name: string): Partial<Agent> => ({
    close: () => {
      closed.push(name);
      return name === 'a' ? Promise.reject(new Error('stuck')) : Promise.resolve();
    },
  });
  const loader = staticLoader([
    app('a', { ...closing('a'), subAgents: [agent('b', closing('b'))] }),
    app('c', closing('c')),
  ]);

  await loader.close();

  expect(closed.toSorted()).toEqual(['a', 'b', 'c']);
});

it('serves the apps of several loaders, the earlier one first', async () => {
  const [first, second] = [app('both'), app('both')];
  const loader = mergedLoader([staticLoader([first, app('one')]), staticLoader([second, app('two')])]);

  expect(await loader.listAgents()).toEqual(['both', 'one', 'two']);
  expect(await loader.loadAgent('both')).toBe(first);
  expect((await loader.loadAgent('two')).name).toBe('two');
  await expect(loader.loadAgent('none')).rejects.toMatchObject({ code: 'app_not_found' });
});

it('does not hide a broken app behind a later loader', async () => {
  const broken: AgentLoader = {
    listAgents: async () => ['x'],
    loadAgent: () => Promise.reject(new Error('broken')),
    close: async () => {},
  };

  await expect(mergedLoader([broken, staticLoader([app('x')])]).loadAgent('x')).rejects.toThrow('broken');
});

it('asks every loader for failures, holds and closing', async () => {
  const calls: string[] = [];
  const spy = (name: string): AgentLoader => ({
    listAgents: async () => [],
    loadAgent: () => Promise.reject(new Error('none')),
    failureOf: () => void calls.push(`failure ${name}`),
    retain: () => {
      calls.push(`retain ${name}`);
      return () => void calls.push(`release ${name}`);
    },
    close: async () => void calls.push(`close ${name}`),
  });
  const loader = mergedLoader([spy('a'), spy('b'), staticLoader([])]);

  loader.failureOf?.('x');
  loader.retain?.(app('x'))();
  await loader.close();

  expect(calls).toEqual([
    'failure a',
    'failure b',
    'retain a',
    'retain b',
    'release a',
    'release b',
    'close a',
    'close b',
  ]);
});
