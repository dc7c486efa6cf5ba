import { createHash } from 'node:crypto';

/** The policy of the server's own pages: they may load from and connect to this server only. */
const strict: Readonly<Record<string, readonly string[]>> = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:', 'blob:'],
  'media-src': ["'self'", 'data:', 'blob:'],
  'font-src': ["'self'"],
  'connect-src': ["'self'"],
  'worker-src': ["'self'"],
  'base-uri': ["'self'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** Security headers of a page with this HTML. They allow its inline scripts and styles by their hashes. */
export function pageSecurityHeaders(html: string): Record<string, string> {
  return headersFor({
    ...strict,
    'script-src': ["'self'", ...hashesOf(html, /<script>([^]*?)<\/script>/g)],
    'style-src': ["'self'", ...hashesOf(html, /<style>([^]*?)<\/style>/g)],
  });
}

/**
 * Security headers of a third-party web UI such as ADK's: they also allow inline styles, Google fonts, WebAssembly (for
 * its graphs) and the event handlers in its first page, but no other scripts.
 */
export function foreignPageSecurityHeaders(html: string): Record<string, string> {
  const handlers = hashesOf(html, /\son\w+="([^"]*)"/g);
  return headersFor({
    ...strict,
    'script-src': [
      "'self'",
      "'wasm-unsafe-eval'",
      ...hashesOf(html, /<script>([^]*?)<\/script>/g),
      ...(handlers.length > 0 ? ["'unsafe-hashes'", ...handlers] : []),
    ],
    'style-src': ["'self'", "'unsafe-inline'", 'https://fonts.googleapis.com'],
    'font-src': ["'self'", 'data:', 'https://fonts.gstatic.com'],
    'worker-src': ["'self'", 'blob:'],
  });
}

function headersFor(policy: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, sources]) => `${directive} ${sources.join(' ')}`)
      .join('; '),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
  };
}

function hashesOf(html: string, pattern: RegExp): string[] {
  const texts = new Set([...html.matchAll(pattern)].map((match) => match[1] ?? ''));
  return [...texts].map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
}
