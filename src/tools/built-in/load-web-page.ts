import { z } from 'zod';
import { lazily } from '../../base/lazily.ts';
import { checkTimeLimit } from '../../base/timers.ts';
import type { Tool } from '../../core/runtime.ts';
import { functionTool } from '../function-tool.ts';
import { withTimeLimit } from '../time-limit.ts';

export interface LoadWebPageOptions {
  /** Which IP addresses may be contacted; default: those of the public internet. */
  readonly allowAddress?: (address: string) => boolean;
  /** Default 30,000. */
  readonly timeoutMs?: number;
  /** Bytes read from a page; default 2,000,000. */
  readonly maxBytes?: number;
  /** Characters in the response to the model; default 50,000. */
  readonly maxCharacters?: number;
}

interface WebResponse {
  readonly status: number;
  /** Media type in lower case, without parameters. */
  readonly mediaType: string;
  readonly charset: string;
  readonly location: string | null;
  readonly body: Buffer;
  /** Whether `body` is only the start of the body. */
  readonly isCut: boolean;
}

const accept = 'text/html,text/plain,application/json,*/*;q=0.5';
const textTypes = /^text\/|^application\/(?:json|xml|javascript|yaml)$|\+(?:json|xml)$/;

/** Reads a page of the public web for the model, as text. Does not follow redirects: the response names their target. */
export function loadWebPage(options: LoadWebPageOptions = {}): Tool {
  const { allowAddress, timeoutMs = 30_000, maxBytes = 2_000_000, maxCharacters = 50_000 } = options;
  checkTimeLimit('timeoutMs of load_web_page', options.timeoutMs);
  const outbound = lazily(async () => (await import('../../base/outbound-fetch.ts')).outboundFetch({ allowAddress }));
  return functionTool({
    name: 'load_web_page',
    description: 'Reads a web page and gives its text.',
    parameters: z.object({ url: z.url({ protocol: /^https?$/ }).describe('The full http or https address') }),
    run: async ({ url }, ctx) => {
      const limit = { signal: ctx.signal, ms: timeoutMs, what: new URL(url).host };
      const response = await withTimeLimit(limit, async (signal) =>
        read(await (await outbound())(url, { signal, headers: { accept } }), maxBytes),
      );
      return pageOf(url, response, { maxCharacters, signal: ctx.signal });
    },
  });
}

async function read(response: Response, maxBytes: number): Promise<WebResponse> {
  const { status, headers } = response;
  const [mediaType = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.find((parameter) => parameter.trim().startsWith('charset='))?.split('=')[1] ?? 'utf-8';
  const chunks: Uint8Array[] = [];
  let size = 0;
  // `break` closes the connection.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return {
    status,
    mediaType: mediaType.trim(),
    charset: charset.trim().replaceAll('"', ''),
    location: headers.get('location'),
    body: Buffer.concat(chunks).subarray(0, maxBytes),
    isCut: size > maxBytes,
  };
}

interface Reading {
  readonly maxCharacters: number;
  readonly signal: AbortSignal;
}

async function pageOf(url: string, response: WebResponse, reading: Reading): Promise<object> {
  const { maxCharacters } = reading;
  const { status, mediaType, location } = response;
  if (status >= 300 && status < 400 && location !== null) {
    const target = URL.canParse(location, url) ? new URL(location, url).href : location;
    return { error: `The page has moved to ${target}. Load that address if it is what you need.`, status };
  }
  if (mediaType !== '' && mediaType !== 'application/xhtml+xml' && !textTypes.test(mediaType)) {
    return { error: `The address leads to ${mediaType}, which is not text.`, status };
  }
  const { title, text } = await readable(response, reading);
  const isCut = response.isCut || text.length > maxCharacters;
  return {
    ...(status >= 400 && { error: `The server answered ${status}.` }),
    url,
    status,
    ...(title !== '' && { title }),
    text: text.slice(0, maxCharacters).toWellFormed(),
    ...(isCut && { truncated: true }),
  };
}

async function readable(
  { mediaType, charset, body }: WebResponse,
  { maxCharacters, signal }: Reading,
): Promise<{ title: string; text: string }> {
  const source = decode(body, charset);
  if (mediaType !== 'text/html' && mediaType !== 'application/xhtml+xml') return { title: '', text: source };
  const { htmlText } = await import('./html-text.ts');
  return htmlText(source, maxCharacters, signal);
}

function decode(body: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // An unknown encoding: decoding it as UTF-8 keeps at least the ASCII characters.
    return new TextDecoder().decode(body);
  }
}
