import { lookup } from 'node:dns';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { AppError } from '../base/errors.ts';
import { withTimeLimit } from './time-limit.ts';

export interface WebResponse {
  readonly status: number;
  /** Media type in lower case, without parameters. */
  readonly mediaType: string;
  readonly charset: string;
  readonly location?: string;
  readonly body: Buffer;
  /** Whether the body was longer than what is here. */
  readonly isCut: boolean;
}

export interface WebRequestLimits {
  /** Whether a server at this IP address may be asked. */
  readonly allowAddress: (address: string) => boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Gets an http(s) address once, following no redirect. The address that is checked is the one that is connected to, so
 * a name cannot change its meaning in between. Throws AppError, or the signal's reason.
 */
export async function webGet(url: URL, limits: WebRequestLimits, signal: AbortSignal): Promise<WebResponse> {
  checkUrl(url, limits.allowAddress);
  const { allowAddress, timeoutMs, maxBytes } = limits;
  return withTimeLimit({ signal, ms: timeoutMs, what: url.host }, async (limited) =>
    read(await send(url, allowAddress, limited), maxBytes),
  );
}

function checkUrl(url: URL, allowAddress: (address: string) => boolean): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AppError('invalid_request', `Only http and https addresses can be read, not "${url.protocol}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new AppError('invalid_request', 'An address with a user name or password cannot be read');
  }
  // Literal addresses are not looked up, so the lookup below never sees them.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !allowAddress(host)) throw privateAddress(url.hostname);
}

const privateAddress = (host: string): AppError => new AppError('forbidden', `"${host}" is not on the public internet`);

function send(url: URL, allowAddress: (address: string) => boolean, signal: AbortSignal): Promise<IncomingMessage> {
  const guarded: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error(`No address for ${hostname}`), []);
      if (!addresses.every(({ address }) => allowAddress(address))) return callback(privateAddress(hostname), []);
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      agent: false,
      lookup: guarded,
      signal,
      headers: {
        accept: 'text/html,text/plain,application/json,*/*;q=0.5',
        'accept-encoding': 'identity',
        'user-agent': 'agent-server',
      },
    });
    request.once('response', resolve);
    request.on('error', reject);
    request.end();
  });
}

async function read(response: IncomingMessage, maxBytes: number): Promise<WebResponse> {
  const [mediaType = '', ...parameters] = (response.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.find((parameter) => parameter.trim().startsWith('charset='))?.split('=')[1] ?? 'utf-8';
  const { location } = response.headers;
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop destroys the response and with it the connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return {
    status: response.statusCode ?? 0,
    mediaType: mediaType.trim(),
    charset: charset.trim().replaceAll('"', ''),
    ...(location !== undefined && { location }),
    body: Buffer.concat(chunks).subarray(0, maxBytes),
    isCut: size > maxBytes,
  };
}
