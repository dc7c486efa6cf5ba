import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newActions } from '../../src/schemas/event.ts';
import { listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const key = { appName: 'demo', userId: 'user', sessionId: 's1' };
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" onload="parent.hacked=1"><script>parent.hacked=1</script><rect width="40" height="20" fill="red"/></svg>';
/** A page that asks a site for whatever a page can ask for. */
const htmlFrom = (site: string): string => `<h1>Plan</h1><script>parent.hacked=1</script>
  <link rel="stylesheet" href="${site}/style"><link rel="preload" as="image" href="${site}/early"><link rel="prefetch" href="${site}/late">
  <style>@import url(${site}/import); body { background: url(${site}/back) }</style>
  <img src="${site}/image" onerror="parent.hacked=1"><video poster="${site}/poster" src="${site}/video"></video>
  <iframe src="${site}/frame"></iframe><object data="${site}/object"></object><p>by us</p>`;
const inline = (mimeType: string, text: string) => ({
  inlineData: { mimeType, data: Buffer.from(text).toString('base64url') },
});

/** A site, and what it was asked for. What the policy refuses is told of by the browser at times, too, but not sent. */
async function siteThatListens(): Promise<{ site: string; asked: string[] }> {
  const asked: string[] = [];
  const listening = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listening.close());
  return { site: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`, asked };
}

async function opened(query = 't=artifacts') {
  const { site, asked } = await siteThatListens();
  const { app, services } = await server();
  const save = services.artifacts.saveArtifact.bind(services.artifacts);
  await services.sessions.createSession(key, {
    sessionId: 's1',
    events: [says('done', { id: 'saving', actions: { ...newActions(), artifactDelta: { 'docs/plan.md': 1 } } })],
  });
  await save(key, 'docs/plan.md', inline('text/markdown', '# Plan\n\none\ntwo\n'));
  await save(key, 'docs/plan.md', inline('text/markdown', '# Plan\n\none\nthree\n'));
  await save(key, 'page "1".html', inline('text/html', htmlFrom(site)));
  await save(key, 'picture.svg', inline('image/svg+xml', svg));
  await save(key, 'data.json', inline('application/json', '{"a":[1]}'));
  await save(key, 'user:blob.bin', inline('application/octet-stream', '\0\u0001'));
  await save(key, 'away.png', { fileData: { fileUri: 'gs://bucket/away.png', mimeType: 'image/png' } });
  const opening = await openPage(`${await listen(app)}/dev-ui/apps/demo/u/user/s/s1?${query}`);
  return { ...opening, ...services, asked };
}

const open = (page: Page, name: string) => page.getByRole('button', { name }).first().click();

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('shows every kind of artifact, runs nothing in it and fetches nothing for it', async () => {
    const { page, faults, asked } = await opened();

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
    await page.getByText('no preview for this type').waitFor();
    await open(page, 'away.png');
    await page.getByText('gs://bucket/away.png').waitFor();

    expect(await page.evaluate('"hacked" in window')).toBe(false);
    expect(asked).toEqual([]);
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
    expect((await buffer(await download.createReadStream())).toString()).toBe('Grüße');
    await page.getByRole('button', { name: 'Delete notes.txt' }).click();
    await page.getByRole('region', { name: 'Artifact notes.txt' }).waitFor({ state: 'detached' });
    expect(await artifacts.listArtifactKeys(key)).not.toContain('notes.txt');
  });
});
