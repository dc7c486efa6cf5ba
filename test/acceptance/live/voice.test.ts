import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { LiveClient, type LiveFrame, outline } from '../../support/live-client.ts';
import { LiveDouble } from '../../support/live-double.ts';
import { type LiveBed, openLiveBed } from './bed.ts';

const double = await LiveDouble.start();
let bed: LiveBed;
beforeAll(async () => {
  const voice = { name: 'voice', model: 'gemini-live-2.5-flash-preview', instruction: 'Speak.' };
  bed = await openLiveBed(
    {
      voice: { 'root_agent.yaml': voice },
      mixed: {
        'root_agent.yaml': {
          ...voice,
          name: 'mixed',
          model: 'gemini-2.5-flash',
          generate_content_config: { temperature: 0.5 },
        },
      },
    },
    { GOOGLE_API_KEY: 'test-key-1', GOOGLE_GEMINI_BASE_URL: double.url },
  );
});
beforeEach(() => double.forget());
afterAll(async () => {
  await bed.close();
  await double.close();
});

async function call(query = '', app = 'voice') {
  const key = await bed.session(app);
  const client = await LiveClient.connect(bed.url, key, { query });
  return { key, client };
}

const isDone = ({ turnComplete }: LiveFrame): boolean => turnComplete === true;
const hears = (text: string): object => ({ serverContent: { inputTranscription: { text } } });
const speaks = (text: string): object => ({ serverContent: { outputTranscription: { text } } });
const generated = { serverContent: { generationComplete: true } };
const complete = { serverContent: { turnComplete: true } };

it('sets the conversation up as the agent and the query say', async () => {
  const { client } = await call('&proactive_audio=true&enable_affective_dialog=true&enable_session_resumption=true');
  const line = await double.connection();
  await client.close();

  expect(line.url).toMatch(/\.v1alpha\.GenerativeService\.BidiGenerateContent\?key=test-key-1$/);
  expect(line.setup).toEqual({
    model: 'models/gemini-live-2.5-flash-preview',
    generationConfig: { responseModalities: ['AUDIO'], enableAffectiveDialog: true },
    systemInstruction: { role: 'user', parts: [{ text: 'Speak.' }] },
    sessionResumption: {},
    inputAudioTranscription: {},
    outputAudioTranscription: {},
    proactivity: { proactiveAudio: true },
  });
});

it('asks for no handles when the client wants no resumption', async () => {
  const { client } = await call('&enable_session_resumption=false');
  const line = await double.connection();
  await client.close();

  expect(line.setup).not.toHaveProperty('sessionResumption');
});

it('asks for text alone when the client wants no sound', async () => {
  const { client, key } = await call('&modalities=TEXT');
  const line = await double.connection();
  client.say('hi');
  await line.asked('hi');
  line.say('Hel', 'lo');
  await client.frame(isDone);
  await client.close();

  expect(line.setup.generationConfig).toEqual({ responseModalities: ['TEXT'] });
  expect(line.setup).not.toHaveProperty('outputAudioTranscription');
  expect(line.messages[1]).toEqual({
    clientContent: { turns: [{ role: 'user', parts: [{ text: 'hi' }] }], turnComplete: true },
  });
  expect(outline(client.frames)).toEqual([
    'voice: Hel + partial',
    'voice: lo + partial',
    'voice: Hello',
    'voice: turnComplete',
  ]);
  expect(outline(await bed.stored(key))).toEqual(['user: hi', 'voice: Hello']);
});

it('carries sound both ways byte for byte, in frames of both kinds', async () => {
  const { client } = await call();
  const line = await double.connection();
  const said = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
  const answer = Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 13) % 256));

  for (let at = 0; at < 64_000; at += 8_000) {
    const data = said.subarray(at, at + 8_000).toString(at % 16_000 === 0 ? 'base64' : 'base64url');
    client.send({ blob: { mime_type: 'audio/pcm;rate=16000', data } });
  }
  client.socket.send(said.subarray(64_000));
  await line.message(() => line.sound.length === said.length);
  for (let at = 0; at < answer.length; at += 10_000) line.speak(answer.subarray(at, at + 10_000));
  line.send(generated, complete);
  await client.frame(isDone);
  await client.close();

  expect(line.sound.equals(said)).toBe(true);
  expect(line.messages.at(-1)?.realtimeInput?.audio?.mimeType).toBe('audio/pcm;rate=16000');
  const played = client.frames
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ inlineData }) => inlineData ?? []);
  expect(played[0]?.mimeType).toBe('audio/pcm;rate=24000');
  expect(Buffer.concat(played.map(({ data }) => Buffer.from(data, 'base64'))).equals(answer)).toBe(true);
});

it('sends pictures and marks of activity', async () => {
  const { client } = await call();
  const line = await double.connection();

  client.send({ activity_start: {} });
  client.send({ blob: { mime_type: 'image/jpeg', data: 'AAAA' } });
  client.send({ activityEnd: {} });
  await line.message(({ realtimeInput }) => realtimeInput?.['activityEnd'] !== undefined);
  await client.close();

  expect(line.messages.slice(1)).toEqual([
    { realtimeInput: { activityStart: {} } },
    { realtimeInput: { video: { mimeType: 'image/jpeg', data: 'AAAA' } } },
    { realtimeInput: { activityEnd: {} } },
  ]);
});

it('writes down what both say, and stores that but not the sound', async () => {
  const { client, key } = await call();
  const line = await double.connection();
  client.socket.send(Buffer.alloc(100));
  await line.message(({ realtimeInput }) => realtimeInput !== undefined);

  line.send(hears('What '), hears('time?'));
  line.speak(Buffer.alloc(10));
  line.send(speaks('It is '), speaks('five.'), generated);
  line.send({ ...complete, usageMetadata: { promptTokenCount: 3, responseTokenCount: 4, totalTokenCount: 7 } });
  await client.frame(isDone);
  await client.close();

  expect(outline(client.frames)).toEqual([
    'user: heard "What " + partial',
    'user: heard "time?" + partial',
    'voice: <audio/pcm;rate=24000> + partial',
    'voice: spoke "It is " + partial',
    'voice: spoke "five." + partial',
    'user: heard "What time?"',
    'voice: spoke "It is five."',
    'voice: ',
    'voice: turnComplete',
  ]);
  const stored = await bed.stored(key);
  expect(outline(stored)).toEqual(['user: heard "What time?"', 'voice: spoke "It is five."', 'voice: ']);
  expect(stored[0]?.inputTranscription).toEqual({ text: 'What time?', finished: true });
  expect(stored[2]?.usageMetadata).toMatchObject({ promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 });
});

it('tells a new conversation what was said in the last one', async () => {
  const { client, key } = await call();
  const line = await double.connection();
  line.send(hears('My name is Ann.'), speaks('Hello Ann.'), generated, complete);
  await client.frame(isDone);
  await client.close();

  const again = await LiveClient.connect(bed.url, key);
  const next = await double.connection(1);
  const history = await next.message(({ clientContent }) => clientContent !== undefined);
  await again.close();

  expect(history.clientContent).toEqual({
    turns: [
      { role: 'user', parts: [{ text: 'My name is Ann.' }] },
      { role: 'model', parts: [{ text: 'Hello Ann.' }] },
    ],
    turnComplete: false,
  });
});

it('tells the client at once when the user interrupts the model', async () => {
  const { client, key } = await call();
  const line = await double.connection();

  line.speak(Buffer.alloc(10));
  line.send(speaks('Once upon a ti'), { serverContent: { interrupted: true } }, complete);
  await client.frame(isDone);
  await client.close();

  expect(outline(client.frames)).toEqual([
    'voice: <audio/pcm;rate=24000> + partial',
    'voice: spoke "Once upon a ti" + partial',
    'voice: spoke "Once upon a ti"',
    'voice: interrupted',
    'voice: turnComplete',
  ]);
  expect(outline(await bed.stored(key))).toEqual(['voice: spoke "Once upon a ti"', 'voice: interrupted']);
});

it('names messages it does not know, and goes on', async () => {
  const { client } = await call();
  const line = await double.connection();

  line.send({ somethingNew: { a: 1 } }, speaks('still here'), complete);
  await client.frame(isDone);
  await client.close();

  expect(client.frames[0]).toMatchObject({
    errorCode: 'UNKNOWN_SERVER_MESSAGE',
    errorMessage: 'Unknown server message: somethingNew',
  });
});

it.each(['close message', 'close of the socket', 'cut of the socket'])('hangs up after a %s', async (how) => {
  const { client, key } = await call();
  const line = await double.connection();
  line.send(speaks('Half a sen'));
  await client.frame(({ outputTranscription }) => outputTranscription !== undefined);

  if (how === 'close message') client.send({ close: true });
  else if (how === 'close of the socket') client.socket.close();
  else client.socket.terminate();

  expect(await line.closed).toBe(1005);
  expect((await client.closed).code).toBe({ 'close message': 1000, 'close of the socket': 1005 }[how] ?? 1006);
  const again = await LiveClient.connect(bed.url, key);
  await double.connection(1);
  expect(outline(await bed.stored(key))).toEqual(['voice: spoke "Half a sen"']);
  await again.close();
});

it('calls a model that is not made for it only once there is something to hear', async () => {
  const { client } = await call('', 'mixed');
  client.send({ blob: { mimeType: 'audio/pcm', data: 'AAAA' } });
  const line = await double.connection();
  await line.message(({ realtimeInput }) => realtimeInput !== undefined);
  line.send(speaks('Yes?'), complete);
  await client.frame(isDone);
  await client.close();

  expect(line.setup.generationConfig).toEqual({ responseModalities: ['AUDIO'], temperature: 0.5 });
  expect(line.sound).toEqual(Buffer.alloc(3));
});
