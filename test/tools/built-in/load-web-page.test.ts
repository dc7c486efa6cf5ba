import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { isPublicAddress } from '../../../src/base/addresses.ts';
import { loadWebPage, type LoadWebPageOptions } from '../../../src/tools/built-in/load-web-page.ts';
import { toolContext } from '../contexts.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const load = (url: string, options: LoadWebPageOptions = {}, signal?: AbortSignal): unknown =>
  loadWebPage({ allowAddress: () => true, ...options }).run?.({ url }, toolContext(signal ? { signal } : {}));

const page = (type: string, body: string | Buffer, status = 200): RequestListener => {
  return (_request, response) => response.writeHead(status, { 'content-type': type }).end(body);
};

it('gives the text of a page without its machinery', async () => {
  const html = `<!doctype html><html><head><title>Tea &amp; more</title><style>p{}</style></head><body>
    <h1>Tea</h1><script>alert("x")</script><p>Black <b>or</b>
    green&nbsp;&lt;tea&gt;.</p><ul><li>one<li>two</ul><noscript>no</noscript></body></html>`;
  const url = await serve(page('text/html; charset=utf-8', html));

  expect(await load(url)).toEqual({
    url,
    status: 200,
    title: 'Tea & more',
    text: 'Tea\nBlack or green <tea>.\none\ntwo',
  });
});

it('reads the encoding a page names', async () => {
  const url = await serve(page('text/plain; charset="ISO-8859-1"', Buffer.from('Größe', 'latin1')));
  expect(await load(url)).toMatchObject({ text: 'Größe' });
});

it('cuts pages that are too long for it or for the model', async () => {
  const url = await serve(page('text/plain', 'x'.repeat(3000)));

  expect(await load(url, { maxCharacters: 10 })).toMatchObject({ text: 'x'.repeat(10), truncated: true });
  expect(await load(url, { maxBytes: 20 })).toMatchObject({ text: 'x'.repeat(20), truncated: true });
  expect(await load(url)).not.toHaveProperty('truncated');
});

it('stops reading a body that never ends', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  });

  expect(await load(url, { maxBytes: 50_000 })).toMatchObject({ truncated: true });
});

it('tells where a page has moved instead of going there', async () => {
  let visits = 0;
  const url = await serve((_request, response) => {
    visits += 1;
    response.writeHead(302, { location: '/elsewhere' }).end();
  });

  expect(await load(url)).toMatchObject({ status: 302, error: expect.stringContaining(`${url}/elsewhere`) as string });
  expect(visits).toBe(1);
});

it('reports failures of the server and content that is no text', async () => {
  expect(await load(await serve(page('text/plain', 'sorry', 404)))).toMatchObject({
    error: expect.stringContaining('404') as string,
    text: 'sorry',
  });
  expect(await load(await serve(page('image/png', 'x')))).toMatchObject({
    error: expect.stringContaining('image/png') as string,
  });
});

it('gives up on a server that does not answer, and when the run is cancelled', async () => {
  const url = await serve(() => {});

  await expect(load(url, { timeoutMs: 30 })).rejects.toMatchObject({ code: 'timed_out' });
  const cancel = new AbortController();
  const loading = load(url, {}, cancel.signal);
  cancel.abort(new Error('cancelled'));
  await expect(loading).rejects.toThrow('cancelled');
});

it('asks no server on this machine or its network, whatever it is called', async () => {
  let visits = 0;
  const url = await serve((_request, response) => {
    visits += 1;
    response.end();
  });
  const { port } = new URL(url);
  const options = { allowAddress: isPublicAddress };

  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '10.0.0.1',
  ]) {
    await expect(load(`http://${host}:${port}/`, options)).rejects.toMatchObject({ code: 'forbidden' });
  }
  expect(visits).toBe(0);
});

it('takes http and https addresses without credentials only', async () => {
  for (const url of ['file:///etc/passwd', 'ftp://example.com', 'data:text/plain,hi', 'not a url']) {
    expect(await load(url)).toHaveProperty('error');
  }
  await expect(load('http://user:pass@127.0.0.1/')).rejects.toMatchObject({ code: 'invalid_request' });
});

it('tells public addresses from all others', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1']) {
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
  }
  const others =
    '10.1.2.3 172.31.255.255 192.168.0.1 100.64.0.1 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 fe80::1 fd00::1 ff02::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:7f00:1:: 2001:db8::1 example.com';
  for (const address of others.split(' ')) {
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
  }
});
