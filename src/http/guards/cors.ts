import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { type CorsConfig, corsHeaders, type HttpConfig } from '../deps.ts';

/** Response headers that pages of other origins may read. */
const exposedHeaders = [
  'x-run-id',
  'x-request-id',
  'idempotency-replayed',
  'retry-after',
  'location',
  'allow',
  'etag',
  'content-disposition',
  'content-length',
  'content-range',
  'accept-ranges',
  'ratelimit',
  'ratelimit-policy',
];

/** The CORS configuration for `--allow-origin`: every path, without credentials. */
const defaults: Omit<CorsConfig, 'origins'> = {
  mapping: '/**',
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  headers: corsHeaders,
  allowCredentials: false,
  maxAge: 600,
};

/** Adds cross-origin headers, if any origin is allowed at all. Throws ConfigurationException for an unsafe record. */
export async function registerCors(app: FastifyInstance, config: HttpConfig): Promise<void> {
  const record: CorsConfig = config.cors ?? { ...defaults, origins: [] };
  const origins = [...new Set([...config.allowOrigins, ...record.origins])];
  if (origins.length === 0) return;
  if (record.allowCredentials && origins.includes('*')) {
    throw new AppError('ConfigurationException', 'Cross-origin credentials cannot be allowed for the origin "*"');
  }
  const inside: FastifyCorsOptions = {
    origin: origins,
    methods: [...record.methods],
    allowedHeaders: [...record.headers],
    exposedHeaders,
    credentials: record.allowCredentials,
    maxAge: record.maxAge,
    strictPreflight: false,
  };
  const outside: FastifyCorsOptions = { origin: false };
  const mapped = pathMatcher(record.mapping);
  await app.register(cors, () => (request: FastifyRequest, callback: Callback): void => {
    // An OPTIONS request without this header is no preflight, so it gets no CORS headers.
    const takesPart = request.method !== 'OPTIONS' || 'access-control-request-method' in request.headers;
    callback(null, takesPart && mapped(request.url.split('?', 1)[0] ?? '') ? inside : outside);
  });
}

type Callback = (error: Error | null, options: FastifyCorsOptions) => void;

/** Ant style: `?` one character, `*` within a segment, `**` across segments. */
function pathMatcher(mapping: string): (path: string) => boolean {
  if (mapping === '/**') return () => true;
  const source = mapping
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\/\*\*$|\*\*|\*|\?/g, (wild) => wildcards[wild] ?? wild);
  const pattern = new RegExp(`^${source}$`);
  return (path) => pattern.test(path);
}

const wildcards: Readonly<Record<string, string>> = { '/**': '(?:/.*)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
