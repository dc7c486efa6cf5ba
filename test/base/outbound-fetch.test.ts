import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { isLoopback, isPublicAddress } from '../../src/base/addresses.ts';
import { outboundFetch } from '../../src/base/outbound-fetch.ts';
import { silentServer } from '../support/silent-server.ts';

const { signal } = new AbortController();

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('asks a host of this machine only where the author named it, port included', async () => {
  const url = await serve((_request, response) => response.end('hello'));
  const other = await silentServer();
  const outbound = outboundFetch({ named: [`${url}/api`] });

  expect(await (await outbound(`${url}/other`, { signal })).text()).toBe('hello');
  await expect(outbound(other.url, { signal })).rejects.toMatchObject({ code: 'forbidden' });
  expect(other.connections).toBe(0);
});

it.each([
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fc00::1]',
  '[fe80::1]',
  '169.254.169.254',
  '10.0.0.1',
  '192.168.1.1',
  '172.16.0.1',
  '100.64.0.1',
  'localhost',
  'app.localhost',
  'LOCALHOST.',
])('asks nobody at %s', async (host) => {
  const { port } = await silentServer();

  const asked = outboundFetch()(`http://${host}:${port}/`, { signal });

  await expect(asked).rejects.toThrow(/is not on the public internet|fetch failed/);
});

it('checks the addresses a name has, and connects to what it checked', async () => {
  const target = await silentServer();
  const seen: string[] = [];
  const allowAddress = (address: string): boolean => {
    seen.push(address);
    return false;
  };

  const asked = outboundFetch({ allowAddress })(`http://localhost:${target.port}/`, { signal });

  await expect(asked).rejects.toMatchObject({
    code: 'forbidden',
    message: '"localhost" is not on the public internet',
  });
  expect(seen.length).toBeGreaterThan(0);
  expect(target.connections).toBe(0);
});

it('follows no redirect', async () => {
  const target = await silentServer();
  const url = await serve((_request, response) => response.writeHead(307, { location: target.url }).end());

  const response = await outboundFetch({ named: [url, target.url] })(url, { signal, method: 'POST', body: 'x' });

  expect([response.status, response.headers.get('location')]).toEqual([307, target.url]);
  expect(target.connections).toBe(0);
});

it('sends headers and bodies as fetch does', async () => {
  const url = await serve((request, response) => {
    const { method, headers } = request;
    const { 'content-type': type, 'content-length': length, 'x-own': own } = headers;
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    void text(request).then((body) => response.end(JSON.stringify({ method, type, length, own, body })));
  });
  const outbound = outboundFetch({ named: [url] });

  const form = await outbound(url, {
    signal,
    method: 'POST',
    headers: { 'X-Own': '1' },
    body: new URLSearchParams({ a: 'ä' }),
  });
  const plain = await outbound(url, { signal, method: 'PUT', body: new Uint8Array([104, 105]) });

  expect(form.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await form.json()).toEqual({
    method: 'POST',
    type: 'application/x-www-form-urlencoded;charset=UTF-8',
    length: '8',
    own: '1',
    body: 'a=%C3%A4',
  });
  expect(await plain.json()).toMatchObject({ method: 'PUT', body: 'hi', length: '2' });
});

it('takes no body and no line that is too long, and nothing that is packed', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/packed') response.setHeader('content-encoding', 'gzip');
    response.end(request.url === '/lines' ? 'line\n'.repeat(100) : 'x'.repeat(100));
  });
  const outbound = outboundFetch({ named: [url], maxLineBytes: 50 });

  expect(await (await outbound(`${url}/lines`, { signal })).text()).toHaveLength(500);
  await expect((await outbound(`${url}/long`, { signal })).text()).rejects.toThrow('longer than 50 bytes');
  const whole = await outboundFetch({ named: [url], maxBytes: 99 })(`${url}/lines`, { signal });
  await expect(whole.text()).rejects.toThrow('longer than 99 bytes');
  await expect(outbound(`${url}/packed`, { signal })).rejects.toThrow('fetch failed');
});

it('ends with its signal, before the answer and within it', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/begin') response.write('begin');
  });
  const outbound = outboundFetch({ named: [url] });
  const [before, within] = [new AbortController(), new AbortController()];
  const closed: string[] = [];

  const waiting = outbound(`${url}/never`, { signal: before.signal });
  const begun = await outbound(`${url}/begin`, { signal: within.signal, onClose: () => closed.push('begun') });
  before.abort(new Error('enough'));
  const reading = begun.text();
  within.abort(new Error('enough of it'));

  await expect(waiting).rejects.toThrow('enough');
  await expect(reading).rejects.toThrow('enough of it');
  expect(closed).toEqual(['begun']);
});

it('tells why the network failed', async () => {
  const failed = outboundFetch({ named: ['http://127.0.0.1:1'] })('http://127.0.0.1:1', { signal });

  await expect(failed).rejects.toMatchObject({
    name: 'TypeError',
    message: 'fetch failed',
    cause: { code: 'ECONNREFUSED' },
  });
  await expect(outboundFetch()('file:///etc/passwd', { signal })).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(outboundFetch()('http://a:b@example.com', { signal })).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

it('knows the names and addresses of this machine', () => {
  const loopback = ['localhost', 'LocalHost', 'a.localhost', '127.0.0.1', '127.9.9.9', '::1', '[::1]'];
  const others = ['127.0.0.1.nip.io', 'localhost.com', '0.0.0.0', '10.0.0.1', '127.1.evil.com', '::2', ''];

  expect(loopback.filter((host) => !isLoopback(host))).toEqual([]);
  expect(others.filter(isLoopback)).toEqual([]);
  expect(['1.1.1.1', '2606:4700::1'].every(isPublicAddress)).toBe(true);
});
