import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newActions } from '../../src/schemas/event.ts';
import { listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const key = { appName: 'demo', userId: 'user', sessionId: 's1' };
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" onload="parent.hacked=1"><script>parent.hacked=1</script><rect width="40" height="20" fill="red"/></svg>';
const html =
  '<h1>Plan</h1><script>parent.hacked=1</script><img src="http://127.0.0.1:9/x" onerror="parent.hacked=1"><p>by us</p>';
const inline = (mimeType: string, text: string) => ({
  inlineData: { mimeType, data: Buffer.from(text).toString('base64url') },
});

async function opened(query = 't=artifacts') {
  const { app, services } = await server();
  const save = services.artifacts.saveArtifact.bind(services.artifacts);
  await services.sessions.createSession(key, {
    sessionId: 's1',
    events: [says('done', { id: 'saving', actions: { ...newActions(), artifactDelta: { 'docs/plan.md': 1 } } })],
  });
  await save(key, 'docs/plan.md', inline('text/markdown', '# Plan\n\none\ntwo\n'));
  await save(key, 'docs/plan.md', inline('text/markdown', '# Plan\n\none\nthree\n'));
  await save(key, 'page "1".html', inline('text/html', html));
  await save(key, 'picture.svg', inline('image/svg+xml', svg));
  await save(key, 'data.json', inline('application/json', '{"a":[1]}'));
  await save(key, 'user:blob.bin', inline('application/octet-stream', '\0\u0001'));
  await save(key, 'away.png', { fileData: { fileUri: 'gs://bucket/away.png', mimeType: 'image/png' } });
  const requests: string[] = [];
  const opening = await openPage('about:blank');
  opening.page.on('request', (request) => void requests.push(request.url()));
  const base = await listen(app);
  await opening.page.goto(`${base}/dev-ui/apps/demo/u/user/s/s1?${query}`);
  return { ...opening, ...services, requests, base };
}

const open = (page: Page, name: string) => page.getByRole('button', { name }).first().click();

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('shows every kind of artifact, runs nothing in it and fetches nothing for it', async () => {
    const { page, faults, requests, base } = await opened();

    await open(page, 'picture.svg');
    await page.getByRole('img', { name: 'picture.svg' }).waitFor();
    expect(await page.evaluate('document.querySelector(".artifact-image").naturalWidth')).toBe(40);
    expect(await accessibilityFaults(page)).toEqual([]);
    await open(page, 'page "1".html');
    await page.frameLocator('iframe').getByText('by us').waitFor();
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
    await open(page, 'data.json');
    await page.getByText('"a": [').waitFor();
    await open(page, 'blob.bin');
    await page.getByText('there is no preview of this type').waitFor();
    await open(page, 'away.png');
    await page.getByText('gs://bucket/away.png').waitFor();

    expect(await page.evaluate('"hacked" in window')).toBe(false);
    expect(requests.filter((url) => !url.startsWith(base) && !/^(?:blob|data|about):/.test(url))).toEqual([]);
    expect(faults.filter((fault) => !/script|Refused|Content Security Policy/i.test(fault))).toEqual([]);
  });

  it('opens the version an event saved, and shows what changed since the one before', async () => {
    const { page } = await opened('t=artifacts&e=saving');

    await page.getByRole('region', { name: 'Artifact docs/plan.md' }).getByText('three').waitFor();
    await page.getByRole('button', { name: 'Changes' }).click();
    const changes = page.getByLabel('Changes from version 0 to 1');
    await changes.waitFor();
    expect(await changes.locator('.added, .removed').allTextContents()).toEqual(['- two', '+ three']);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Version' }).selectOption('0');
    await page.getByText('two').waitFor();
    expect(new URL(page.url()).searchParams.get('v')).toBe('0');
  });

  it('shows what an event saved at the event, and opens that version', async () => {
    const { page } = await opened('');

    const saved = page.getByRole('list', { name: 'Artifacts saved here' });
    await saved.getByRole('button', { name: 'docs/plan.md' }).click();
    await page.getByRole('region', { name: 'Artifact docs/plan.md' }).getByText('three').waitFor();
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ e: 'saving', v: '1' });
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('uploads, downloads and deletes', async () => {
    const { page, artifacts } = await opened();

    await page.setInputFiles('.artifacts input[type=file]', {
      name: 'notes.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Grüße'),
    });
    await page.getByRole('region', { name: 'Artifact notes.txt' }).getByText('Grüße').waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('notes.txt');
    expect(await readFile(await download.path(), 'utf8')).toBe('Grüße');
    await page.getByRole('button', { name: 'Delete notes.txt' }).click();
    await page.getByRole('region', { name: 'Artifact notes.txt' }).waitFor({ state: 'detached' });
    expect(await artifacts.listArtifactKeys(key)).not.toContain('notes.txt');
  });
});
