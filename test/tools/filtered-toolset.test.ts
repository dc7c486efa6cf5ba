import { expect, it } from 'vitest';
import type { Tool, Toolset } from '../../src/core/runtime.ts';
import { filteredToolset } from '../../src/tools/filtered-toolset.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { modelRequest, toolContext } from './contexts.ts';

const tool = (name: string): Tool => functionTool({ name, description: name, run: () => `ran ${name}` });
const [read, write, list] = [tool('read'), tool('write'), tool('list')];
const source = (tools: readonly Tool[] = [read, write, list]): Toolset & { closed: number } => ({
  kind: 'toolset',
  name: 'files',
  closed: 0,
  getTools: async () => tools,
  async close() {
    this.closed += 1;
  },
});
const namesOf = async (toolset: Toolset): Promise<string[]> =>
  (await toolset.getTools(toolContext().run)).map(({ name }) => name);

it('offers the tools that are named, in the order of the toolset', async () => {
  expect(await namesOf(filteredToolset(source(), { filter: ['list', 'read', 'nothing'] }))).toEqual(['read', 'list']);
});

it('offers all tools for an empty list or none', async () => {
  expect(await namesOf(filteredToolset(source(), { filter: [] }))).toEqual(['read', 'write', 'list']);
  expect(await namesOf(filteredToolset(source(), {}))).toEqual(['read', 'write', 'list']);
});

it('takes names with the prefix, too', async () => {
  const toolset = filteredToolset(source(), { filter: ['files_list', 'read'], prefix: 'files' });
  expect(await namesOf(toolset)).toEqual(['files_read', 'files_list']);
});

it('asks a predicate about each tool, with the context', async () => {
  const filter = async ({ name }: Tool, { session }: { session: { userId: string } }): Promise<boolean> =>
    session.userId === 'ada' && name !== 'write';

  expect(await namesOf(filteredToolset(source(), { filter }))).toEqual(['read', 'list']);
});

it('puts a prefix on names and declarations, after the filter, and runs the same tool', async () => {
  const toolset = filteredToolset(source(), { filter: ['read'], prefix: 'files' });

  const [renamed, ...rest] = await toolset.getTools(toolContext().run);

  expect(rest).toEqual([]);
  expect(renamed?.name).toBe('files_read');
  expect(renamed?.declaration?.name).toBe('files_read');
  expect(read?.name).toBe('read');
  expect(await renamed?.run?.({}, toolContext())).toBe('ran read');
  expect((await toolset.getTools(toolContext().run))[0]).toBe(renamed);
});

it('keeps what else a tool has, also when it is an instance with private fields', async () => {
  class Counter implements Tool {
    readonly kind = 'tool';
    readonly name = 'count';
    readonly description = 'Counts.';
    readonly isLongRunning = true;
    readonly timeoutMs = 5;
    #calls = 0;
    run(): number {
      return (this.#calls += 1);
    }
    requireConfirmation(): boolean {
      return this.#calls > 0;
    }
    processRequest(request: { model: string }): void {
      request.model = `seen ${this.#calls}`;
    }
  }
  const [counter] = await filteredToolset(source([new Counter()]), { prefix: 'x' }).getTools(toolContext().run);
  const request = modelRequest();

  expect(counter).toMatchObject({ name: 'x_count', isLongRunning: true, timeoutMs: 5 });
  expect(await counter?.run?.({}, toolContext())).toBe(1);
  expect(typeof counter?.requireConfirmation === 'function' && counter.requireConfirmation({}, toolContext())).toBe(
    true,
  );
  await counter?.processRequest?.(request, toolContext());
  expect(request.model).toBe('seen 1');
});

it('refuses two tools of one name, and a prefix that makes no name', async () => {
  await expect(namesOf(filteredToolset(source([tool('a'), tool('a')]), {}))).rejects.toMatchObject({
    code: 'ConfigurationException',
  });
  expect(() => filteredToolset(source(), { prefix: 'a b' })).toThrow(/"a b"/);
});

it('passes on request hooks and closing', async () => {
  const inner = source();
  inner.processRequest = (request) => {
    request.model = 'shaped';
  };
  const toolset = filteredToolset(inner, { prefix: 'x' });
  const request = modelRequest();

  await toolset.processRequest?.(request, toolContext());
  await toolset.close();

  expect(request.model).toBe('shaped');
  expect(inner.closed).toBe(1);
});
