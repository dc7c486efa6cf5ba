import { outboundFetch } from '../../base/outbound-fetch.ts';
import type { Tool } from '../../core/runtime.ts';
import { InMemoryCredentials } from '../auth/credential-store.ts';
import { type DocumentOperation, readDocument } from './document.ts';
import { freeName, operationName } from './names.ts';
import { operationTool } from './operation-tool.ts';
import type { OpenApiToolsetOptions } from './options.ts';
import { operationInput } from './parameters.ts';
import { serverAddress } from './request.ts';
import { OpenApiSecurity } from './security.ts';

const maxDocumentBytes = 10 * 1024 ** 2;

/** The tools of the operations of a document. Throws ConfigurationException when it cannot be used. */
export async function readTools(options: OpenApiToolsetOptions): Promise<readonly Tool[]> {
  const { spec, server, baseUrl, headers = {}, keepNames = false, timeoutMs = 30_000 } = options;
  const places = { named: options.publicOnly ? [] : [server, baseUrl] };
  const documents = outboundFetch({ ...places, maxBytes: maxDocumentBytes });
  const document = await readDocument(spec, { ...options, outbound: documents });
  const security = new OpenApiSecurity(document, { ...options, store: options.store ?? new InMemoryCredentials() });
  const ofOperation = (operation: DocumentOperation): string =>
    serverAddress(server === undefined ? operation.servers : [{ url: server }], baseUrl);
  const isOwn = baseUrl === undefined && !options.publicOnly;
  const outbound = outboundFetch({ named: [...places.named, ...(isOwn ? document.operations.map(ofOperation) : [])] });
  const taken = new Set<string>();
  return document.operations.map((operation) => {
    const address = ofOperation(operation);
    const sources = security.sourcesFor(operation);
    for (const source of sources) source.checkService(address);
    return operationTool({
      name: freeName(operationName(operation.operationId, operation.path, operation.method), taken),
      operation,
      input: operationInput(operation, document, { keepNames }),
      server: address,
      sources,
      headers: typeof headers === 'function' ? headers : () => headers,
      timeoutMs,
      outbound,
    });
  });
}
