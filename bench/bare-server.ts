import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { WebSocketServer } from 'ws';

/** The yardsticks: what Fastify, node:http and ws cost when they do nothing but answer. Run as `bare-server.ts fastify|sse|echo`. */

const CHUNKS = 100;
const kind = process.argv[2];
const port = kind === 'sse' ? await serveSse() : kind === 'echo' ? await serveEcho() : await serveFastify();
console.log(`http://127.0.0.1:${port}`);
process.once('SIGTERM', () => process.exit(0));

/** Parses a JSON body and answers about 300 bytes of JSON. */
async function serveFastify(): Promise<number> {
  const app = fastify();
  app.get('/version', () => ({ version: '0.0.0' }));
  app.post('/run', (request) => {
    const { sessionId } = request.body as { sessionId: string };
    return [answer(sessionId)];
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

/** Answers every POST with 100 frames, one write each, and waits when the client is slow. */
function serveSse(): Promise<number> {
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.end('{}');
      return;
    }
    request.resume().once('end', () => void stream(response)); // a client that leaves ends the loop, nothing to report
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** Sends every WebSocket message back. */
function serveEcho(): Promise<number> {
  const server = createServer((_request, response) => response.end('{}'));
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function stream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (let index = 0; index < CHUNKS && !response.destroyed; index += 1) {
    const frame = `data: ${JSON.stringify(answer(`chunk-${index}`))}\n\n`;
    if (!response.write(frame)) await new Promise((resolve) => void response.once('drain', resolve));
  }
  response.end();
}

/** An event of about 300 bytes. */
function answer(id: string): unknown {
  return {
    id,
    invocationId: 'e-6dd5a1c3-8c1f-4d0b-9a3e-0c7f2b1d4e5a',
    author: 'bench_agent',
    timestamp: 1_700_000_000.123,
    content: { role: 'model', parts: [{ text: 'Hello! I am well, thank you for asking. And how are you?' }] },
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
  };
}
