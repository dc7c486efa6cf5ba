import { expect, it } from 'vitest';
import type { RunLog, Tool } from '../../../src/core/runtime.ts';
import { mcpToolset } from '../../../src/tools/mcp/mcp-toolset.ts';
import { toolContext } from '../contexts.ts';
import { linkedServer, setTools, tool } from './linked-server.ts';

/** The tools that are offered of what a server lists, and the warnings. */
async function offered(
  list: (cursor: string | undefined) => object,
): Promise<{ tools: readonly Tool[]; warnings: number }> {
  let warnings = 0;
  const log: RunLog = { warn: () => (warnings += 1) };
  const { connection } = linkedServer((server) => setTools(server, { list: list as never }));
  const toolset = mcpToolset({ name: 'odd', connection });
  try {
    return { tools: await toolset.getTools({ ...toolContext(), log } as never), warnings };
  } finally {
    await toolset.close();
  }
}

const nested = (levels: number): object => {
  let schema: object = { type: 'string' };
  for (let level = 0; level < levels; level += 1) schema = { type: 'object', properties: { next: schema } };
  return schema;
};
const bad: readonly unknown[] = [
  null,
  'tool',
  [],
  {},
  tool(''),
  tool('x'.repeat(10_000_000)),
  { ...tool('x'), name: 5 },
  { ...tool('x'), name: [[['x']]] },
  { ...tool('schema_is_text'), inputSchema: 'object' },
  { ...tool('schema_is_list'), inputSchema: [] },
  { ...tool('schema_is_no_object'), inputSchema: { type: 'string' } },
  { ...tool('no_schema'), inputSchema: null },
  { ...tool('deep'), inputSchema: nested(5_000) },
  { ...tool('long'), description: 'x'.repeat(10_000_000) },
];

it('offers the good tools of a list, whatever else is in it', async () => {
  const circular = { type: 'object', properties: { next: { $ref: '#' } } };
  const list = [...bad, tool('good'), { ...tool('circular'), inputSchema: circular }, tool('good')];

  const { tools, warnings } = await offered(() => ({ tools: list }));

  expect(tools.map(({ name }) => name)).toEqual(['good', 'circular']);
  expect(warnings).toBe(bad.length + 1);
});

it('takes no more of a list than models can be told', async () => {
  const many = Array.from({ length: 300_000 }, (_, index) => ({ name: `t${index}`, inputSchema: {} }));
  const large = Array.from({ length: 100 }, (_, index) => tool(`t${index}`, { description: 'x'.repeat(200_000) }));

  expect((await offered(() => ({ tools: many }))).tools).toHaveLength(2_000);
  expect((await offered(() => ({ tools: large }))).tools.length).toBeLessThan(25);
});

it('ends a list that never ends', async () => {
  let pages = 0;

  const { tools } = await offered(() => ({ tools: [tool(`t${(pages += 1)}`)], nextCursor: 'again' }));

  expect(tools.length).toBeGreaterThan(0);
  expect(pages).toBeLessThan(100);
});
