import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A connection that sends exactly what it is told, and reads only when asked to. */
export async function rawClient(
  url: string,
): Promise<{ socket: Socket; received: () => string; ended: Promise<void> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.on('error', () => {}); // tests look at what arrived
  const ended = once(socket, 'close').then(() => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return { socket, received: () => text, ended };
}

export const httpPost = (path: string, body: unknown): string => {
  const text = JSON.stringify(body);
  return (
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
};
