import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { server } from '../server.ts';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'http-dev-ui-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

it.each(['/', '/dev-ui', '/?app=demo', '/dev-ui?app=demo'])('leads from %s to the user interface', async (url) => {
  const { app } = await server();

  const answer = await app.inject(url);

  expect(answer.statusCode).toBe(307);
  const target = new URL(String(answer.headers.location), `http://localhost/prefix${url}`);
  expect(target.pathname.replace('/prefix', '') + target.search).toBe(
    url.includes('?') ? '/dev-ui/?app=demo' : '/dev-ui/',
  );
});

it('serves our page under a policy without inline code', async () => {
  const { app } = await server();

  const page = await app.inject('/dev-ui/');
  const [, script = ''] = /src="\.\/(assets\/index-[^"]+\.js)"/.exec(page.body) ?? [];

  expect(page.statusCode).toBe(200);
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cache-control': 'no-cache',
    etag: expect.any(String),
  });
  expect(page.headers['content-security-policy']).not.toMatch(/unsafe/);
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  const code = await app.inject({ url: `/dev-ui/${script}`, headers: { 'accept-encoding': 'gzip, br' } });
  expect(code.headers).toMatchObject({
    'content-type': expect.stringMatching(/^(?:text|application)\/javascript/),
    'content-encoding': 'br',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: expect.stringMatching(/accept-encoding/i),
  });
  const again = await app.inject({ url: '/dev-ui/', headers: { 'if-none-match': String(page.headers.etag) } });
  expect(again.statusCode).toBe(304);
});

it.each([
  ['/dev-ui/', './'],
  ['/dev-ui/settings', './'],
  ['/dev-ui/apps/demo', '../'],
  ['/dev-ui/apps/a%2Fb/u/me/s/1.5?e=x', '../../../../../'],
])('serves the page at %s with a base that leads back', async (url, base) => {
  const { app } = await server();

  const page = await app.inject(url);

  expect(page.statusCode).toBe(200);
  expect(page.body).toContain(`<base href="${base}" />`);
});

it('tells the user interface where its server is', async () => {
  const { app } = await server();

  const answer = await app.inject('/dev-ui/assets/config/runtime-config.json');

  expect(answer.json()).toEqual({ backendUrl: '', telemetry: false });
});

it('serves another user interface, letting its own handlers, styles and WebAssembly through', async () => {
  const html = `<link rel="stylesheet" href="x.css" onload="this.media='all'"><style>a{}</style><script src="x.js"></script>`;
  const devUiDir = folderWith({ 'index.html': html, 'x.js': '1', '.secret': 'no' });
  const { app } = await server({ config: { devUiDir } });

  const page = await app.inject('/dev-ui/?app=demo');
  const policy = String(page.headers['content-security-policy']);

  expect(page.body).toBe(html);
  expect(policy).toContain(
    "script-src 'self' 'wasm-unsafe-eval' 'unsafe-hashes' 'sha256-MhtPZXr7+LpJUY5qtMutB+qWfQtMaPccfe7QXtCcEYc=';",
  );
  expect(policy).toContain("style-src 'self' 'unsafe-inline'");
  expect((await app.inject('/dev-ui/.secret')).statusCode).toBe(404);
});

it('lets a sign-in window that comes back talk to the page of another user interface that opened it', async () => {
  const { app } = await server({ config: { devUiDir: folderWith({ 'index.html': '<p>' }) } });
  const policyOf = async (url: string) => (await app.inject(url)).headers['cross-origin-opener-policy'];

  expect(await policyOf('/dev-ui/?app=demo')).toBe('same-origin-allow-popups');
  expect(await policyOf('/dev-ui/?code=c&state=s')).toBeUndefined();
  expect(await policyOf('/dev-ui/?error=access_denied&state=s')).toBeUndefined();
});

it.each(['/dev-ui/nope.js', '/dev-ui/../package.json', '/dev-ui/%2e%2e/package.json', '/dev-ui/..%2fpackage.json'])(
  'has no file at %s',
  async (url) => {
    const { app } = await server();

    const answer = await app.inject(url);

    expect(answer.statusCode).toBeGreaterThanOrEqual(400);
    expect(answer.statusCode).toBeLessThan(500);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  },
);

it('runs without a user interface when the folder holds none', async () => {
  const { app, logged } = await server({ config: { devUiDir: folderWith({}) } });

  expect((await app.inject('/dev-ui/')).statusCode).toBe(404);
  expect((await app.inject('/list-apps')).statusCode).toBe(200);
  expect(logged).toMatchObject([{ level: 'warn' }]);
});
