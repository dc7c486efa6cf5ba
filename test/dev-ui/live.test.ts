import { describe, expect, it } from 'vitest';
import type { LiveInput } from '../../src/core/model.ts';
import type { Event } from '../../src/schemas/event.ts';
import { listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const fakeDevices = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];
/** Chunks of 40 ms; the fake microphone beeps every second. */
const moreThanBetweenBeeps = 50;
const owner = { appName: 'demo', userId: 'user' };

/** Half a second of a tone, as models send sound. */
function tone(): string {
  const samples = Int16Array.from({ length: 12_000 }, (_, index) => Math.sin(index / 10) * 8_000);
  return Buffer.from(samples.buffer).toString('base64');
}

const sound = (): Event =>
  says('', {
    partial: true,
    content: { role: 'model', parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: tone() } }] },
  });
const transcript = (field: 'inputTranscription' | 'outputTranscription', text: string, finished: boolean): Event =>
  says('', {
    content: undefined,
    author: field === 'inputTranscription' ? 'user' : 'demo_agent',
    [field]: { text, finished },
    ...(!finished && { partial: true }),
  });

type Talk = (input: AsyncIterable<LiveInput>, signal: AbortSignal) => AsyncGenerator<Event>;

async function opened(talk: Talk, flags: readonly string[] = fakeDevices) {
  let calls = 0;
  const { app, services } = await server({
    async startLive(_request, input, signal) {
      calls += 1;
      return { invocationId: 'e-1', [Symbol.asyncIterator]: () => talk(input, signal) };
    },
  });
  await services.sessions.createSession(owner, { sessionId: 's1' });
  const opening = await openPage(`${await listen(app)}/dev-ui/apps/demo/u/user/s/s1`, flags);
  opening.page.setDefaultTimeout(10_000);
  return { ...opening, app, calls: () => calls };
}

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('sends audio of the microphone, plays the response and shows both transcripts', async () => {
    let heardBytes = 0;
    let isAnswered = false;
    const loud: boolean[] = [];
    const { page, faults } = await opened(async function* (input) {
      for await (const heard of input) {
        if (heard.kind !== 'blob' || !heard.blob.mimeType.startsWith('audio/')) continue;
        const bytes = Buffer.from(heard.blob.data, 'base64');
        heardBytes += bytes.length;
        loud.push(
          new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2).some((sample) => Math.abs(sample) > 500),
        );
        if (isAnswered || heardBytes < 64_000) continue;
        isAnswered = true;
        yield transcript('inputTranscription', 'Beep ', false);
        yield transcript('inputTranscription', 'Beep beep', true);
        yield sound();
        yield transcript('outputTranscription', 'I heard you', true);
      }
    });

    await page.getByRole('button', { name: 'Start live conversation' }).first().click();
    const strip = page.getByRole('region', { name: 'Live conversation' });
    await strip.getByText('Live', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('feed').getByText('Beep beep').waitFor();
    await page.getByRole('feed').getByText('I heard you').waitFor();
    await strip.getByText(/response after/).waitFor();
    expect(loud).toContain(true);
    expect(await strip.getByRole('combobox', { name: 'Microphone' }).locator('option').count()).toBeGreaterThan(1);
    await strip.getByRole('button', { name: 'End' }).click();
    await strip.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  it('sends silence while muted or while push to talk is released, and pictures while the camera is on', async () => {
    const kinds = new Set<string>();
    let quietInARow = 0;
    const { page } = await opened(async function* (input) {
      for await (const heard of input) {
        if (heard.kind === 'content') yield says(`You wrote ${heard.content.parts[0]?.text}`);
        if (heard.kind !== 'blob') continue;
        kinds.add(heard.blob.mimeType);
        if (heard.blob.mimeType.startsWith('audio/')) quietInARow = /[^A=]/.test(heard.blob.data) ? 0 : quietInARow + 1;
      }
    });

    await page.getByRole('button', { name: 'Start live conversation' }).first().click();
    const strip = page.getByRole('region', { name: 'Live conversation' });
    await strip.getByText('Live', { exact: true }).waitFor();
    await strip.getByRole('button', { name: 'Push to talk' }).click();
    await expect.poll(() => quietInARow, { timeout: 15_000 }).toBeGreaterThan(moreThanBetweenBeeps);
    await strip.getByRole('button', { name: 'Hold to talk' }).focus();
    await page.keyboard.down('Space');
    await expect.poll(() => quietInARow, { timeout: 10_000 }).toBeLessThan(moreThanBetweenBeeps);
    await page.keyboard.up('Space');
    await strip.getByRole('button', { name: 'Turn on camera' }).click();
    await strip.getByLabel('Camera preview').waitFor();
    await expect.poll(() => [...kinds], { timeout: 10_000 }).toContain('image/jpeg');
    expect(await accessibilityFaults(page)).toEqual([]);
    await strip.getByLabel('Type a message').fill('hello');
    await page.keyboard.press('Enter');
    await page.getByRole('feed').getByText('You wrote hello').waitFor();
  });

  it('stops playing when it is interrupted, reconnects when the connection breaks, and ends while it waits', async () => {
    let rounds = 0;
    const { page, calls } = await opened(async function* (input) {
      rounds += 1;
      if (rounds === 1) for (let piece = 0; piece < 20; piece += 1) yield sound();
      let isCutShort = rounds > 1;
      for await (const heard of input) {
        if (!isCutShort) yield says('', { interrupted: true, content: undefined });
        isCutShort = true;
        if (heard.kind !== 'content') continue;
        if (heard.content.parts[0]?.text === 'break it') throw new Error('The provider hung up');
        yield says('Back again');
      }
    });
    await page.clock.install();
    const strip = page.getByRole('region', { name: 'Live conversation' });
    const field = strip.getByLabel('Type a message');
    const say = async (text: string): Promise<void> => {
      await field.fill(text);
      await field.press('Enter');
    };
    /** Breaks the connection; the page waits to reconnect until the clock goes on. */
    const breakIt = async (): Promise<void> => {
      await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000);
      await say('break it');
      await strip.getByText('Reconnecting …').waitFor();
    };

    await page.getByRole('button', { name: 'Start live conversation' }).first().click();
    await strip.getByText('interrupted').waitFor();
    await breakIt();
    await say('again');
    await strip.getByText('You can send when the connection is back.').waitFor();
    expect(await field.inputValue()).toBe('again');
    expect(await page.getByRole('feed').getByText('again').count()).toBe(0);

    await page.clock.resume();
    await expect.poll(calls, { timeout: 10_000 }).toBe(2);
    await strip.getByText('Live', { exact: true }).waitFor();
    await field.press('Enter');
    await page.getByRole('feed').getByText('Back again').waitFor();
    expect(await field.inputValue()).toBe('');

    await breakIt();
    await strip.getByRole('button', { name: 'End' }).click();
    await strip.waitFor({ state: 'detached' });
    expect(calls()).toBe(2);
  });

  it('keeps a message that is typed before the connection is open', async () => {
    const { page } = await opened(async function* (input) {
      for await (const heard of input) if (heard.kind === 'content') yield says('Read you');
    });
    const connecting = Promise.withResolvers<void>();
    await page.routeWebSocket(/run_live/, async (socket) => {
      await connecting.promise;
      socket.connectToServer();
    });

    await page.getByRole('button', { name: 'Start live conversation' }).first().click();
    const strip = page.getByRole('region', { name: 'Live conversation' });
    const field = strip.getByLabel('Type a message');
    await field.fill('early');
    await field.press('Enter');
    await strip.getByText('You can send when the connection is open.').waitFor();
    expect(await field.inputValue()).toBe('early');
    expect(await page.getByRole('feed').getByText('early').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);

    connecting.resolve();
    await strip.getByText('Live', { exact: true }).waitFor();
    await field.press('Enter');
    await page.getByRole('feed').getByText('Read you').waitFor();
    expect(await field.inputValue()).toBe('');
  });

  it('says why it has no microphone, and continues with text', async () => {
    const { page } = await opened(async function* (input) {
      for await (const heard of input) if (heard.kind === 'content') yield says('Read you');
    }, []);

    await page.getByRole('button', { name: 'Start live conversation' }).first().click();
    const strip = page.getByRole('region', { name: 'Live conversation' });
    await strip
      .getByRole('alert')
      .getByText(/microphone/)
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await strip.getByLabel('Type a message').fill('hello');
    await page.keyboard.press('Enter');
    await page.getByRole('feed').getByText('Read you').waitFor();
  });
});
