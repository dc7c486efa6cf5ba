import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newActions } from '../../src/schemas/event.ts';
import { listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const owner = { appName: 'demo', userId: 'user' };
const key = { ...owner, sessionId: 's1' };
const address = 'dev-ui/apps/demo/u/user/s/s1?t=state';

async function withState() {
  const { app, services } = await server();
  const change = (id: string, stateDelta: Record<string, unknown>) =>
    says(`event ${id}`, { id, actions: { ...newActions(), stateDelta } });
  await services.sessions.createSession(owner, {
    sessionId: 's1',
    state: { 'user:name': 'Ada', 'app:limit': 3, __session_metadata__: { displayName: 'x' } },
    events: [change('one', { plan: 'A', list: [1, 2] }), change('two', { plan: 'B', list: null }), change('three', {})],
  });
  return { base: await listen(app), ...services };
}

const keys = (page: Page): Promise<string[]> =>
  page.locator('[data-key]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key') ?? ''));

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('groups the state by scope, and leaves internal keys out', async () => {
    const { base } = await withState();
    const { page, faults } = await openPage(`${base}/${address}`);

    await page.getByRole('region', { name: 'Session state' }).getByText('"B"').waitFor();
    expect(await keys(page)).toEqual(['plan', 'user:name', 'app:limit']);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('edits a value in place, rejects invalid JSON, and saves it on the server', async () => {
    const { base, sessions } = await withState();
    const { page } = await openPage(`${base}/${address}`);

    await page.getByRole('button', { name: 'Edit plan' }).click();
    const editor = page.getByLabel('Value of plan');
    await editor.fill('{"stops": [1, }');
    await page.getByText('Not valid JSON').waitFor();
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    await editor.fill('{"stops": [1, 2]}');
    await page.keyboard.press('Control+Enter');

    await page.getByText('{"stops":[1,2]}', { exact: true }).waitFor();
    expect((await sessions.getSession(key))?.state).toMatchObject({ plan: { stops: [1, 2] }, 'user:name': 'Ada' });
  });

  it('adds a key, deletes one and brings it back', async () => {
    const { base, sessions } = await withState();
    const { page } = await openPage(`${base}/${address}`);
    const stored = async () => (await sessions.getSession(key))?.state;

    await page.getByRole('button', { name: 'Key' }).click();
    await page.getByLabel('Key', { exact: true }).fill('colour');
    await page.getByLabel('Scope').selectOption('User');
    await page.getByLabel('Value of the new key').fill('"blue"');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(stored).toMatchObject({ 'user:colour': 'blue' });
    await page.getByRole('button', { name: 'Delete plan' }).click();
    await expect.poll(async () => 'plan' in ((await stored()) ?? {})).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(stored).toMatchObject({ plan: 'B' });
  });

  it('shows the state as it was after an event, what the event changed, and the history of a key', async () => {
    const { base } = await withState();
    const { page } = await openPage(`${base}/${address}&e=one`);

    await page.getByText('State after event 1').waitFor();
    expect(await keys(page)).toEqual(['list', 'plan', 'user:name', 'app:limit']);
    expect(await page.locator('[data-key=plan]').textContent()).toContain('"A"');
    await page.goto(`${base}/${address}&e=two`);
    await page.locator('[data-key=list]').getByText('deleted').waitFor();
    expect(await page.locator('[data-key=plan]').textContent()).toContain('was "A"');
    await page.getByRole('button', { name: 'History of plan: 2 changes' }).click();
    await page.getByRole('list', { name: 'History of plan' }).getByRole('link', { name: 'event 1' }).click();
    await page.getByText('State after event 1').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Now' }).click();
    await page.getByText('State now').waitFor();
  });

  it('shows values and names that are large or mean something elsewhere as what they are', async () => {
    const { app, services } = await server();
    const state = {
      '"><img src=x onerror=alert(1)>': 'a/b "c"',
      مفتاح: 'قيمة',
      long: 'x'.repeat(1_000_000),
    };
    await services.sessions.createSession(owner, { sessionId: 's1', state });
    const { page, faults } = await openPage(`${await listen(app)}/${address}`);

    await page.locator('[data-key=long]').waitFor();
    expect(await keys(page)).toEqual(Object.keys(state).toSorted((a, b) => (a < b ? -1 : 1)));
    expect(await page.locator('.inspector img').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
