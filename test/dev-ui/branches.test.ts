import { describe, expect, it } from 'vitest';
import { noBrowser, openPage } from './browser.ts';
import { say, serve } from './served.ts';

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('shows the request of the second model call, and the changes since the first', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'page 1');

    await page.getByRole('button', { name: '2 model calls' }).click();

    const inspector = page.getByRole('complementary', { name: 'Event details' });
    await inspector.getByText('Be careful.').waitFor();
    await inspector.getByRole('treeitem', { name: 'text: "page 1"' }).waitFor();
    await inspector.getByRole('button', { name: 'Show changes' }).click();
    await inspector.getByText('The first 1 message is the same.').waitFor();
    expect(await inspector.getByLabel('Changes in Messages').innerText()).toContain('"page 1"');
    expect(faults).toEqual([]);
  });

  it('resumes in a fork with a different tool result', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'page 1');
    await page.getByText('Found page 1').waitFor();
    const original = page.url();

    await page.getByRole('button', { name: /^look_up/ }).click();
    await page.getByRole('button', { name: 'Change the result' }).click();
    await page.getByLabel('Result of look_up').fill('{ "text": "page 99" }');
    await page.getByRole('button', { name: 'Resume in a fork' }).click();

    await page.getByText('Found page 99').waitFor();
    await page.getByText('your result').waitFor();
    expect(page.url()).not.toBe(original);
    await page.getByRole('tab', { name: 'State' }).click();
    await page.getByText('last_page').waitFor(); // what the tool wrote is still there
    await page.getByRole('button', { name: 'Previous branch' }).click();
    await page.getByText('Found page 1').waitFor();
    expect(page.url()).toBe(original);
    await page.goBack();
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('First difference', { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it('marks only the changed result among those of one step', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'all pages');

    await page.getByRole('button', { name: /^5 calls/ }).click();
    await page.getByRole('button', { name: /^look_up\(page: 3\)/ }).click();
    await page.getByRole('button', { name: 'Change the result' }).click();
    await page.getByLabel('Result of look_up').fill('{ "text": "page 3 after all" }');
    await page.getByRole('button', { name: 'Resume in a fork' }).click();

    await page.getByText('Fork: different result of look_up.').waitFor();
    await page.getByRole('button', { name: /^5 calls.*5 ok/ }).click();
    await page.getByRole('button', { name: /^look_up\(page: 3\).*page 3 after all.*your result/ }).waitFor();
    expect(await page.getByText('your result').count()).toBe(1);
    await page.reload();
    await page.getByRole('button', { name: /^5 calls.*5 ok/ }).click();
    expect(await page.getByText('your result').count()).toBe(1);
  });

  it('calls a tool with different arguments in a fork', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'page 1');
    await page.getByText('Found page 1').waitFor();

    await page.getByRole('button', { name: /^look_up/ }).click();
    await page.getByRole('button', { name: 'Change the arguments' }).click();
    await page.getByLabel('Arguments of look_up').fill('{ "page": 7 }');
    await page.getByRole('button', { name: 'Resume in a fork' }).click();

    await page.getByText('Found page 7').waitFor();
    await page.getByText('Fork: different arguments of look_up.').waitFor();
    await page.getByText('your arguments').waitFor();
    expect(faults).toEqual([]);
  });

  it('sends an edited message in a fork, and does not change the original', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'page 1');
    await page.getByText('Found page 1').waitFor();
    await say(page, 'page 2');
    await page.getByText('Found page 2').waitFor();
    const original = page.url();

    await page.getByRole('article', { name: 'You: message' }).last().hover();
    await page.getByRole('button', { name: 'Edit and run again' }).last().click();
    await page.getByLabel('Edited message').fill('page 4');
    await page.keyboard.press('Enter');

    await page.getByText('Found page 4').waitFor();
    expect(await page.getByText('Found page 1').count()).toBe(1);
    expect(await page.getByText('Found page 2').count()).toBe(0);
    await page.goto(original);
    await page.getByText('Found page 2').waitFor();
    expect(await page.getByText('Found page 4').count()).toBe(0);
  });

  it('rewinds to before a turn', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'page 1');
    await page.getByText('Found page 1').click();

    await page.getByRole('button', { name: 'Rewind to before this turn' }).click();

    await page.getByText('rewound', { exact: true }).first().waitFor();
    await page.getByText('rewound to before an earlier turn').waitFor();
    expect(await page.locator('[data-rewound=true]').count()).toBe(3);
  });

  it('shows a confirmation in the conversation and above the composer, and then its answer', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'book');

    const bar = page.getByRole('region', { name: 'Waiting for your response' });
    await bar.getByText('The agent wants to call "book_flight". Do you agree?').waitFor();
    await bar.getByRole('button', { name: 'Approve' }).click();

    await page.getByText('Done: booked for 412').waitFor();
    await page.getByText('Approved by you').waitFor();
    expect(await bar.count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('approves a call with other arguments in a fork, and leaves the original waiting', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'book');
    const card = page.locator('.request-card');
    await card.getByRole('button', { name: 'Change the arguments' }).click();
    const original = page.url();

    await card.getByLabel('Arguments of book_flight').fill('{ "price": 99 }');
    await card.getByRole('button', { name: 'Approve with these arguments' }).click();

    await page.getByText('Done: booked for 99').waitFor();
    await page.getByText('Approved by you').waitFor();
    await page.goto(original);
    await page
      .getByRole('region', { name: 'Waiting for your response' })
      .getByRole('button', { name: 'Reject' })
      .waitFor();
    expect(faults).toEqual([]);
  });

  it('folds many calls into a line with their statuses', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'all pages');

    const fold = page.getByRole('button', { name: /^5 calls/ });
    await fold.getByText('1 failed').waitFor();
    await fold.click();

    await page.getByRole('button', { name: /^look_up\(page: 3\).*There is no page 3/ }).waitFor();
    expect(await page.getByRole('button', { name: /^look_up/ }).count()).toBe(5);
  });
});
