import { resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import { redact } from '../base/redact.ts';

/** The storage of a service. */
export type ServicePlace =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly uri: string }
  | { readonly kind: 'file'; readonly folder: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Empty, or ends with a slash. */
      readonly prefix: string;
      readonly endpoint?: string;
      readonly region?: string;
    }
  | { readonly kind: 'gs'; readonly bucket: string; readonly prefix: string }
  | {
      readonly kind: 'firestore';
      readonly project: string;
      readonly database: string;
      /** The prefix of collection names. */
      readonly prefix: string;
    }
  | VertexName;

/** A resource of Vertex AI. Project and location default to those of the environment. */
export interface VertexName {
  readonly kind: 'agentengine' | 'rag';
  readonly id: string;
  readonly project?: string;
  readonly location?: string;
}

export type ServiceKind = 'sessions' | 'artifacts' | 'memories';

const placesOf: Readonly<Record<ServiceKind, readonly ServicePlace['kind'][]>> = {
  sessions: ['memory', 'sqlite', 'postgres', 'firestore', 'agentengine'],
  artifacts: ['memory', 'file', 'sqlite', 'postgres', 's3', 'gs'],
  memories: ['memory', 'sqlite', 'postgres', 'firestore', 'agentengine', 'rag'],
};

const examples: Readonly<Record<ServicePlace['kind'], string>> = {
  memory: 'memory:',
  sqlite: 'sqlite:PATH',
  postgres: 'postgres://USER@HOST/DATABASE',
  file: 'file:DIR',
  s3: 's3://BUCKET/PREFIX?endpoint=URL',
  gs: 'gs://BUCKET/PREFIX',
  firestore: 'firestore://PROJECT/DATABASE',
  agentengine: 'agentengine://ENGINE',
  rag: 'rag://CORPUS',
};

/**
 * Parses a service URI: ours (`memory:`, `sqlite:PATH`, `postgres://…`, `file:DIR`, `s3://…`, `gs://…`, `firestore://…`),
 * and ADK's (`sqlite:///abs/path`, `sqlite://./path`, `sqlite+aiosqlite:`, `postgresql://`, `postgresql+asyncpg://`,
 * `file:///…`, `agentengine://…`, `rag://…`). Throws `ConfigurationException`.
 */
export function parseServiceUri(service: ServiceKind, text: string): ServicePlace {
  const place = placeOf(text.trim());
  if (place && placesOf[service].includes(place.kind)) return place;
  throw new AppError('ConfigurationException', `"${redact(text)}" ${wantedFor(service)}`);
}

/** The fault of a service URI, as a predicate; `undefined` for a valid one. */
export function serviceUriFault(service: ServiceKind, text: string): string | undefined {
  const place = placeOf(text.trim());
  return place && placesOf[service].includes(place.kind) ? undefined : wantedFor(service);
}

const wantedFor = (service: ServiceKind): string =>
  `must be a place for ${service}: ${placesOf[service].map((kind) => examples[kind]).join(', ')}`;

/** The URI with its path, if it has one, resolved against a folder. */
export function placeUri(text: string, folder: string): string {
  const place = placeOf(text.trim());
  if (place?.kind === 'sqlite') return `sqlite:${resolve(folder, place.path)}`;
  return place?.kind === 'file' ? `file:${resolve(folder, place.folder)}` : text;
}

function placeOf(text: string): ServicePlace | undefined {
  const match = /^([a-z\d]+)(?:\+[a-z\d_]+)?:(.*)$/is.exec(text);
  const [, scheme = '', rest = ''] = match ?? [];
  if (/^(?:memory|inmemory)$/i.test(scheme)) return /^(?:\/\/)?$/.test(rest) ? { kind: 'memory' } : undefined;
  if (/^postgres(?:ql)?$/i.test(scheme)) {
    const uri = `postgres:${rest}`;
    return rest.startsWith('//') && URL.canParse(uri) ? { kind: 'postgres', uri } : undefined;
  }
  if (/^sqlite$/i.test(scheme)) {
    const path = pathIn(rest);
    // As in ADK: a database that lasts as long as the process.
    if (path === ':memory:' || rest === '//') return { kind: 'memory' };
    return path === '' ? undefined : { kind: 'sqlite', path };
  }
  if (/^file$/i.test(scheme)) {
    const folder = pathIn(rest);
    return folder === '' ? undefined : { kind: 'file', folder };
  }
  if (/^gs$/i.test(scheme)) {
    const place = bucketIn(rest);
    return place && !rest.includes('?') ? { kind: 'gs', ...place } : undefined;
  }
  if (/^firestore$/i.test(scheme)) return firestorePlace(rest);
  if (/^(?:agentengine|rag)$/i.test(scheme)) return vertexName(/^rag$/i.test(scheme) ? 'rag' : 'agentengine', rest);
  return /^s3$/i.test(scheme) ? s3Place(rest) : undefined;
}

/** `//ID`, or the full name of the resource. */
function vertexName(kind: VertexName['kind'], rest: string): VertexName | undefined {
  const collection = kind === 'rag' ? 'ragCorpora' : 'reasoningEngines';
  const [, named = '', short] = /^\/\/(?:(projects\/.+)|([\w-]+))$/.exec(rest) ?? [];
  if (short !== undefined) return { kind, id: short };
  const [, project = '', , location = '', found, id = '', ...others] = named.split('/');
  const isWhole = [project, location, id].every((part) => /^[\w.:-]+$/.test(part)) && others.length === 0;
  return isWhole && found === collection && /^projects\/[^/]+\/locations\//.test(named)
    ? { kind, project, location, id }
    : undefined;
}

/** `//PROJECT/DATABASE?prefix=NAME`. */
function firestorePlace(rest: string): ServicePlace | undefined {
  const [, project, database = '(default)', query] =
    /^\/\/([a-z][\w.:-]+)(?:\/(\(default\)|[a-z][\w-]+))?\/?(?:\?(.*))?$/i.exec(rest) ?? [];
  const { prefix = 'agent', ...others } = Object.fromEntries(new URLSearchParams(query));
  if (project === undefined || Object.keys(others).length > 0) return undefined;
  return /^[a-z][\w-]{0,63}$/i.test(prefix) ? { kind: 'firestore', project, database, prefix } : undefined;
}

function s3Place(rest: string): ServicePlace | undefined {
  const place = bucketIn(rest);
  const { endpoint, region, ...others } = Object.fromEntries(new URLSearchParams(rest.split('?', 2)[1]));
  if (!place || Object.keys(others).length > 0) return undefined;
  if (endpoint !== undefined && !/^https?:\/\/./.test(endpoint)) return undefined;
  return { kind: 's3', ...place, ...(endpoint !== undefined && { endpoint }), ...(region !== undefined && { region }) };
}

/** `//BUCKET/PREFIX`, up to a question mark. */
function bucketIn(rest: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, path = ''] = /^\/\/([a-z\d][\w.-]+)(?:\/([^?]*))?(?:\?|$)/i.exec(rest) ?? [];
  const prefix = path.replace(/\/+$/, '');
  return bucket === undefined ? undefined : { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

/**
 * The path after a scheme. With three slashes it is absolute, as in ADK for TypeScript; ADK for Python's `///./path` and
 * `///../path` stay relative, and its four slashes mean the same as three.
 */
function pathIn(rest: string): string {
  const [path = ''] = (rest.startsWith('//') ? rest.slice(2) : rest).split('?', 1);
  return path.replace(/^\/(?=\.{1,2}\/|:memory:$)/, '').replace(/^\/{2,}/, '/');
}
