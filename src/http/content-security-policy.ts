import { createHash } from 'node:crypto';

/** What a page of ours may do: nothing but load from, and talk to, this server. */
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

/** Headers of a page with this HTML: its own inline scripts and styles are let through by their hashes. */
export function pageSecurityHeaders(html: string): Record<string, string> {
  return headersFor({
    ...strict,
    'script-src': ["'self'", ...hashesOf(html, /<script>([^]*?)<\/script>/g)],
    'style-src': ["'self'", ...hashesOf(html, /<style>([^]*?)<\/style>/g)],
  });
}

/**
 * Headers of a user interface that somebody else built, such as ADK's: it may style inline, load the fonts it names
 * and compile WebAssembly (its graphs), and the event handlers in its first page work. It still runs no other script.
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
