import { lookup } from 'node:dns';
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.ts';
import { AppError } from './errors.ts';

/** Whom a fetch may ask, and how much it takes from them. */
export interface OutboundOptions {
  /**
   * Addresses that the author wrote down. Their hosts, at these ports, may be on this machine or its network; every
   * other host has to be on the public internet, whoever named it.
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
  /** Called once the answer has been read, or nobody reads it any more. */
  readonly onClose?: () => void;
}

/** Throws `forbidden` for a host that may not be asked, TypeError when the network fails, or the signal's reason. */
export type OutboundFetch = (url: string | URL, init: OutboundInit) => Promise<Response>;

/** Idle connections go before most servers drop them (5 s). */
const idleMs = 4_000;

/**
 * The way out of this server for addresses that tools, agents, documents and users name. The address that is checked is
 * the one that is connected to, so that a name cannot change its meaning in between. Redirects are answers like others:
 * nobody is followed. Bodies come as they are, so nothing grows by being unpacked.
 */
export function outboundFetch(options: OutboundOptions = {}): OutboundFetch {
  const { named = [], allowAddress = isPublicAddress } = options;
  const places = new Set(named.flatMap((address) => placeOf(address) ?? []));
  const guarded = guardedLookup(allowAddress);
  // Connections are not shared with fetches that may ask others.
  const http = { agent: new HttpAgent({ keepAlive: true, timeout: idleMs }), request: httpRequest };
  const https = { agent: new HttpsAgent({ keepAlive: true, timeout: idleMs }), request: httpsRequest };
  return async (address, init) => {
    const { signal, onClose, ...rest } = init;
    const url = new URL(address);
    checkUrl(url);
    const isNamed = places.has(placeOf(url) ?? '');
    // Addresses that are written as such are not looked up, so the lookup never sees them.
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
    throw new AppError('invalid_request', `Only http and https addresses can be read, not "${url.protocol}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new AppError('invalid_request', 'An address with a user name or password cannot be read');
  }
}

const notPublic = (host: string): AppError => new AppError('forbidden', `"${host}" is not on the public internet`);

/** Refuses a name as soon as one of its addresses may not be asked. */
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

/** What failed: as fetch tells it, with the reason as its cause. */
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

/** The body as it comes; one that is too long fails and ends the connection. */
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
