import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { chromiumFlags, executablePath } from '../support/chromium.ts';
import { sharedChromium } from '../support/shared.ts';

/** Why browser tests cannot run here; `undefined` when they can. */
export const noBrowser =
  executablePath === undefined
    ? 'no Chromium found: install it (apt-get install chromium) or name it in CHROMIUM'
    : undefined;
if (noBrowser !== undefined) console.warn(`Browser tests are skipped: ${noBrowser}`);

let connected: Promise<Browser> | undefined;

/** The browser of all tests, or one of the test's own when it wants other flags. */
async function browserWith(flags: readonly string[]): Promise<Browser> {
  if (flags.length === 0) return (connected ??= sharedChromium().then((address) => chromium.connect(address)));
  const own = await chromium.launch({
    ...(executablePath && { executablePath }),
    args: [...chromiumFlags, ...flags],
  });
  onTestFinished(() => own.close());
  return own;
}

/** A page with nothing stored, and everything that went wrong in it. `flags` are the browser's. */
export async function openPage(url: string, flags: readonly string[] = []): Promise<{ page: Page; faults: string[] }> {
  const browser = await browserWith(flags);
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
  page.on('pageerror', (error) => void faults.push(error.message));
  await page.goto(url);
  return { page, faults };
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds wrong with the page as it is now, one line for each rule. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Evaluated by the debugger, so that the page's own policy stays as it is.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: readFileSync(axeFile, 'utf8') });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
    awaitPromise: true,
    returnByValue: true,
  });
  return result.value as string[];
}
