import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = [process.env['CHROMIUM'] ?? '', ...places].find((path) => existsSync(path));
/** Why browser tests cannot run here; `undefined` when they can. */
export const noBrowser =
  executablePath === undefined
    ? 'no Chromium found: install it (apt-get install chromium) or name it in CHROMIUM'
    : undefined;
if (noBrowser !== undefined) console.warn(`Browser tests are skipped: ${noBrowser}`);

const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'];

/** A page in a browser of its own, and everything that went wrong in it. `flags` are the browser's. */
export async function openPage(url: string, flags: readonly string[] = []): Promise<{ page: Page; faults: string[] }> {
  const browser: Browser = await chromium.launch({ executablePath: executablePath!, args: [...args, ...flags] });
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ reducedMotion: 'reduce' });
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
