import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  /** Body bytes after the transfer encoding is taken off. */
  readonly bytes: number;
  /** Blank-line-terminated frames in the body: for an event stream, its events. */
  readonly frames: number;
  /** The first bytes of the body, enough to say what went wrong. */
  readonly start: string;
}

const NEWLINE = 10;

/**
 * One keep-alive HTTP/1.1 connection that sends prepared bytes and counts what comes back. It understands just what
 * the measured servers answer (a content length or chunks), so that the client is cheaper than the servers it measures.
 */
export class Connection {
  readonly #socket: Socket;
  #head = '';
  #line = '';
  #mode: 'head' | 'body' | 'size' | 'chunk' | 'trailer' = 'head';
  #remaining = 0;
  #status = 0;
  #bytes = 0;
  #frames = 0;
  #start = '';
  #lastByte = 0;
  #pending: PromiseWithResolvers<Reply> | undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (bytes) => this.#read(bytes));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('The server closed the connection')));
  }

  /** Sends one whole request and resolves when its answer has been read to the end. */
  send(request: Buffer): Promise<Reply> {
    this.#pending = Promise.withResolvers<Reply>();
    this.#socket.write(request);
    return this.#pending.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#mode === 'head') at = this.#readHead(bytes, at);
      else if (this.#mode === 'size' || this.#mode === 'trailer') at = this.#readLine(bytes, at);
      else at = this.#readBody(bytes, at);
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = this.#head === '' ? bytes.indexOf('\r\n\r\n', at) : -1;
    if (end >= 0) {
      this.#startBody(bytes.toString('latin1', at, end));
      return end + 4;
    }
    // The head came in pieces, and its blank line may be cut in two: look for it in the joined text.
    const joined = this.#head + bytes.toString('latin1', at);
    const blank = joined.indexOf('\r\n\r\n');
    this.#head = blank < 0 ? joined : '';
    if (blank < 0) return bytes.length;
    this.#startBody(joined.slice(0, blank));
    return bytes.length - (joined.length - blank - 4);
  }

  #startBody(head: string): void {
    this.#status = Number(head.slice(9, 12));
    this.#bytes = 0;
    this.#frames = 0;
    this.#start = '';
    this.#lastByte = 0;
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      if (!/\r\ntransfer-encoding: *chunked/i.test(head)) {
        throw new Error(`An answer has neither a length nor chunks: ${head}`);
      }
      this.#mode = 'size';
      return;
    }
    this.#remaining = Number(length);
    if (this.#remaining === 0) this.#finish();
    else this.#mode = 'body';
  }

  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(NEWLINE, at);
    this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end);
    if (end < 0) return bytes.length;
    const line = this.#line.trim();
    this.#line = '';
    if (this.#mode === 'trailer') {
      if (line === '') this.#finish();
    } else {
      this.#remaining = Number.parseInt(line, 16);
      this.#mode = this.#remaining === 0 ? 'trailer' : 'chunk';
      if (this.#remaining > 0) this.#remaining += 2; // the line end that closes a chunk
    }
    return end + 1;
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= end - at;
    if (this.#mode === 'body') {
      this.#count(bytes, at, end);
      if (this.#remaining === 0) this.#finish();
      return end;
    }
    const closing = Math.max(0, 2 - this.#remaining);
    this.#count(bytes, at, Math.max(at, end - closing));
    if (this.#remaining === 0) this.#mode = 'size';
    return end;
  }

  #count(bytes: Buffer, from: number, to: number): void {
    if (from === to) return;
    if (this.#start.length < 400) this.#start += bytes.toString('utf8', from, Math.min(to, from + 400));
    this.#bytes += to - from;
    if (this.#lastByte === NEWLINE && bytes[from] === NEWLINE) this.#frames += 1;
    for (let at = bytes.indexOf('\n\n', from); at >= 0 && at + 1 < to; at = bytes.indexOf('\n\n', at + 2)) {
      this.#frames += 1;
    }
    this.#lastByte = bytes[to - 1] ?? 0;
  }

  #finish(): void {
    this.#mode = 'head';
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ status: this.#status, bytes: this.#bytes, frames: this.#frames, start: this.#start });
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
  }
}
