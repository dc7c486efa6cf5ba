import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { noBrowser, openPage } from './browser.ts';
import { copyOfAgents, say, serve } from './served.ts';

/** Presses Tab, or Shift and Tab, until what has the focus fits. */
async function tabTo(page: Page, name: RegExp, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    const label = await page.evaluate(
      `(() => { const it = document.activeElement; return it?.getAttribute('aria-label') ?? it?.textContent ?? ''; })()`,
    );
    if (name.test(String(label))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`Tab does not lead to ${name}`);
}

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 90_000 }, () => {
  it('supports every task by keyboard: choose, send, navigate, inspect, edit, fork, approve, save a case', async () => {
    const server = await serve(copyOfAgents());
    const { page, faults } = await openPage(`${server.url}/dev-ui/`);
    const { keyboard } = page;

    // An app, by its name in the palette; its message field has the focus.
    await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor();
    await keyboard.press('Control+k');
    await page.getByPlaceholder('Search sessions, apps and commands').waitFor();
    await keyboard.type('App careful');
    await page.getByRole('option', { name: 'careful' }).waitFor();
    await keyboard.press('Enter');
    await page.getByPlaceholder('Message careful').waitFor();
    await keyboard.type('page 1');
    await keyboard.press('Enter');
    await page.getByText('Found page 1').waitFor();

    // The events, one by one, and the model call behind the answer.
    await keyboard.press('Escape');
    await keyboard.press('k');
    await page.getByRole('tab', { name: 'Overview', selected: true }).waitFor();
    await keyboard.press('k');
    await expect.poll(() => page.locator('[data-selected=true]').getAttribute('aria-label')).toBe('careful: tool call');
    await keyboard.press('o');
    await page.getByRole('treeitem', { name: 'text: "page 1"' }).waitFor();
    await keyboard.press('j');
    await keyboard.press('2');
    await page.getByText('Be careful.').first().waitFor();
    await keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).searchParams.get('e')).toBeNull();

    // The state the tool wrote, changed.
    await keyboard.press('s');
    await page.getByRole('tab', { name: 'State', selected: true }).waitFor();
    await tabTo(page, /^Edit last_page$/);
    await keyboard.press('Enter');
    await keyboard.press('Control+a');
    await keyboard.type('42');
    await keyboard.press('Control+Enter');
    await page.getByText('42', { exact: true }).waitFor();

    // A fork of it.
    await page.evaluate('document.activeElement?.blur()');
    const original = page.url();
    await keyboard.press('k');
    await keyboard.press('f');
    await page.getByRole('group', { name: 'Branches' }).waitFor();
    expect(page.url()).not.toBe(original);

    // A call that needs confirmation.
    await keyboard.press('Escape');
    await keyboard.press('m');
    await keyboard.type('book');
    await keyboard.press('Enter');
    await page.getByRole('region', { name: 'Waiting for your response' }).waitFor();
    await tabTo(page, /^\s*Approve$/, 'Shift+Tab'); // just before the message field
    await keyboard.press('Enter');
    await page.getByText('Done: booked for 412').waitFor();

    // The turn as an evaluation case.
    await page.evaluate('document.activeElement?.blur()');
    await keyboard.press('k');
    await keyboard.press('c');
    await page.getByRole('dialog', { name: 'Save turn as case' }).waitFor();
    await keyboard.press('Control+a');
    await keyboard.type('booking');
    await keyboard.press('Enter');
    await page.getByText('Saved “booking” in main').waitFor();

    // Every key, on one page, and each of them means one thing; but `n`, which has another meaning while filtering.
    await page.evaluate('document.activeElement?.blur()');
    await keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    const keys = await help.locator('dt').allInnerTexts();
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual(['n']);
    await keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('moves through the matches of a filter, forward, back and around', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);
    const { keyboard } = page;
    for (const number of [1, 2]) {
      await say(page, `page ${number}`);
      await page.getByText(`Found page ${number}`).waitFor();
    }
    const selected = page.locator('[data-selected=true]');

    await keyboard.press('Escape');
    await keyboard.press('/');
    await keyboard.type('kind:text');
    await keyboard.press('Enter');
    await page.getByText('2 of 6 match the filter').waitFor();
    await keyboard.press('Escape');
    await keyboard.press('n');
    await expect.poll(() => selected.innerText()).toContain('Found page 1');
    await keyboard.press('n');
    await page.getByText('Match 2 of 2').waitFor();
    await keyboard.press('n');
    await expect.poll(() => selected.innerText()).toContain('Found page 1');
    await keyboard.press('Shift+N');

    await expect.poll(() => selected.innerText()).toContain('Found page 2');
  });

  it('recalls earlier messages, and accepts JSON as a message', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow`);
    const field = page.getByLabel('Message', { exact: true });
    await field.fill('first');
    await page.keyboard.press('Enter');
    await page.getByText('I heard you.').waitFor();
    await field.fill('{ "parts": [{ "text": "from JSON" }] }');
    await page.keyboard.press('Enter');

    await page.getByRole('feed').getByText('from JSON', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await field.focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('first');
  });
});
