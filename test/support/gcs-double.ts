import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type KeptObject, type ObjectHandler, ObjectStoreDouble, sendBytes } from './object-store.ts';

const pageSize = 3;

/** The part of Google Cloud Storage's JSON API that artifacts need: conditional uploads, ranges, lists in small pages. */
export const gcsDouble = (): ObjectStoreDouble => new ObjectStoreDouble(handlerOf);

function handlerOf(store: ObjectStoreDouble): ObjectHandler {
  return ({ method, url, headers, body }, response) => {
    const query = url.searchParams;
    if (method === 'POST') {
      const { about, bytes } = relatedParts(headers['content-type'] ?? '', body);
      const name = query.get('name') ?? String(about['name']);
      if (query.get('ifGenerationMatch') === '0' && store.objects.has(name)) {
        return json(response, 412, { error: { code: 412, message: 'conditionNotMet' } });
      }
      const metadata = (about['metadata'] ?? {}) as Record<string, string>;
      store.keep(name, bytes, String(about['contentType']), metadata);
      return json(response, 200, resource(name, store.objects.get(name)!));
    }
    const [, encoded = ''] = /\/o(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
    const name = decodeURIComponent(encoded);
    if (name === '') return sendList(store, query, response);
    const object = store.objects.get(name);
    if (!object) return json(response, 404, { error: { code: 404, message: 'notFound' } });
    if (method === 'DELETE') {
      store.objects.delete(name);
      return void response.writeHead(204).end();
    }
    if (query.get('alt') === 'media') return sendBytes(response, object, headers.range, {});
    json(response, 200, resource(name, object));
  };
}

function sendList(store: ObjectStoreDouble, query: URLSearchParams, response: ServerResponse): void {
  const after = query.get('pageToken') ?? '';
  const names = store.names(query.get('prefix') ?? '', query.get('delimiter')).filter((name) => name > after);
  const page = names.slice(0, pageSize);
  json(response, 200, {
    items: page.map((name) => resource(name, store.objects.get(name)!)),
    ...(names.length > page.length && { nextPageToken: page.at(-1) }),
  });
}

const resource = (name: string, { bytes, contentType, metadata, modified }: KeptObject): object => ({
  name,
  size: String(bytes.length),
  contentType,
  metadata,
  timeCreated: modified.toISOString(),
  md5Hash: createHash('md5').update(bytes).digest('base64'),
});

/** The two parts of a `multipart/related` body: JSON and bytes. */
function relatedParts(contentType: string, body: Buffer): { about: Record<string, unknown>; bytes: Buffer } {
  const boundary = `--${/boundary="?([^";]+)/.exec(contentType)?.[1]}`;
  const second = body.indexOf(boundary, boundary.length);
  const contentOf = (part: Buffer): Buffer => part.subarray(part.indexOf('\r\n\r\n') + 4, part.lastIndexOf('\r\n'));
  const about = contentOf(body.subarray(0, second)).toString();
  return {
    about: JSON.parse(about) as Record<string, unknown>,
    bytes: contentOf(body.subarray(second, body.lastIndexOf(boundary))),
  };
}

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
