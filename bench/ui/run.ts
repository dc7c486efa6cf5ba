import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';
import { history } from './history.ts';
import {
  domNodes,
  firstPaint,
  heapMegabytes,
  loadedBytes,
  readNoted,
  p95,
  scrollFrames,
  selectTimes,
  watchTasks,
} from './measures.ts';

// Holds the web UI to its budgets: a session of 10,000 events, a burst of 3,000, a trace of 2,000 spans. Exits with 1 when one is missed.

const places = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const executablePath = places.find((path) => path !== '' && existsSync(path));
if (executablePath === undefined) throw new Error('No Chromium: install it, or name it in CHROMIUM');
const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'];
const longTaskMs = 100;
const typed = 'typed while it runs';

interface Line {
  readonly name: string;
  readonly value: number;
  readonly budget: number;
  readonly unit: string;
}
const lines: Line[] = [];
const line = (name: string, value: number, budget: number, unit: string): void => {
  lines.push({ name, value, budget, unit });
};

const server = spawn(
  process.execPath,
  ['bin/start.js', '--port', '0', '--agents', 'bench/ui/agents', '--log-level', 'error'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const base = await new Promise<string>((resolve, reject) => {
  let output = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
    if (url !== undefined) resolve(url);
  });
  server.once('exit', () => reject(new Error(`The server did not start: ${output}`)));
});
const browser = await chromium.launch({ executablePath, args });

try {
  const created = await fetch(`${base}/apps/burst/users/user/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sessionId: 'long', events: history(10_000) }),
  });
  if (!created.ok) throw new Error(await created.text());
  await measureLongSession(await newPage());
  await measureBurst(await newPage());
  await measureTrace(await newPage());
} finally {
  await browser.close();
  server.kill();
  await once(server, 'close');
}

for (const { name, value, budget, unit } of lines) {
  const mark = value <= budget ? 'ok    ' : 'MISSED';
  console.log(`${mark} ${name.padEnd(48)} ${value.toFixed(0).padStart(7)} ${unit} (${budget})`);
}
process.exitCode = lines.some(({ value, budget }) => !(value <= budget)) ? 1 : 0;

async function newPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  return context.newPage();
}

async function measureLongSession(page: Page): Promise<void> {
  await page.goto(`${base}/dev-ui/apps/burst`); // warms the server, as any earlier visit would
  const begin = performance.now();
  await page.goto(`${base}/dev-ui/apps/burst/u/user/s/long`);
  await page.getByText('Answer 2499.').waitFor();
  line('deep link into 10,000 events until its end shows', performance.now() - begin, 1_000, 'ms');
  const { scripts, all } = await loadedBytes(page);
  line('initial scripts, gzip', scripts / 1e3, 220, 'kB');
  line('all initial bytes', all / 1e3, 350, 'kB');
  line('first contentful paint', await firstPaint(page), 400, 'ms');
  line('scroll frame, p95', p95(await scrollFrames(page, 200)), 40, 'ms');
  line('nodes in the page', await domNodes(page), 3_000, '');
  line('click to inspector, p95 after the first', p95((await selectTimes(page)).slice(1)), 100, 'ms');
  line('heap with 10,000 events', await heapMegabytes(page), 120, 'MB');
}

async function measureBurst(page: Page): Promise<void> {
  await page.goto(`${base}/dev-ui/apps/burst`);
  await page.getByLabel('Message', { exact: true }).fill('burst 10');
  await page.keyboard.press('Enter');
  await page.getByText('5 calls').waitFor();
  await watchTasks(page);
  await page.getByLabel('Message', { exact: true }).fill('burst 3000');
  await page.keyboard.press('Enter');
  await page.keyboard.type(typed, { delay: 20 });
  await page.getByText('3,012 events').waitFor({ timeout: 60_000 });
  const { tasks, keys } = await readNoted(page);
  line(`burst of 3,000 events: tasks over ${longTaskMs} ms`, tasks.filter((ms) => ms > longTaskMs).length, 0, '');
  const unnoted = Array.from({ length: Math.max(0, typed.length - keys.length) }, () => 16); // quicker than it can tell
  line('key to glyph during the burst, p95', p95([...keys, ...unnoted]), 50, 'ms');
}

async function measureTrace(page: Page): Promise<void> {
  const key = { appName: 'many_tools', userId: 'user', sessionId: 'traced' };
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
  };
  await post('/apps/many_tools/users/user/sessions', { sessionId: 'traced' });
  await post('/run', { ...key, newMessage: { role: 'user', parts: [{ text: 'go' }] } });
  await page.goto(`${base}/dev-ui/apps/many_tools/u/user/s/traced`);
  await page.getByText('All looked up.').waitFor();
  const begin = performance.now();
  await page.getByRole('tab', { name: 'Trace' }).click();
  await page.getByRole('treeitem').first().waitFor();
  line('click to waterfall of 2,000 spans', performance.now() - begin, 500, 'ms');
  line('nodes in the page with it', await domNodes(page), 3_000, '');
}
