import { expect, it } from 'vitest';
import { readBinaryFrame, readTextFrame } from '../../../src/http/live/client-message.ts';
import { echo, liveServer } from './scene.ts';

const read = (message: unknown): unknown => readTextFrame(Buffer.from(JSON.stringify(message)));

it.each([
  [{ blob: { mimeType: 'audio/pcm;rate=16000', data: 'AAEC/w==' } }],
  [{ blob: { mime_type: 'audio/pcm;rate=16000', data: 'AAEC/w==' } }],
  [{ blob: { mimeType: 'audio/pcm;rate=16000', data: 'AAEC_w==' } }],
  [{ blob: { mimeType: 'audio/pcm;rate=16000', data: 'AAEC_w' } }],
  [{ blob: { mimeType: 'audio/pcm;rate=16000', data: 'AAEC/w' }, content: null, close: null }],
])('reads a blob in every spelling: %j', (message) => {
  const blob = { mimeType: 'audio/pcm;rate=16000', data: 'AAEC/w==' };
  expect(read(message)).toEqual({ input: { kind: 'blob', blob }, closes: false });
});

it.each([
  [{ activity_start: {} }, 'activityStart'],
  [{ activityStart: {} }, 'activityStart'],
  [{ activity_end: {} }, 'activityEnd'],
  [{ activityEnd: {} }, 'activityEnd'],
  [{ audio_stream_end: true }, 'audioStreamEnd'],
  [{ audioStreamEnd: true, stateDelta: { a: 1 } }, 'audioStreamEnd'],
])('reads %j', (message, kind) => {
  expect(read(message)).toEqual({ input: { kind }, closes: false });
});

it('leaves alone what it has no use for', () => {
  for (const message of [{ state_delta: { a: 1 } }, { stateDelta: {}, newer: 1 }, { audio_stream_end: false }]) {
    expect(read(message)).toEqual({ input: undefined, closes: false });
  }
});

it('reads a message as the user’s unless it says otherwise', () => {
  expect(read({ content: { parts: [{ text: 'hi' }] } })).toEqual({
    input: { kind: 'content', content: { role: 'user', parts: [{ text: 'hi' }] } },
    closes: false,
  });
});

it('takes the first of activity start, activity end, blob and content, and then the end', () => {
  const blob = { mimeType: 'audio/pcm', data: 'AAAA' };
  const content = { parts: [{ text: 'hi' }] };

  expect(read({ content, blob, activityEnd: {}, activityStart: {} })).toMatchObject({
    input: { kind: 'activityStart' },
  });
  expect(read({ content, blob, activityEnd: {} })).toMatchObject({ input: { kind: 'activityEnd' } });
  expect(read({ content, blob })).toMatchObject({ input: { kind: 'blob' } });
  expect(read({ content, close: true })).toMatchObject({ input: { kind: 'content' }, closes: true });
  expect(read({ close: true })).toEqual({ input: undefined, closes: true });
});

it('reads binary frames as sound of 16 kHz, byte for byte', () => {
  const bytes = Buffer.from([0, 1, 2, 255, 254]);

  const { input } = readBinaryFrame(bytes);

  expect(input).toMatchObject({ kind: 'blob', blob: { mimeType: 'audio/pcm;rate=16000' } });
  expect(Buffer.from(input?.kind === 'blob' ? input.blob.data : '', 'base64')).toEqual(bytes);
});

it.each([
  ['{"content":', 'not valid JSON'],
  ['[]', 'LiveRequest'],
  ['"hi"', 'LiveRequest'],
  ['null', 'LiveRequest'],
  ['{}', 'it has none of'],
  ['{"content":{"parts":[]}}', 'at least one part'],
  ['{"content":{"parts":[{}]}}', 'empty part'],
  ['{"content":{"parts":"x"}}', 'content'],
  ['{"content":{"parts":[{"functionCall":{"name":"adk_request_confirmation"}}]}}', 'only models may use'],
  ['{"blob":{"mimeType":"audio/pcm"}}', 'blob.data'],
  ['{"blob":{"mimeType":"audio/pcm","data":"***"}}', 'base64'],
  ['{"close":"yes"}', 'close'],
  ['{"__proto__":{"x":1},"close":true}', '__proto__'],
  ['['.repeat(200), 'not valid JSON'],
  [`${'['.repeat(200)}${']'.repeat(200)}`, 'nested deeper'],
])('answers %s with what is wrong, and goes on', async (text, details) => {
  const { connect } = await liveServer(echo);
  const client = await connect();

  client.socket.send(text);
  client.say('still there');
  await client.frame(({ content }) => content !== undefined);

  expect(client.frames[0]).toMatchObject({ errorCode: 'invalid_request' });
  expect(JSON.stringify(client.frames[0])).toContain(details.replaceAll('"', '\\"'));
  expect(client.frames[1]?.content?.parts[0]?.text).toContain('still there');
});

it('answers broken JSON in the words of other servers', async () => {
  const { connect } = await liveServer(echo);
  const client = await connect();

  client.socket.send('{oops');

  expect((await client.frame(() => true)).error).toBe('Invalid JSON format for LiveRequest');
});

it('hears what is sent before the first frame of the server, in order', async () => {
  const { connect } = await liveServer(echo);
  const client = await connect();

  for (let index = 0; index < 50; index += 1) client.say(`message ${index}`);
  client.socket.send(Buffer.from([1, 2]));
  client.send({ close: true });
  await client.closed;

  const heard = client.frames.map((frame) => JSON.parse(frame.content?.parts[0]?.text ?? '') as { kind: string });
  expect(heard.map(({ kind }) => kind)).toEqual([...Array<string>(50).fill('content'), 'blob']);
  expect(JSON.stringify(heard[49])).toContain('message 49');
});
