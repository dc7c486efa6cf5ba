import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { ArtifactService, Services, StoredArtifactVersion } from '../../core/services.ts';
import { Part } from '../../schemas/content-schema.ts';
import { lenient } from '../../schemas/lenient.ts';
import { ArtifactName } from '../../schemas/names.ts';
import { ArtifactVersion } from '../../schemas/records.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { ArtifactParams, QueryCount, SessionParams, Version } from '../requests/path-params.ts';
import { openContent, sendContent } from './artifact-content.ts';

const list = '/apps/{appName}/users/{userId}/sessions/{sessionId}/artifacts';
const one = `${list}/{artifactName+}`;
const tag = 'Artifacts';

const VersionParams = ArtifactParams.extend({ version: Version });
/** `alt=media` asks for the content itself, as bytes. */
const alt = z.enum(['json', 'media']).optional();
const AltQuery = lenient({ alt });
const VersionQuery = lenient({ version: QueryCount.optional(), alt });
const NewArtifact = lenient({
  filename: ArtifactName,
  artifact: Part,
  customMetadata: z.record(z.string(), z.unknown()).optional(),
});

/** Artifacts of a session. A name may contain slashes, so the more specific paths come first. */
export function artifactOperations({ sessions, artifacts }: Services): Operation[] {
  const store = (): ArtifactService => {
    if (!artifacts) throw new AppError('not_supported', 'This server keeps no artifacts');
    return artifacts;
  };
  const load = async ({ artifactName, ...key }: Artifact, version?: number): Promise<Part> => {
    const artifact = await store().loadArtifact(key, artifactName, version);
    if (!artifact) throw new AppError('artifact_not_found', notFound(artifactName, version));
    return artifact;
  };
  const respond = async (
    { artifactName, ...key }: Artifact,
    { version, isContent }: { version: number | undefined; isContent: boolean },
    call: Call,
  ): Promise<unknown> => {
    if (!isContent) return load({ artifactName, ...key }, version);
    const content = await openContent(store(), key, artifactName, version);
    if (!content) throw new AppError('artifact_not_found', notFound(artifactName, version));
    return sendContent(content, artifactName, call);
  };
  const describe = async ({ artifactName, ...key }: Artifact, version?: number): Promise<ArtifactVersion> => {
    const versions = await store().listVersions(key, artifactName);
    const found = version === undefined ? versions.at(-1) : versions.find((known) => known.version === version);
    if (!found) throw new AppError('artifact_not_found', notFound(artifactName, version));
    return asInAdk(found);
  };

  return [
    operation({
      method: 'GET',
      paths: [list],
      tag,
      ...(artifacts && { feature: 'artifacts' }),
      access: { role: 'user', user: 'path' },
      summary: 'List the artifact names of a session, those of its user included',
      params: SessionParams,
      response: { schema: z.array(z.string()) },
      handle: ({ params }) => store().listArtifactKeys(params),
    }),
    operation({
      method: 'POST',
      paths: [list],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Save a new version of an artifact',
      params: SessionParams,
      body: NewArtifact,
      response: { schema: ArtifactVersion },
      async handle({ params, body }) {
        if (!(await sessions.getSession(params, { numRecentEvents: 1 }))) {
          throw new AppError('session_not_found', `Session not found: ${params.sessionId}`);
        }
        const { filename, artifact, customMetadata } = body;
        const version = await store().saveArtifact(params, filename, artifact, customMetadata);
        return describe({ ...params, artifactName: filename }, version);
      },
    }),
    operation({
      method: 'GET',
      paths: [`${one}/versions/{version}/metadata`],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Describe one version of an artifact',
      params: VersionParams,
      response: { schema: ArtifactVersion },
      handle: ({ params: { version, ...artifact } }) => describe(artifact, version),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/versions/metadata`],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Describe all versions of an artifact',
      params: ArtifactParams,
      response: { schema: z.array(ArtifactVersion) },
      handle: async ({ params: { artifactName, ...key } }) =>
        (await store().listVersions(key, artifactName)).map(asInAdk),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/versions/{version}`],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Load one version of an artifact, by number or as "latest"',
      params: VersionParams,
      query: AltQuery,
      response: { schema: Part, others: ['*/*'], description: 'The artifact; its bytes with `alt=media`' },
      handle: ({ params: { version, ...artifact }, query }, call) =>
        respond(artifact, { version, isContent: query.alt === 'media' }, call),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/versions`],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'List the version numbers of an artifact',
      params: ArtifactParams,
      response: { schema: z.array(z.number().int()) },
      handle: async ({ params: { artifactName, ...key } }) =>
        (await store().listVersions(key, artifactName)).map(({ version }) => version),
    }),
    operation({
      method: 'GET',
      paths: [one],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Load an artifact: the latest version unless one is named',
      params: ArtifactParams,
      query: VersionQuery,
      response: { schema: Part, others: ['*/*'], description: 'The artifact; its bytes with `alt=media`' },
      handle: ({ params, query: { version, alt: form } }, call) =>
        respond(params, { version, isContent: form === 'media' }, call),
    }),
    operation({
      method: 'DELETE',
      paths: [one],
      tag,
      access: { role: 'user', user: 'path' },
      summary: 'Delete an artifact with all its versions',
      params: ArtifactParams,
      response: { schema: z.null() },
      handle: ({ params: { artifactName, ...key } }) => store().deleteArtifact(key, artifactName),
    }),
  ];
}

interface Artifact extends SessionKey {
  readonly artifactName: string;
}

/** Removes the size, which ADK's type does not have. */
function asInAdk(stored: StoredArtifactVersion): ArtifactVersion {
  const { size: _, ...version } = stored;
  return version;
}

const notFound = (name: string, version: number | undefined): string =>
  version === undefined ? `Artifact not found: ${name}` : `Artifact not found: ${name}, version ${version}`;
