import { describe, expect, it } from 'vitest';
import type { App, Tool } from '../../src/core/runtime.ts';
import { newActions } from '../../src/schemas/event.ts';
import { agent, listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const tool = (name: string): Tool => ({ kind: 'tool', name, description: `Does ${name}` });
const team: App = {
  name: 'demo',
  rootAgent: agent('boss', {
    instruction: 'Lead <b>well</b>.',
    tools: Array.from({ length: 2_000 }, (_, index) => tool(`tool "${index}"/<i>`)),
    subAgents: [
      agent('line', { kind: 'sequential', subAgents: [agent('draft'), agent('review', { tools: [tool('check')] })] }),
      agent('idle'),
    ],
  }),
};

async function opened(query = '') {
  const { app, services } = await server({ apps: { demo: team } });
  const call = { functionCall: { id: 'adk-1', name: 'check', args: {} } };
  await services.sessions.createSession(
    { appName: 'demo', userId: 'user' },
    {
      sessionId: 's1',
      events: [
        says('', { author: 'boss', actions: { ...newActions(), transferToAgent: 'draft' } }),
        says('a draft', { author: 'draft' }),
        says('', { author: 'review', content: { role: 'model', parts: [call] } }),
      ],
    },
  );
  return openPage(`${await listen(app)}/dev-ui/apps/demo/u/user/s/s1?t=agent${query}`);
}

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('draws the agents, and which of them ran in the turn', async () => {
    const { page, faults } = await opened();

    await page.locator('[data-agent=boss]').waitFor();
    const active = await page
      .locator('.graph-node.active')
      .evaluateAll((nodes) => nodes.map((node) => node.getAttribute('data-agent')));
    expect(new Set(active)).toEqual(new Set(['boss', 'draft', 'review']));
    expect(await page.locator('[data-agent=review]').textContent()).toContain('check');
    expect(await page.locator('.graph-frame').textContent()).toContain('line · sequential');
    expect(await page.locator('.agent-tool').count()).toBeLessThan(40);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('folds a workflow into one box and opens it again', async () => {
    const { page } = await opened();

    await page.locator('.graph-frame').click({ position: { x: 4, y: 4 } });
    await expect.poll(() => page.locator('[data-agent]').evaluateAll((nodes) => nodes.length)).toBe(3);
    await page.locator('[data-agent=line]').click();
    await page.locator('[data-agent=draft]').waitFor();
  });

  it('is also available as a list', async () => {
    const { page } = await opened();

    await page.getByRole('button', { name: 'Show as list' }).click();
    await page.getByRole('navigation', { name: 'Agents' }).getByRole('button', { name: 'review' }).click();
    await page.getByRole('region', { name: 'Agent review' }).getByText('Does check').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
