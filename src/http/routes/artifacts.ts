import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { ArtifactService, Services, StoredArtifactVersion } from '../../core/services.ts';
import { Part } from '../../schemas/content.ts';
import { lenient } from '../../schemas/lenient.ts';
import { ArtifactName } from '../../schemas/names.ts';
import { ArtifactVersion } from '../../schemas/records.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { type Operation, operation } from '../operation.ts';
import { ArtifactParams, QueryCount, SessionParams, Version } from '../path-params.ts';

const list = '/apps/{appName}/users/{userId}/sessions/{sessionId}/artifacts';
const one = `${list}/{artifactName+}`;
const tag = 'Artifacts';

const VersionParams = ArtifactParams.extend({ version: Version });
const VersionQuery = lenient({ version: QueryCount.optional() });
const NewArtifact = lenient({
  filename: ArtifactName,
  artifact: Part,
  customMetadata: z.record(z.string(), z.unknown()).optional(),
});

/** Artifacts of a session. A name may hold slashes, so the more particular paths come first. */
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
      summary: 'List the artifact names of a session, those of its user included',
      params: SessionParams,
      answer: { schema: z.array(z.string()) },
      handle: ({ params }) => store().listArtifactKeys(params),
    }),
    operation({
      method: 'POST',
      paths: [list],
      tag,
      summary: 'Save a new version of an artifact',
      params: SessionParams,
      body: NewArtifact,
      answer: { schema: ArtifactVersion },
      async handle({ params, body }) {
        if (!(await sessions.getSession(params, { numRecentEvents: 1 }))) {
          throw new AppError('session_not_found', `Session "${params.sessionId}" not found`);
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
      summary: 'Describe one version of an artifact',
      params: VersionParams,
      answer: { schema: ArtifactVersion },
      handle: ({ params: { version, ...artifact } }) => describe(artifact, version),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/versions/metadata`],
      tag,
      summary: 'Describe all versions of an artifact',
      params: ArtifactParams,
      answer: { schema: z.array(ArtifactVersion) },
      handle: async ({ params: { artifactName, ...key } }) =>
        (await store().listVersions(key, artifactName)).map(asInAdk),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/versions/{version}`],
      tag,
      summary: 'Load one version of an artifact, by number or as "latest"',
      params: VersionParams,
      answer: { schema: Part },
      handle: ({ params: { version, ...artifact } }) => load(artifact, version),
    }),
    operation({
      method: 'GET',
      paths: [`${one}/versions`],
      tag,
      summary: 'List the version numbers of an artifact',
      params: ArtifactParams,
      answer: { schema: z.array(z.number().int()) },
      handle: async ({ params: { artifactName, ...key } }) =>
        (await store().listVersions(key, artifactName)).map(({ version }) => version),
    }),
    operation({
      method: 'GET',
      paths: [one],
      tag,
      summary: 'Load an artifact: the latest version unless one is named',
      params: ArtifactParams,
      query: VersionQuery,
      answer: { schema: Part },
      handle: ({ params, query }) => load(params, query.version),
    }),
    operation({
      method: 'DELETE',
      paths: [one],
      tag,
      summary: 'Delete an artifact with all its versions',
      params: ArtifactParams,
      answer: { schema: z.null() },
      handle: ({ params: { artifactName, ...key } }) => store().deleteArtifact(key, artifactName),
    }),
  ];
}

interface Artifact extends SessionKey {
  readonly artifactName: string;
}

/** ADK's shape has no size. */
function asInAdk(stored: StoredArtifactVersion): ArtifactVersion {
  const { size: _, ...version } = stored;
  return version;
}

const notFound = (name: string, version: number | undefined): string =>
  version === undefined ? `Artifact "${name}" not found` : `Version ${version} of artifact "${name}" not found`;
