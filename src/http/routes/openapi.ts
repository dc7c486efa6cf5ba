import { z } from 'zod';
import { pageSecurityHeaders } from '../guards/content-security-policy.ts';
import { type DescriptionOptions, type OpenApiDocument, openApiDocument } from '../openapi/document.ts';
import { apiPage } from '../openapi/page.ts';
import { JsonText, type Operation, operation } from '../operation.ts';

const tag = 'Server';

/** Describes all operations, these included. Made when first asked for: most servers never are. */
export function openApiOperations(all: () => readonly Operation[], options: DescriptionOptions): Operation[] {
  let json: JsonText | undefined;
  let made: OpenApiDocument | undefined;
  const document = (): OpenApiDocument => (made ??= openApiDocument(all(), options));
  let page: { readonly html: string; readonly headers: Record<string, string> } | undefined;
  return [
    operation({
      method: 'GET',
      paths: ['/openapi.json'],
      tag,
      access: { role: 'any', user: 'none' },
      summary: 'Describe this API for programs',
      response: { schema: z.record(z.string(), z.unknown()), description: 'An OpenAPI 3.1 document' },
      handle: () => (json ??= new JsonText(JSON.stringify(document()))),
    }),
    operation({
      method: 'GET',
      paths: ['/docs'],
      tag,
      access: { role: 'any', user: 'none' },
      summary: 'Describe this API for people',
      response: { schema: z.string(), mediaType: 'text/html' },
      handle(_input, { reply }) {
        if (!page) {
          const html = apiPage(all(), document());
          page = { html, headers: { ...pageSecurityHeaders(html), 'content-type': 'text/html; charset=utf-8' } };
        }
        return reply.headers(page.headers).send(page.html);
      },
    }),
  ];
}
