import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { LiveClient, type LiveFrame, outline } from '../../support/live-client.ts';
import { LiveDouble, type LiveDoubleConnection } from '../../support/live-double.ts';
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
beforeEach(() => double.forget());
afterAll(async () => {
  await bed.close();
  await double.close();
});

async function call(query = '') {
  const key = await bed.session('voice');
  const client = await LiveClient.connect(bed.url, key, { query });
  return { key, client };
}

const isDone = ({ turnComplete }: LiveFrame): boolean => turnComplete === true;
const speaks = (text: string): object => ({ serverContent: { outputTranscription: { text } } });
const complete = { serverContent: { turnComplete: true } };
const handle = (newHandle: string): object => ({ sessionResumptionUpdate: { newHandle, resumable: true } });
const goAway = { goAway: { timeLeft: '5s' } };

/** What the client sent besides the setup. */
const said = ({ messages }: LiveDoubleConnection): object[] => messages.filter(({ setup }) => !setup);

it('goes on over another connection when the provider says it will go away', async () => {
  const { client, key } = await call();
  const first = await double.connection();
  first.send(speaks('Hello.'), complete, handle('h-1'));
  await client.frame(({ liveSessionResumptionUpdate }) => liveSessionResumptionUpdate?.newHandle === 'h-1');

  first.send(goAway);
  const second = await double.connection(1);
  expect(await first.closed).toBe(1005);
  client.socket.send(Buffer.from([1, 2]));
  await second.message(({ realtimeInput }) => realtimeInput !== undefined);
  second.send(speaks('Still here.'), complete);
  await client.frame(({ outputTranscription }) => outputTranscription?.text === 'Still here.');
  await client.close();

  expect(second.setup.sessionResumption).toEqual({ handle: 'h-1' });
  expect(said(second)).toHaveLength(1);
  expect(client.frames.some((frame) => frame.goAway !== undefined)).toBe(true);
  expect(outline(await bed.stored(key))).toEqual(['voice: spoke "Hello."', 'voice: spoke "Still here."']);
});

it('lets a turn end before it goes', async () => {
  const { client } = await call();
  const first = await double.connection();
  first.send(handle('h-1'), speaks('A long '), goAway, speaks('answer.'), complete);

  const second = await double.connection(1);
  await client.close();

  expect(second.setup.sessionResumption).toEqual({ handle: 'h-1' });
  expect(outline(client.frames)).toContain('voice: spoke "A long answer."');
  expect(outline(client.frames)).not.toContain('voice: interrupted');
});

it.each([1006, 1011, 1012])('asks an unanswered question again when the connection breaks with %d', async (code) => {
  const { client, key } = await call();
  const first = await double.connection();
  first.send(handle('h-1'));
  client.say('What time is it?');
  await first.asked('What time');

  if (code === 1006) first.socket.terminate();
  else first.socket.close(code, 'try again');
  const second = await double.connection(1);
  await second.asked('What time');
  second.send(speaks('Five.'), complete);
  await client.frame(isDone);
  await client.close();

  expect(second.setup.sessionResumption).toEqual({ handle: 'h-1' });
  expect(said(second)).toEqual([
    { clientContent: { turns: [{ role: 'user', parts: [{ text: 'What time is it?' }] }], turnComplete: true } },
  ]);
  expect(outline(await bed.stored(key))).toEqual(['user: What time is it?', 'voice: spoke "Five."']);
});

it('stops what the client plays when an answer breaks off, and has it answered again', async () => {
  const { client } = await call();
  const first = await double.connection();
  first.send(handle('h-1'));
  client.say('Sing!');
  await first.asked('Sing');
  first.speak(Buffer.alloc(4));
  first.send(speaks('La la'));
  await client.frame(({ outputTranscription }) => outputTranscription !== undefined);

  first.socket.terminate();
  const second = await double.connection(1);
  await second.asked('Sing');
  second.send(speaks('La la la.'), complete);
  await client.frame(isDone);
  await client.close();

  expect(outline(client.frames).slice(1)).toEqual([
    'voice: <audio/pcm;rate=24000> + partial',
    'voice: spoke "La la" + partial',
    'voice: spoke "La la"',
    'voice: interrupted',
    'voice: spoke "La la la." + partial',
    'voice: spoke "La la la."',
    'voice: turnComplete',
  ]);
});

it('tells the provider what was said when it never gave a handle', async () => {
  const { client } = await call();
  const first = await double.connection();
  client.say('I am Ann.');
  await first.asked('Ann');
  first.send(speaks('Hello Ann.'), complete);
  await client.frame(isDone);
  client.say('Who am I?');
  await first.asked('Who');

  first.socket.close(1011);
  const second = await double.connection(1);
  await second.asked('Who');
  await client.close();

  expect(second.setup.sessionResumption).toEqual({});
  expect(said(second)).toEqual([
    {
      clientContent: {
        turns: [
          { role: 'user', parts: [{ text: 'I am Ann.' }] },
          { role: 'model', parts: [{ text: 'Hello Ann.' }] },
        ],
        turnComplete: false,
      },
    },
    { clientContent: { turns: [{ role: 'user', parts: [{ text: 'Who am I?' }] }], turnComplete: true } },
  ]);
});

it('sends sound again that was not answered, and keeps what comes meanwhile', async () => {
  const { client } = await call();
  const first = await double.connection();
  first.send(handle('h-1'));
  await client.frame(({ liveSessionResumptionUpdate }) => liveSessionResumptionUpdate !== undefined);
  client.socket.send(Buffer.from([1, 2]));
  await first.message(() => first.sound.length === 2);

  first.socket.terminate();
  client.socket.send(Buffer.from([3, 4]));
  const second = await double.connection(1);
  await second.message(() => second.sound.length === 4);
  await client.close();

  expect(second.sound).toEqual(Buffer.from([1, 2, 3, 4]));
});

it('gives up after five connections that brought nothing', async () => {
  const { client, key } = await call();
  for (let index = 0; index < 6; index += 1) {
    const line = await double.connection(index);
    line.socket.close(1011, 'overloaded');
  }

  const { code, reason } = await client.closed;

  expect(code).toBe(1011);
  expect(reason).toContain('overloaded');
  expect(double.connections).toHaveLength(6);
  expect(client.frames.at(-1)).toMatchObject({ errorCode: 'SERVER_ERROR' });
  expect(outline(await bed.stored(key))).toEqual(['voice: error SERVER_ERROR']);
});

it.each([
  [1007, 'Request contains an invalid argument.', 'WEBSOCKET_1007'],
  [1008, 'models/x is not found for API version v1alpha', 'WEBSOCKET_1008'],
  [1008, 'API key test-key-1 not valid', 'AUTH_ERROR'],
])('does not try again after %d "%s"', async (code, text, errorCode) => {
  const { client } = await call();
  const line = await double.connection();

  line.socket.close(code, text);
  const closed = await client.closed;

  expect(closed.code).toBe(1011);
  expect(client.frames.at(-1)).toMatchObject({ errorCode });
  expect(client.texts.join()).not.toContain('test-key-1');
  expect(double.connections).toHaveLength(1);
});

it.each([
  [401, 'AUTH_ERROR'],
  [404, 'CLIENT_ERROR'],
])('tells why when the provider refuses the connection with %d', async (refuse, errorCode) => {
  double.options = { refuse };
  const { client } = await call();

  expect((await client.closed).code).toBe(1011);
  expect(client.frames.at(-1)).toMatchObject({ errorCode });
});

it('hangs up on a provider that never accepts the setup when the client leaves', async () => {
  double.options = { ignoreSetup: true };
  const { client } = await call();
  const line = await double.connection();

  await client.close();

  expect(await line.closed).toBe(1006);
});

it('survives a provider that sends no JSON', async () => {
  const { client } = await call();
  const line = await double.connection();
  line.socket.send('{"serverContent":');

  await client.closed;

  expect(client.frames.at(-1)).toMatchObject({ errorCode: 'WEBSOCKET_1007' });
  expect(bed.server.stderr).not.toContain('unhandled');
});

it('ends when the provider ends the conversation', async () => {
  const { client } = await call();
  const line = await double.connection();
  line.send(speaks('Bye.'), complete);
  await client.frame(isDone);

  line.socket.close(1000);

  expect(await client.closed).toEqual({ code: 1000, reason: '' });
});
