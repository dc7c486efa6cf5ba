import { lookup } from 'node:dns';
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.ts';
import { AppError } from './errors.ts';

/** Which hosts a fetch may contact, and how much it reads from them. */
export interface OutboundOptions {
  /**
   * URLs that the author configured. Their hosts and ports may be on this machine or its network; every other host must
   * be on the public internet.
   */
  readonly named?: readonly (string | URL | undefined)[];
  /** Which IP addresses other hosts may have. Default: those of the public internet. */
  readonly allowAddress?: (address: string) => boolean;
  /** Longest body, in bytes. */
  readonly maxBytes?: number;
  /** Longest line of a body, in bytes: for streams of messages, which have no end. */
  readonly maxLineBytes?: number;
}

export interface OutboundInit extends Omit<RequestInit, 'signal'> {
  readonly signal: AbortSignal;
  /** Called once the response has been read to its end or dropped. */
  readonly onClose?: () => void;
}

/** Throws `forbidden` for a host that is not allowed, TypeError when the network fails, or the signal's reason. */
export type OutboundFetch = (url: string | URL, init: OutboundInit) => Promise<Response>;

/** Closes idle connections before most servers do (5 s). */
const idleMs = 4_000;

/**
 * The only way out of this server for URLs from tools, agents, documents and users (SSRF guard). It connects to the same
 * IP address that it checked, so that DNS rebinding fails. It returns redirects and does not follow them. It asks for
 * bodies without compression, so that no body grows when it is unpacked.
 */
export function outboundFetch(options: OutboundOptions = {}): OutboundFetch {
  const { named = [], allowAddress = isPublicAddress } = options;
  const places = new Set(named.flatMap((address) => placeOf(address) ?? []));
  const guarded = guardedLookup(allowAddress);
  // Connections are not shared with fetches that have other rules.
  const http = { agent: new HttpAgent({ keepAlive: true, timeout: idleMs }), request: httpRequest };
  const https = { agent: new HttpsAgent({ keepAlive: true, timeout: idleMs }), request: httpsRequest };
  return async (address, init) => {
    const { signal, onClose, ...rest } = init;
    const url = new URL(address);
    checkUrl(url);
    const isNamed = places.has(placeOf(url) ?? '');
    // Node does not look up an IP address in a URL, so `guardedLookup` never sees it.
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (!isNamed && isIP(host) !== 0 && !allowAddress(host)) throw notPublic(url.hostname);
    const wanted = new Request(url.href, rest);
    const body = init.body === undefined || init.body === null ? undefined : Buffer.from(await wanted.arrayBuffer());
    signal.throwIfAborted();
    const { request, agent } = url.protocol === 'https:' ? https : http;
    const headers: Record<string, string> = {
      accept: '*/*',
      'user-agent': 'agent-server',
      ...Object.fromEntries(wanted.headers),
      'accept-encoding': 'identity',
      ...(body && { 'content-length': String(body.length) }),
    };
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      const { method } = wanted;
      request(url, { agent, method, headers, signal, ...(!isNamed && { lookup: guarded }) })
        .once('response', resolve)
        .on('error', reject)
        .end(body);
    });
    try {
      return responseOf(await answered, options, { signal, onClose });
    } catch (error) {
      throw failure(error, signal);
    }
  };
}

/** Host and port. */
function placeOf(address: string | URL | undefined): string | undefined {
  const url = address === undefined ? null : URL.parse(String(address));
  if (!url || url.hostname === '') return undefined;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}

function checkUrl(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AppError('invalid_request', `Only http and https URLs can be read, not "${url.protocol}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new AppError('invalid_request', 'A URL with a user name or password cannot be read');
  }
}

const notPublic = (host: string): AppError => new AppError('forbidden', `"${host}" is not on the public internet`);

/** Rejects a host name if any of its addresses is not allowed. */
const guardedLookup =
  (allowAddress: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error(`No address for ${hostname}`), []);
      if (!addresses.every(({ address }) => allowAddress(address))) return callback(notPublic(hostname), []);
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };

/** The error as `fetch` would throw it, with the reason as its cause. */
function failure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return error instanceof AppError ? error : new TypeError('fetch failed', { cause: error });
}

const withoutBody = new Set([204, 205, 304]);

type Limits = Pick<OutboundOptions, 'maxBytes' | 'maxLineBytes'>;
type Reader = Pick<OutboundInit, 'signal' | 'onClose'>;

function responseOf(message: IncomingMessage, limits: Limits, reader: Reader): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = message;
  const encoding = message.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' || status < 200) {
    message.destroy();
    throw new Error(
      status < 200 ? `Status ${status}` : `The body is encoded as "${encoding}", which was not asked for`,
    );
  }
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  if (!withoutBody.has(status)) return new Response(bodyOf(message, limits, reader), { status, statusText, headers });
  message.resume();
  reader.onClose?.();
  return new Response(null, { status, statusText, headers });
}

const newline = 10;

/** The body as a stream. A body that is too long fails the stream and closes the connection. */
function bodyOf(message: IncomingMessage, limits: Limits, { signal, onClose }: Reader): ReadableStream<Uint8Array> {
  const { maxBytes = Infinity, maxLineBytes = Infinity } = limits;
  const chunks = message.iterator({ destroyOnReturn: true }) as AsyncIterator<Buffer>;
  let size = 0;
  let line = 0;
  const close = (): void => {
    message.destroy();
    onClose?.();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done) {
            close();
            controller.close();
            return;
          }
          const last = value.lastIndexOf(newline);
          line = last < 0 ? line + value.length : value.length - last - 1;
          size += value.length;
          if (size > maxBytes) throw new RangeError(`The answer is longer than ${maxBytes} bytes`);
          if (line > maxLineBytes) throw new RangeError(`The message is longer than ${maxLineBytes} bytes`);
          controller.enqueue(value);
        } catch (error) {
          close();
          if (signal.aborted) controller.error(signal.reason);
          else controller.error(error instanceof RangeError ? error : new TypeError('terminated', { cause: error }));
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}
