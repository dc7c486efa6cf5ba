import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noBrowser, openPage } from '../../dev-ui/browser.ts';
import { LiveDouble } from '../../support/live-double.ts';
import { openLiveBed } from './bed.ts';

const folder = process.env['OFFICIAL_DEV_UI'] ?? '';
const noUi = existsSync(join(folder, 'index.html'))
  ? undefined
  : 'OFFICIAL_DEV_UI names no folder with it (dist/browser of the npm package @google/adk-devtools 2.0.0)';
if (noUi !== undefined) console.warn(`Tests with the official web UI are skipped: ${noUi}`);

const fakeDevices = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];
const model = 'gemini-live-2.5-flash-preview';
const complete = { serverContent: { turnComplete: true } };

async function opened() {
  const double = await LiveDouble.start();
  const bed = await openLiveBed(
    { voice: { 'root_agent.yaml': { name: 'voice', model, instruction: 'Speak.' } } },
    { GOOGLE_API_KEY: 'test-key-1', GOOGLE_GEMINI_BASE_URL: double.url },
    ['--dev-ui', folder],
  );
  onTestFinished(async () => {
    await bed.close(); // fails when the server did not end by itself
    await double.close();
  });
  const { page } = await openPage(`${bed.url}/dev-ui/?app=voice`, fakeDevices);
  page.setDefaultTimeout(10_000);
  return { double, bed, page };
}

interface Playback {
  readonly started: number;
  readonly stopped: number;
}

/** Counts the pieces of sound the page plays and stops. */
async function watchPlayback(page: Page): Promise<() => Promise<Playback>> {
  await page.evaluate(() => {
    const counts = { started: 0, stopped: 0 };
    const scope = globalThis as unknown as { playback: Playback; AudioBufferSourceNode: { prototype: AudioNode } };
    interface AudioNode {
      start: (this: AudioNode, ...args: number[]) => void;
      stop: (this: AudioNode, ...args: number[]) => void;
    }
    const node = scope.AudioBufferSourceNode.prototype;
    const { start, stop } = node;
    scope.playback = counts;
    node.start = function (this: AudioNode, ...args) {
      counts.started += 1;
      start.apply(this, args);
    };
    node.stop = function (this: AudioNode, ...args) {
      counts.stopped += 1;
      stop.apply(this, args);
    };
  });
  return () => page.evaluate(() => (globalThis as unknown as { playback: Playback }).playback);
}

const picture = async (page: Page, name: string): Promise<void> => {
  const shots = process.env['OFFICIAL_DEV_UI_SHOTS'];
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) });
};

describe.skipIf(noBrowser !== undefined || noUi !== undefined)('in the official web UI', () => {
  it('takes a call: sound both ways, transcripts, an interruption, and nothing is left when it is over', async () => {
    const { double, bed, page } = await opened();
    const callButton = page.locator('button.audio-rec-btn');
    const playback = await watchPlayback(page);

    await callButton.click();
    const line = await double.connection();
    const socketClosed = double.connections[0]?.closed;
    await expect.poll(() => line.sound.length, { timeout: 10_000 }).toBeGreaterThan(32_000);
    const heard = new Int16Array(line.sound.buffer.slice(line.sound.byteOffset, line.sound.byteOffset + 32_000));
    await picture(page, 'calling');

    line.send({ serverContent: { inputTranscription: { text: 'What is the weather?' } } });
    for (let piece = 0; piece < 4; piece += 1) line.speak(Buffer.alloc(48_000, 7));
    line.send({ serverContent: { outputTranscription: { text: 'It is sunny today.' } } });
    await page.getByText('What is the weather?').first().waitFor();
    await page.getByText('It is sunny today.').first().waitFor();
    await expect.poll(async () => (await playback()).started).toBeGreaterThan(0);
    await picture(page, 'answering');

    const before = (await playback()).stopped;
    line.send({ serverContent: { interrupted: true } }, complete);
    await expect.poll(async () => (await playback()).stopped).toBeGreaterThan(before);
    await picture(page, 'interrupted');

    await callButton.click();
    await socketClosed;
    await picture(page, 'over');
    const [session] = (await bed.server.fetchJson('/apps/voice/users/user/sessions')).body as { id: string }[];
    const stored = JSON.stringify(await bed.stored({ appName: 'voice', userId: 'user', sessionId: session?.id ?? '' }));

    const blob = line.messages.find(({ realtimeInput }) => realtimeInput)?.realtimeInput;
    expect(blob?.audio?.mimeType).toMatch(/^audio\/pcm/);
    expect(heard.some((sample) => Math.abs(sample) > 100)).toBe(true);
    expect(stored).toContain('What is the weather?');
    expect(stored).toContain('It is sunny today.');
    expect(stored).not.toContain('inlineData');
    expect(double.connections).toHaveLength(1);
  });
});
