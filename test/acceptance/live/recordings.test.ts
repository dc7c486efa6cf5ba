import { afterAll, beforeAll, expect, it } from 'vitest';
import { LiveClient, type LiveFrame, outline } from '../../support/live-client.ts';
import { LiveDouble } from '../../support/live-double.ts';
import { type LiveBed, openLiveBed } from './bed.ts';

const double = await LiveDouble.start();
let bed: LiveBed;
beforeAll(async () => {
  const voice = { name: 'voice', model: 'gemini-live-2.5-flash-preview', instruction: 'Speak.' };
  bed = await openLiveBed(
    { voice: { 'root_agent.yaml': voice } },
    { GOOGLE_API_KEY: 'test-key-1', GOOGLE_GEMINI_BASE_URL: double.url },
  );
});
afterAll(async () => {
  await bed.close();
  await double.close();
});

const isDone = ({ turnComplete }: LiveFrame): boolean => turnComplete === true;
const uriOf = ({ content }: LiveFrame): string | undefined => content?.parts[0]?.fileData?.fileUri;

it('saves the sound of both sides as artifacts when asked to, turn by turn', async () => {
  const key = await bed.session('voice');
  const client = await LiveClient.connect(bed.url, key, { query: '&save_live_blob=true' });
  const line = await double.connection();
  client.socket.send(Buffer.from([1, 2, 3, 4]));
  client.socket.send(Buffer.from([5, 6]));
  await line.message(() => line.sound.length === 6);

  line.send({ serverContent: { inputTranscription: { text: 'Hi', finished: true } } });
  line.speak(Buffer.from([7, 8]));
  line.speak(Buffer.from([9]));
  line.send({ serverContent: { outputTranscription: { text: 'Hello' } } }, { serverContent: { turnComplete: true } });
  const saved = await client.frame((frame) => frame.author === 'voice' && uriOf(frame) !== undefined);
  await client.close();

  const stored = await bed.stored(key);
  expect(outline(stored)).toEqual(['user: heard "Hi"', 'voice: spoke "Hello"', 'user: fileData', 'voice: fileData']);
  const path = `artifact://voice/u/${key.sessionId}/_adk_live/adk_live_audio_storage`;
  expect(uriOf(stored[2]!)).toMatch(new RegExp(`^${path}_input_audio_\\d+\\.pcm#0$`));
  expect(uriOf(stored[3]!)).toMatch(new RegExp(`^${path}_output_audio_\\d+\\.pcm#0$`));
  expect(uriOf(saved)).toBe(uriOf(stored[3]!));
  const sounds = await Promise.all(
    stored.slice(2).map(async (frame) => {
      const name = uriOf(frame)?.split('/').at(-1)?.split('#')[0];
      const { body } = await bed.server.fetchJson(`/apps/voice/users/u/sessions/${key.sessionId}/artifacts/${name}`);
      const { inlineData } = body as { inlineData: { mimeType: string; data: string } };
      return [inlineData.mimeType, ...Buffer.from(inlineData.data, 'base64')];
    }),
  );
  expect(sounds).toEqual([
    ['audio/pcm;rate=16000', 1, 2, 3, 4, 5, 6],
    ['audio/pcm;rate=24000', 7, 8, 9],
  ]);
});

it('saves nothing unless asked to, and shows a model no recordings', async () => {
  const key = await bed.session('voice');
  for (const query of ['&save_live_blob=true', '']) {
    const from = double.connections.length;
    const client = await LiveClient.connect(bed.url, key, { query });
    const line = await double.connection(from);
    line.speak(Buffer.alloc(2));
    line.send({ serverContent: { turnComplete: true } });
    await client.frame(isDone);
    await client.close();
    await line.closed;
    expect(line.messages.filter(({ clientContent }) => clientContent)).toEqual([]);
  }

  expect(outline(await bed.stored(key))).toEqual(['voice: fileData']);
});
