import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { caseOf, hello, paris } from '../evaluation/scene.ts';
import { listen } from '../http/server.ts';
import { weatherServer } from '../http/weather-server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const evals = '/dev-ui/apps/weather/evals';
const set = (...cases: readonly object[]) => ({ evalSet: { evalSetId: 'main', evalCases: cases } });
const run = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
  await page.getByRole('heading', { name: /^Run of/ }).waitFor();
};

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('goes from a session to a run with the keyboard and a few clicks', async () => {
    const { app } = await weatherServer();
    const base = await listen(app);
    const { page, faults } = await openPage(`${base}/dev-ui/apps/weather/u/u/s/s`);
    await page.getByText('It is sunny in Paris.').first().click();

    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'Save turn as case' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('Saved “weather_in_paris” in main').waitFor();
    await page.getByRole('link', { name: 'Evaluations' }).click();
    await page.getByRole('link', { name: 'main' }).click();
    await page.getByRole('link', { name: 'weather_in_paris' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await run(page);

    await page.getByText('1 passed').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('shows failed cases first, with the reason, and opens the session of a turn', async () => {
    const { app, send } = await weatherServer();
    await send(
      'POST',
      '/apps/weather/eval-sets',
      set(caseOf('good', hello), caseOf('bad', hello, ['hello', 'Oslo', 'Bye'])),
    );
    const base = await listen(app);
    const { page, faults } = await openPage(`${base}${evals}/main`);

    await run(page);
    const cases = page.locator('details.case-result');
    await page.getByText('1 failed').waitFor();
    const turn = page.getByRole('region', { name: 'Turn 2' });
    expect(await cases.first().locator('summary').innerText()).toContain('bad');
    expect(await turn.innerText()).toContain(
      'Call 1: expected get_weather({"city":"Oslo"}), and nothing more was called',
    );
    await turn.getByRole('button', { name: 'Open session' }).click();

    await page.getByText('Hello! Ask me about the weather.').first().waitFor();
    expect(page.url()).toMatch(/\/s\/___eval___session___[\da-f-]+\?e=/);
    expect(faults).toEqual([]);
  });

  it('edits what a case expects, and puts regressions first when runs are compared', async () => {
    const { app, send } = await weatherServer();
    await send('POST', '/apps/weather/eval-sets', set(caseOf('a', hello), caseOf('b', paris)));
    await send('POST', '/apps/weather/eval-sets/main/run', {});
    const base = await listen(app);
    const { page, faults } = await openPage(`${base}${evals}/main/cases/b`);

    await page.getByLabel(/^Expected tool calls/).fill('get_weather {"city": "Rome"');
    await page.getByText('Each line must be a name and a JSON object').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel(/^Expected tool calls/).fill('get_weather {"city": "Rome"}');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'main' }).click();
    await run(page);
    await page.getByRole('link', { name: 'Compare with previous run' }).click();
    await page.getByText('1 regressed').waitFor();

    const rows = await page.locator('.eval-table tbody tr').allInnerTexts();
    expect(rows[0]).toMatch(
      /^b\s+regressed\s+tool trajectory\s+1\.00\s+0\.00\s+Turn 1: Call 1: expected get_weather\(\{"city":"Rome"\}\)/,
    );
    expect(rows[1]).toMatch(/^a\s+same/);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('stops a run and shows the cases that were done', async () => {
    const { app, send } = await weatherServer([
      { match: 'stuck', delayMs: 3_600_000, text: 'never' },
      { text: 'Hello! Ask me about the weather.' },
    ]);
    await send('POST', '/apps/weather/eval-sets', set(caseOf('a', hello), caseOf('b', ['stuck', undefined, ''])));
    const base = await listen(app);
    const { page } = await openPage(`${base}${evals}/main`);

    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
    await page.getByText('1 of 2 done').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();

    await page.getByRole('heading', { name: /^Run of/ }).waitFor();
    await page.getByText('cancelled').first().waitFor();
    expect(await page.locator('details.case-result').count()).toBe(1);
  });
  it('sends the rubrics of the dialog to the judge', async () => {
    const { app, send } = await weatherServer();
    await send('POST', '/apps/weather/eval-sets', set(caseOf('a', hello)));
    const base = await listen(app);
    const { page } = await openPage(`${base}${evals}/main`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog');

    await dialog.getByRole('checkbox', { name: /^rubric based final response/ }).check();
    await dialog.getByLabel(/^Rubrics/).fill('It is short.\n\nIt is polite.');
    expect(await accessibilityFaults(page)).toEqual([]);
    const [sent] = await Promise.all([
      page.waitForRequest(/run_sse$/),
      dialog.getByRole('button', { name: 'Run' }).click(),
    ]);

    expect(sent.postDataJSON()).toMatchObject({
      evalMetrics: [
        {
          metricName: 'rubric_based_final_response_quality_v1',
          criterion: {
            rubrics: [
              { rubricId: 'asked_1', rubricContent: { textProperty: 'It is short.' } },
              { rubricId: 'asked_2', rubricContent: { textProperty: 'It is polite.' } },
            ],
          },
        },
      ],
    });
    expect((await sent.response())?.status()).toBe(200);
  });
});
