import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Page } from 'playwright-core';

const assets = 'dist/dev-ui/assets';
const percent95 = 0.95;

/** The value below which 95 of 100 are. */
export function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * percent95))] ?? 0;
}

/** Bytes, compressed by gzip, of the scripts a page has loaded so far, and of all it has loaded. */
export async function loadedBytes(page: Page): Promise<{ scripts: number; all: number }> {
  const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  const files = [...new Set(names.filter((name) => name.includes('/dev-ui/assets/')).map((name) => basename(name)))];
  const sizeOf = (file: string): number => {
    const path = join(assets, file);
    return (statSync(`${path}.gz`, { throwIfNoEntry: false }) ?? statSync(path)).size;
  };
  const sum = (some: readonly string[]): number => some.reduce((total, file) => total + sizeOf(file), 0);
  return { scripts: sum(files.filter((file) => file.endsWith('.js'))), all: sum(files) };
}

/** Milliseconds until something was painted for the first time. */
export async function firstPaint(page: Page): Promise<number> {
  return page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN);
}

/** Scrolls up through the conversation and gives the milliseconds of every frame. */
export async function scrollFrames(page: Page, frames: number): Promise<number[]> {
  return page.evaluate(async (count) => {
    const stream = document.querySelector('.stream');
    const times: number[] = [];
    let before = performance.now();
    for (let index = 0; index < count; index += 1) {
      stream?.scrollBy(0, -400);
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = performance.now();
      times.push(now - before);
      before = now;
    }
    return times;
  }, frames);
}

/** Milliseconds from a click on a row until the inspector shows its event, several times. */
export async function selectTimes(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const times: number[] = [];
    const inView = (row: HTMLElement): boolean => {
      const { top, bottom } = row.getBoundingClientRect();
      return top > 100 && bottom < innerHeight - 200 && row.dataset['selected'] !== 'true';
    };
    for (let index = 0; index < 6; index += 1) {
      const row = [...document.querySelectorAll<HTMLElement>('.item.text')].filter(inView)[index % 3];
      const begin = performance.now();
      row?.click();
      const id = row?.dataset['event'] ?? '';
      const isShown = (): boolean => document.querySelector('.inspector')?.textContent.includes(id) ?? false;
      while (!isShown() && performance.now() - begin < 5_000) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      times.push(performance.now() - begin);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return times;
  });
}

/** Has the page note tasks that hold it up, and how long keys take until they are shown. */
export async function watchTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const noted = { tasks: [] as number[], keys: [] as number[] };
    Object.assign(window, { noted });
    new PerformanceObserver((list) => noted.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      entryTypes: ['longtask'],
    });
    const onEntries = (list: PerformanceObserverEntryList): void => {
      noted.keys.push(...list.getEntries().flatMap(({ name, duration }) => (name === 'keydown' ? [duration] : [])));
    };
    new PerformanceObserver(onEntries).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });
}

/** What `watchTasks` noted. */
export async function readNoted(page: Page): Promise<{ tasks: number[]; keys: number[] }> {
  return page.evaluate(() => (window as unknown as { noted: { tasks: number[]; keys: number[] } }).noted);
}

export const domNodes = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length);

/** Megabytes of the page's heap after a collection. */
export async function heapMegabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}
