import { existsSync } from 'node:fs';
import { type BrowserServer, chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** The program; `undefined` when there is none. */
export const executablePath = [process.env['CHROMIUM'] ?? '', ...places].find((path) => existsSync(path));

export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-sync',
];

/** A browser that others connect to. */
export const startChromium = (): Promise<BrowserServer> =>
  chromium.launchServer({ ...(executablePath && { executablePath }), args: chromiumFlags });
