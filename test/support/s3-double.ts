import type { ServerResponse } from 'node:http';
import { type ObjectHandler, ObjectStoreDouble, sendBytes } from './object-store.ts';

const pageSize = 3;

/** The part of S3's protocol that artifacts need: conditional puts, multipart uploads, ranges, lists in small pages. */
export const s3Double = (): ObjectStoreDouble => new ObjectStoreDouble(handlerOf);

function handlerOf(store: ObjectStoreDouble): ObjectHandler {
  const uploads = new Map<string, { headers: Headers; parts: Map<number, Buffer> }>();
  return ({ method, url, headers, body }, response) => {
    const query = url.searchParams;
    const [, , ...rest] = url.pathname.split('/');
    const name = decodeURIComponent(rest.join('/'));
    const id = query.get('uploadId');
    if (name === '') return sendList(store, query, response);
    if (method === 'POST' && query.has('uploads')) {
      const uploadId = `upload-${uploads.size + 1}`;
      uploads.set(uploadId, { headers, parts: new Map() });
      return xml(response, 200, tag('InitiateMultipartUploadResult', tag('UploadId', uploadId)));
    }
    if (id !== null) {
      const upload = uploads.get(id);
      if (!upload) return fail(response, 404, 'NoSuchUpload');
      if (method === 'PUT') {
        upload.parts.set(Number(query.get('partNumber')), body);
        return void response.writeHead(200, { etag: '"part"' }).end();
      }
      uploads.delete(id);
      if (method === 'DELETE') return void response.writeHead(204).end();
      const bytes = Buffer.concat([...upload.parts].toSorted(([a], [b]) => a - b).map(([, part]) => part));
      store.keep(name, bytes, upload.headers['content-type'] ?? '', metadataIn(upload.headers));
      return xml(response, 200, tag('CompleteMultipartUploadResult', tag('ETag', '"whole"')));
    }
    if (method === 'PUT') {
      if (headers['if-none-match'] === '*' && store.objects.has(name)) {
        return fail(response, 412, 'PreconditionFailed');
      }
      store.keep(name, body, headers['content-type'] ?? '', metadataIn(headers));
      return void response.writeHead(200, { etag: '"etag"' }).end();
    }
    if (method === 'DELETE') {
      store.objects.delete(name);
      return void response.writeHead(204).end();
    }
    const object = store.objects.get(name);
    if (!object) return fail(response, 404, 'NoSuchKey');
    const facts = Object.fromEntries(Object.entries(object.metadata).map(([key, text]) => [`x-amz-meta-${key}`, text]));
    sendBytes(response, object, headers.range, { ...facts, 'last-modified': object.modified.toUTCString() });
  };
}

type Headers = Parameters<ObjectHandler>[0]['headers'];

const metadataIn = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([key, value]) =>
      key.startsWith('x-amz-meta-') ? [[key.slice('x-amz-meta-'.length), String(value)]] : [],
    ),
  );

function sendList(store: ObjectStoreDouble, query: URLSearchParams, response: ServerResponse): void {
  const after = query.get('continuation-token') ?? '';
  const names = store.names(query.get('prefix') ?? '', query.get('delimiter')).filter((name) => name > after);
  const page = names.slice(0, pageSize);
  const next = names.length > page.length ? page.at(-1) : undefined;
  const contents = page.map((name) => {
    const { bytes, modified } = store.objects.get(name)!;
    const time = tag('LastModified', modified.toISOString());
    return tag('Contents', tag('Key', name) + tag('Size', String(bytes.length)) + time);
  });
  const token = next === undefined ? '' : tag('NextContinuationToken', next);
  xml(
    response,
    200,
    tag('ListBucketResult', tag('IsTruncated', String(next !== undefined)) + token + contents.join('')),
  );
}

function tag(name: string, content: string): string {
  const text = content.startsWith('<') ? content : content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<${name}>${text}</${name}>`;
}

const xml = (response: ServerResponse, status: number, body: string): void =>
  void response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
const fail = (response: ServerResponse, status: number, code: string): void =>
  xml(response, status, tag('Error', tag('Code', code)));
