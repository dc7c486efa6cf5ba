import { connect, type Socket } from 'node:net';
import { type Answer, parseOrUndefined } from '../wire/client.ts';

/** An open connection on which a test writes bytes by hand, as no HTTP library would. */
export interface RawConnection {
  readonly socket: Socket;
  write(bytes: string | Buffer): void;
  /** Everything received so far. */
  received(): string;
  /** Resolves once `test` holds for what was received; rejects when the server closes first. */
  until(test: (received: string) => boolean): Promise<string>;
  /** Resolves with everything received once the server has closed the connection. */
  closed(): Promise<string>;
  destroy(): void;
}

/** Opens a TCP connection to the server at `baseUrl`. */
export async function openRaw(baseUrl: string): Promise<RawConnection> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  const watchers = new Set<() => void>();
  let text = '';
  let isClosed = false;
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  // One character per byte, so that chunk sizes can be counted; parseResponse decodes the body.
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    notify();
  });
  // A reset is one of the ways a server may end a bad connection; `close` follows it.
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    notify();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });

  const when = (test: () => boolean, endsOnClose: boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (test()) resolve(text);
        else if (isClosed && endsOnClose) reject(new Error(`The server closed the connection after: ${text}`));
        else return;
        watchers.delete(check);
      };
      watchers.add(check);
      check();
    });

  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    received: () => text,
    until: (test) => when(() => test(text), true),
    closed: () => when(() => isClosed, false),
    destroy: () => void socket.destroy(),
  };
}

/** The text of one HTTP/1.1 request. `headers` replaces the defaults by name; an empty value leaves one out. */
export function requestText(
  method: string,
  target: string,
  options: { host: string; headers?: Record<string, string>; body?: string },
): string {
  const { host, body } = options;
  const headers: Record<string, string> = { host, connection: 'close', ...options.headers };
  if (body !== undefined) {
    headers['content-type'] ??= 'application/json';
    headers['content-length'] ??= String(Buffer.byteLength(body));
  }
  const lines = Object.entries(headers)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Sends one request byte for byte (no path normalisation, any Host or Origin) and reads the whole answer. */
export async function sendRaw(
  baseUrl: string,
  method: string,
  target: string,
  options: { headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const connection = await openRaw(baseUrl);
  try {
    connection.write(requestText(method, target, { host: new URL(baseUrl).host, ...options }));
    return parseResponse(await connection.closed());
  } finally {
    connection.destroy();
  }
}

/** Splits one complete response; a chunked body is put together. */
export function parseResponse(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) throw new Error(`No complete HTTP response in: ${JSON.stringify(text.slice(0, 200))}`);
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const rest = text.slice(end + 4);
  const body = headers.get('transfer-encoding') === 'chunked' ? unchunk(rest) : rest;
  const decoded = Buffer.from(body, 'latin1').toString();
  return { status: Number(statusLine.split(' ')[1]), headers, text: decoded, json: parseOrUndefined(decoded) };
}

function unchunk(text: string): string {
  let body = '';
  let at = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return body;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(size > 0)) return body;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}
