import { describe, expect, it } from 'vitest';
import { noBrowser, openPage } from './browser.ts';
import { createSession, serve } from './served.ts';

const model = (text: string): object => ({ author: 'slow', content: { role: 'model', parts: [{ text }] } });
const image = (mimeType: string, text: string): object => ({
  author: 'slow',
  content: { role: 'model', parts: [{ inlineData: { mimeType, data: Buffer.from(text).toString('base64') } }] },
});

const evil = 'https://evil.example';
const attacks = [
  `<script>window.hit = 1</script><img src=x onerror="window.hit = 2"><iframe src="${evil}/frame"></iframe>`,
  `[click](javascript:window.hit=3) ![pixel](${evil}/pixel.png) <img src="${evil}/a.png"> <video src="${evil}/v.mp4">`,
  `<svg onload="window.hit=4"><style>body{display:none}</style><a xlink:href="javascript:window.hit=5">x</a></svg>`,
  `<div style="position:fixed;inset:0;background:url(${evil}/b.png)">cover</div><form action="${evil}"><button>Send</button></form>`,
  `<a href="data:text/html,<script>1</script>">data</a> <base href="${evil}/"> <link rel=stylesheet href="${evil}/c.css">`,
  '| a |\n|---|\n| <b onclick="window.hit=6">b</b> |',
];

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 90_000 }, () => {
  it('neither runs nor fetches content of models, tools and users', async () => {
    const server = await serve();
    const call = { id: 'c', name: attacks[0], args: { [attacks[1]!]: attacks[2] } };
    const address = await createSession(server, 'slow', {
      sessionId: '"><img src=x onerror=alert(1)>',
      state: { __session_metadata__: { displayName: attacks[0] }, [attacks[3]!]: attacks[4] },
      events: [
        ...attacks.map((text) => ({ content: { role: 'user', parts: [{ text }] } })),
        ...attacks.map(model),
        { author: 'slow', content: { role: 'model', parts: [{ functionCall: call }] } },
        {
          author: 'slow',
          content: {
            role: 'user',
            parts: [{ functionResponse: { id: 'c', name: attacks[0], response: { x: attacks[0] } } }],
          },
        },
        image(
          'image/svg+xml',
          `<svg xmlns="http://www.w3.org/2000/svg" onload="window.hit=7"><image href="${evil}/i.png"/></svg>`,
        ),
        image('text/html', attacks[0]!),
        { author: attacks[0], errorCode: attacks[0], errorMessage: attacks[1] },
      ],
    });
    const { page } = await openPage('about:blank');
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url()));

    await page.goto(address);
    await page.getByRole('feed').waitFor();
    for (let step = 0; step < 8; step += 1) {
      await page.locator('.stream').evaluate((stream) => stream.scrollBy(0, -300));
      await page.waitForTimeout(50);
    }
    await page.getByText('Image not loaded: pixel').first().waitFor();
    for (const tab of ['overview', 'raw', 'state']) await page.goto(`${address}?e=event-12&t=${tab}`);

    expect(await page.evaluate('window.hit')).toBeUndefined();
    const own = new URL(server.url).host;
    expect(asked.filter((url) => !/^(?:data|blob|about):/.test(url) && new URL(url).host !== own)).toEqual([]);
    expect(await page.locator('.stream iframe, .stream form, .stream script, .stream style').count()).toBe(0);
  });

  it('stays quick and inside its frame with long lines, right-to-left text and thousands of tools', async () => {
    const server = await serve();
    const long = 'x'.repeat(1_000_000);
    const tools = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [`tool_${index}`, { type: 'object' }]),
    );
    const address = await createSession(server, 'slow', {
      sessionId: 's"1%2F',
      events: [
        { content: { role: 'user', parts: [{ text: long }] } },
        model(`${'word '.repeat(5_000)}\n\n${'y'.repeat(100_000)}`),
        model('שלום **עולם** مرحبا بالعالم \u202Eevil\u202C'),
        {
          author: 'slow',
          content: {
            role: 'model',
            parts: [{ functionCall: { id: 'c', name: 'n'.repeat(300), args: { long, tools } } }],
          },
        },
        { author: 'a'.repeat(300), content: { role: 'model', parts: [{ text: 'the end' }] } },
      ],
    });
    const { page, faults } = await openPage(address);
    await page.getByText('the end').waitFor();

    const width = (): Promise<unknown> => page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    const [wide, window] = (await width()) as [number, number];
    expect(wide).toBeLessThanOrEqual(window);
    await page.goto(`${address}?e=event-3&t=raw`);
    await page.getByRole('treeitem', { name: /^author/ }).waitFor();
    expect(await page.locator('*').count()).toBeLessThan(3_000);
    await page.setViewportSize({ width: 400, height: 800 });
    await page.goto(address);
    await page.getByText('the end').waitFor();
    const [narrow, phone] = (await width()) as [number, number];
    expect(narrow).toBeLessThanOrEqual(phone);
    expect(faults).toEqual([]);
  });

  it('works below the path prefix of a proxy', async () => {
    const server = await serve();
    await createSession(server, 'slow', { sessionId: 's1', events: [model('An old answer')] });
    const { page, faults } = await openPage('about:blank');
    await page.route('**/some/prefix/**', async (route) => {
      const url = route.request().url().replace('/some/prefix', '');
      await route.fulfill({ response: await route.fetch({ url }) });
    });

    await page.goto(`${server.url}/some/prefix/dev-ui/?app=slow&userId=user&session=s1`);

    await page.getByText('An old answer').waitFor();
    expect(new URL(page.url()).pathname).toBe('/some/prefix/dev-ui/apps/slow/u/user/s/s1');
    await page.reload();
    await page.getByText('An old answer').waitFor();
    expect(faults).toEqual([]);
    await page.unrouteAll({ behavior: 'wait' }); // parts of the page may still be loading
  });
});
