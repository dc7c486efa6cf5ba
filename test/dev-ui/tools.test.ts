import { describe, expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { App, Tool } from '../../src/core/runtime.ts';
import { toolTrier } from '../../src/runner/try-tool.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { listen, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const search: Tool = {
  kind: 'tool',
  name: 'search_flights',
  description: 'Finds flights',
  declaration: {
    name: 'search_flights',
    description: 'Finds flights',
    parameters: {
      type: 'object',
      properties: { to: { type: 'string', description: 'Airport' }, seats: { type: 'integer' } },
      required: ['to'],
    },
  },
  run: (args, ctx) => {
    ctx.state.set('last', args.to);
    return { flights: [`${String(args.to)}-1`], seats: args.seats, budget: ctx.state.get('budget') };
  },
};
const strange: Tool = { kind: 'tool', name: 'a "strange"/<b>name</b>', description: '<img src=x onerror=alert(1)>' };
const many = Array.from({ length: 2_000 }, (_, index): Tool => ({ ...strange, name: `${strange.name} ${index}` }));
const demo: App = { name: 'demo', rootAgent: llmAgent({ name: 'boss', model: 'none', tools: [search, ...many] }) };

async function opened(canRun: boolean) {
  const loader = { listAgents: async () => ['demo'], loadAgent: async () => demo, close: async () => {} };
  const models = { resolve: () => Promise.reject(new Error('No models')) as never, isConfigured: () => false };
  const tryTool = toolTrier({ loader, services: { sessions: new InMemorySessions() }, models });
  const { app } = await server({ loader, ...(canRun && { tryTool }) });
  return openPage(`${await listen(app)}/dev-ui/apps/demo/tools`);
}

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('fills in the arguments of a tool and runs it alone, with a state of its own', async () => {
    const { page, faults } = await opened(true);

    const trial = page.getByRole('region', { name: 'Tool search_flights' });
    await trial.getByRole('textbox', { name: 'to' }).first().fill('LIS');
    await trial.getByLabel('seats').fill('2');
    expect(await accessibilityFaults(page)).toEqual([]);
    await trial.getByText('State that the tool reads').click();
    await trial.getByRole('textbox', { name: 'State that the tool reads' }).fill('{"budget": 400}');
    await trial.getByRole('button', { name: 'Run' }).click();
    const result = trial.getByRole('region', { name: 'Result' });
    await result.getByText('It would change the state').waitFor();
    expect(await result.textContent()).toContain('{"to":"LIS","seats":2}');
    expect(await result.textContent()).toContain('400');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('finds one of two thousand tools, whatever it is called', async () => {
    const { page, faults } = await opened(true);

    await page.getByLabel('Search tools').fill('name</b> 1234');
    await page.getByRole('list', { name: 'Tools' }).getByRole('button').click();
    await page.getByRole('heading', { name: `${strange.name} 1234` }).waitFor();
    expect(new URL(page.url()).searchParams.get('tool')).toBe(`${strange.name} 1234`);
    expect(await page.getByRole('list', { name: 'Tools' }).getByRole('listitem').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it('says when the server runs tools only through agents', async () => {
    const { page } = await opened(false);

    await page.getByText('This server runs tools only through agents').waitFor();
    expect(await page.getByRole('button', { name: 'Run' }).count()).toBe(0);
  });
});
