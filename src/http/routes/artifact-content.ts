import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { create as attachment } from 'content-disposition';
import type { FastifyReply } from 'fastify';
import { AppError } from '../../base/errors.ts';
import type { ArtifactService, Services, StoredContent } from '../../core/services.ts';
import { ArtifactVersion } from '../../schemas/records.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { byteRange, matchesTag } from '../requests/byte-ranges.ts';
import { ArtifactParams } from '../requests/path-params.ts';
import { sendBytes } from '../responses/streamed-body.ts';

interface ContentRoutes {
  readonly services: Services;
  /** Bytes of content that is streamed into a store. */
  readonly artifactLimitBytes: number;
  /** Bytes of content that has to be held in memory. */
  readonly bodyLimitBytes: number;
}

/** Uploads of artifact content as a stream. Mounted where Fastify does not read bodies. */
export function artifactUploads({ services, artifactLimitBytes, bodyLimitBytes }: ContentRoutes): Operation[] {
  const { sessions, artifacts } = services;
  return [
    operation({
      method: 'PUT',
      paths: ['/apps/{appName}/users/{userId}/sessions/{sessionId}/artifacts/{artifactName+}'],
      tag: 'Artifacts',
      ...(artifacts && { feature: 'artifacts' }),
      access: { role: 'user', user: 'path' },
      summary: 'Save a new version of an artifact from the bytes of the body, whatever their number',
      params: ArtifactParams,
      takesBytes: true,
      response: { schema: ArtifactVersion },
      async handle({ params: { artifactName: name, ...key } }, { request }) {
        if (!artifacts) throw new AppError('not_supported', 'This server keeps no artifacts');
        if (!(await sessions.getSession(key, { numRecentEvents: 1 }))) {
          throw new AppError('session_not_found', `Session not found: ${key.sessionId}`);
        }
        const mimeType = request.headers['content-type'] ?? 'application/octet-stream';
        const limit = artifacts.saveArtifactContent ? artifactLimitBytes : bodyLimitBytes;
        const bytes = bytesOf((request.body as Readable | undefined) ?? Readable.from([]), limit);
        const version = artifacts.saveArtifactContent
          ? await artifacts.saveArtifactContent(key, name, { mimeType, bytes })
          : await saveWhole(artifacts, { key, name, mimeType }, bytes);
        const versions = await artifacts.listVersions(key, name);
        const found = versions.find((known) => known.version === version);
        if (!found) throw new AppError('artifact_not_found', `Artifact "${name}" was deleted meanwhile`);
        const { size: _, ...about } = found;
        return about;
      },
    }),
  ];
}

/** The bytes of a body. Leaves the body open if the reader stops early, because the response uses the same connection. */
async function* bytesOf(body: Readable, limit: number): AsyncGenerator<Uint8Array, void, void> {
  let size = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) throw new AppError('too_large', `An artifact may have at most ${limit} bytes`);
    yield chunk;
  }
}

async function saveWhole(
  artifacts: ArtifactService,
  { key, name, mimeType }: { key: SessionKey; name: string; mimeType: string },
  bytes: AsyncIterable<Uint8Array>,
): Promise<number> {
  const data = Buffer.concat(await Array.fromAsync(bytes)).toString('base64');
  return artifacts.saveArtifact(key, name, { inlineData: { mimeType, data } });
}

/** The content of a version, streamed if the store can; `undefined` if there is none. */
export async function openContent(
  artifacts: ArtifactService,
  key: SessionKey,
  name: string,
  version: number | undefined,
): Promise<StoredContent | undefined> {
  const opened = await artifacts.openArtifact?.(key, name, version);
  if (opened) return opened;
  const part = await artifacts.loadArtifact(key, name, version);
  const versions = part ? await artifacts.listVersions(key, name) : [];
  const about = version === undefined ? versions.at(-1) : versions.find((known) => known.version === version);
  if (!part || !about || part.fileData) return undefined;
  const bytes = part.inlineData ? Buffer.from(part.inlineData.data, 'base64') : Buffer.from(part.text ?? '');
  return {
    about,
    size: bytes.length,
    async *read({ start, end } = { start: 0, end: bytes.length }) {
      yield bytes.subarray(start, end);
    },
  };
}

/**
 * Sends the content, or the requested range of it, as an attachment: browsers save it and never show it in the server's
 * origin.
 */
export function sendContent(content: StoredContent, name: string, { request, reply }: Call): FastifyReply {
  const { about, size } = content;
  const tag = `"${createHash('sha256').update(`${about.canonicalUri} ${about.createTime} ${size}`).digest('base64url')}"`;
  const { range: wanted, 'if-range': condition, 'if-none-match': known } = request.headers;
  reply.headers({
    etag: tag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': attachment(name.split('/').at(-1)),
    'content-security-policy': "default-src 'none'; sandbox",
  });
  if (matchesTag(known, tag)) return reply.code(304).send();
  const range = condition === undefined || condition === tag ? byteRange(wanted, size) : undefined;
  if (range === 'none') {
    reply.header('content-range', `bytes */${size}`);
    throw new AppError('invalid_range', `The artifact has ${size} bytes`);
  }
  const { start, end } = range ?? { start: 0, end: size };
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
  reply.header('content-type', safeType(about.mimeType)).header('content-length', end - start);
  return sendBytes(reply, content.read({ start, end }));
}

/** The stored media type if it is valid in a header, else `application/octet-stream`. */
const safeType = (mimeType: string | undefined): string =>
  mimeType !== undefined && /^[\w.+-]+\/[\w.+-]+(?:\s*;[\x20-\x7e]*)?$/.test(mimeType)
    ? mimeType
    : 'application/octet-stream';
