import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { FileArtifacts } from '../../../src/services/artifacts/files/files.ts';
import { InMemoryArtifacts } from '../../../src/services/artifacts/in-memory.ts';
import { listen, server, sessionPath } from '../server.ts';

const list = `${sessionPath('s')}/artifacts`;
const digits = '0123456789';

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agent-content-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const files = (): FileArtifacts => new FileArtifacts(freshFolder());

async function withArtifacts(artifacts: FileArtifacts | InMemoryArtifacts, config = {}) {
  const { app } = await server({ artifacts, config });
  await app.inject({ method: 'POST', url: sessionPath('s') });
  const put = (name: string, payload: string | Buffer, type?: string) =>
    app.inject({ method: 'PUT', url: `${list}/${name}`, payload, headers: type ? { 'content-type': type } : {} });
  const get = (path: string, headers = {}) => app.inject({ url: `${list}/${path}`, headers });
  return { app, put, get };
}

it.each([
  ['files', files],
  ['memory', () => new InMemoryArtifacts()],
])('takes and gives the bytes of artifacts in %s, whole and in ranges', async (_, open) => {
  const { put, get } = await withArtifacts(open());

  const saved = await put('films/one.mp4', digits, 'video/mp4');
  await put('films/one.mp4', '{"json": true}', 'application/json');

  expect(saved.json()).toMatchObject({ version: 0, mimeType: 'video/mp4' });
  expect(saved.json()).not.toHaveProperty('size');
  const whole = await get('films/one.mp4?alt=media&version=0');
  expect(whole).toMatchObject({ statusCode: 200, body: digits });
  expect(whole.headers).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': '10',
    'accept-ranges': 'bytes',
    'content-disposition': 'attachment; filename=one.mp4',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  expect(await get('films/one.mp4?alt=media')).toMatchObject({ body: '{"json": true}' });
  const part = await get('films/one.mp4/versions/0?alt=media', { range: 'bytes=2-4' });
  expect(part).toMatchObject({ statusCode: 206, body: '234' });
  expect(part.headers['content-range']).toBe('bytes 2-4/10');
  expect((await get('films/one.mp4?version=0&alt=media', { range: 'bytes=-3' })).body).toBe('789');
  expect((await get('films/one.mp4?version=0')).json()).toEqual({
    inlineData: { mimeType: 'video/mp4', data: Buffer.from(digits).toString('base64') },
  });
});

it('answers that nothing has changed, and what a range goes beyond', async () => {
  const { put, get } = await withArtifacts(files());
  await put('x', digits, 'text/plain');
  const { etag } = (await get('x?alt=media')).headers;

  expect(await get('x?alt=media', { 'if-none-match': `"other", ${String(etag)}` })).toMatchObject({
    statusCode: 304,
    body: '',
  });
  const beyond = await get('x?alt=media', { range: 'bytes=10-' });
  expect(beyond.statusCode).toBe(416);
  expect(beyond.headers['content-range']).toBe('bytes */10');
  expect(beyond.json()).toMatchObject({ code: 'invalid_range' });
  const stale = await get('x?alt=media', { range: 'bytes=0-1', 'if-range': '"other"' });
  expect(stale).toMatchObject({ statusCode: 200, body: digits });
  await put('x', digits, 'text/plain');
  expect((await get('x?alt=media', { 'if-none-match': etag })).statusCode).toBe(200);
});

it('knows neither the content of what is not there nor that of a reference', async () => {
  const { app, get, put } = await withArtifacts(files());
  const payload = { filename: 'link', artifact: { fileData: { fileUri: 'gs://bucket/cat' } } };
  await app.inject({ method: 'POST', url: list, payload });

  expect((await get('link?alt=media')).json()).toMatchObject({ code: 'artifact_not_found' });
  expect((await get('none?alt=media')).json()).toMatchObject({ code: 'artifact_not_found' });
  const missing = `${sessionPath('nobody')}/artifacts/x`;
  const lost = await app.inject({ method: 'PUT', url: missing, payload: 'x', headers: { 'content-type': 'a/b' } });
  expect(lost.json()).toMatchObject({ code: 'session_not_found' });
  expect((await put('..%2F..%2Fx', 'x', 'a/b')).statusCode).toBe(400);
});

it('refuses content beyond the limit, and keeps nothing of it', async () => {
  const { put, get } = await withArtifacts(files(), { artifactLimitBytes: 9 });

  expect((await put('x', digits, 'a/b')).json()).toMatchObject({ code: 'too_large', status: 413 });
  expect((await get('x?alt=media')).statusCode).toBe(404);
});

it('keeps nothing of content whose sender left', async () => {
  const folder = freshFolder();
  const { app } = await withArtifacts(new FileArtifacts(folder));
  const { port } = new URL(await listen(app));
  const upload = request({ port, method: 'PUT', path: `${list}/x`, headers: { 'content-type': 'a/b' } });
  upload.write(digits);
  setTimeout(() => upload.destroy(), 50);
  await expect(once(upload, 'response')).rejects.toThrow('socket hang up');

  await vi.waitFor(() => expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]));
  expect((await app.inject(list)).json()).toEqual([]);
});

it('streams content of more than memory should hold', async () => {
  const megabytes = 64;
  const { app } = await withArtifacts(files());
  const base = await listen(app);
  const { port } = new URL(base);
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const source = Readable.from(
    (function* () {
      for (let index = 0; index < megabytes; index += 1) yield chunk;
    })(),
  );
  const upload = request({ port, method: 'PUT', path: `${list}/big`, headers: { 'content-type': 'a/b' } });
  const answered = once(upload, 'response');
  source.pipe(upload);
  const [saved] = (await answered) as [Readable & { statusCode: number }];
  saved.resume();
  expect(saved.statusCode).toBe(200);

  const response = await fetch(`${base}${list}/big?alt=media`);
  let size = 0;
  for await (const piece of response.body ?? []) size += piece.length;

  expect(size).toBe(megabytes * chunk.length);
});

it.each([
  ["it's(1)*%25.txt", `attachment; filename="it's(1)*%25.txt"; filename*=UTF-8''it%27s%281%29%2A%2525.txt`],
  ['a "b";c.txt', 'attachment; filename="a \\"b\\";c.txt"'],
  ['über €.txt', 'attachment; filename="?ber ?.txt"; filename*=UTF-8\'\'%C3%BCber%20%E2%82%AC.txt'],
])('names the file %j as the standard has it', async (name, expected) => {
  const { app } = await server();
  await app.inject({ method: 'POST', url: sessionPath('s') });
  const url = `${sessionPath('s')}/artifacts/${encodeURIComponent(name)}`;
  await app.inject({ method: 'PUT', url, headers: { 'content-type': 'text/plain' }, payload: 'x' });

  expect((await app.inject(`${url}?alt=media`)).headers['content-disposition']).toBe(expected);
});
