import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Tool } from '../../../src/core/runtime.ts';
import type { OpenApiToolsetOptions } from '../../../src/tools/openapi/options.ts';
import { openApiToolset } from '../../../src/tools/openapi/toolset.ts';
import { toolContext } from '../contexts.ts';

/** What the service got. */
export interface Received {
  readonly method: string;
  /** Path and query as they came. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface EchoService {
  readonly url: string;
  readonly received: Received[];
}

/** A service that notes what it gets and answers as told; by default with what it got. */
export async function echoService(
  answer: (received: Received, response: ServerResponse) => void = ({ method, url }, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ method, url })),
): Promise<EchoService> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { method = '', url = '', headers } = request;
      received.push({ method, url, headers, body });
      answer(received.at(-1)!, response);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** A document with the given paths. */
export const documentOf = (paths: JsonObject, more: JsonObject = {}): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'Test', version: '1' },
  paths,
  ...more,
});

export async function toolsOf(options: OpenApiToolsetOptions): Promise<Map<string, Tool>> {
  const tools = await openApiToolset(options).getTools(toolContext().run);
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** The only tool of a document with one operation. */
export async function toolOf(operation: JsonObject, server: string, path = '/x'): Promise<Tool> {
  const method = operation['requestBody'] ? 'post' : 'get';
  const [tool] = (await toolsOf({ spec: documentOf({ [path]: { [method]: operation } }), server })).values();
  return tool!;
}
