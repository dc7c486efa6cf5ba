import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { Services } from '../../core/services.ts';
import { type Operation, operation } from '../operation.ts';

interface ServerRoutes {
  readonly version: string;
  readonly isClosing: () => boolean;
  readonly services: Services;
}

/** Longest time for the health checks of the stores. */
const checkMs = 2_000;

const tag = 'Server';
const Status = z.object({ status: z.string() });
const Telemetry = z.object({ telemetry: z.boolean() });
const telemetryHeader = 'x-adk-telemetry-request';

export function serverOperations({ version, isClosing, services }: ServerRoutes): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: ['/health'],
      tag,
      access: { role: 'public', user: 'none' },
      summary: 'Whether the process is alive',
      response: { schema: Status },
      handle: () => ({ status: 'ok' }),
    }),
    operation({
      method: 'GET',
      paths: ['/ready'],
      tag,
      access: { role: 'public', user: 'none' },
      summary: 'Whether the server accepts new work; 503 while it shuts down or cannot reach a store',
      response: { schema: Status },
      async handle() {
        if (isClosing()) throw new AppError('unavailable', 'The server is shutting down', { retryAfter: 5 });
        await checkStores(services);
        return { status: 'ok' };
      },
    }),
    operation({
      method: 'GET',
      paths: ['/version'],
      tag,
      access: { role: 'public', user: 'none' },
      summary: 'Which server this is',
      response: { schema: z.object({ version: z.string(), language: z.string(), language_version: z.string() }) },
      handle: () => ({ version, language: 'typescript', language_version: process.versions.node }),
    }),
    operation({
      method: 'GET',
      paths: ['/config/telemetry'],
      tag,
      access: { role: 'any', user: 'none' },
      summary: 'Whether the web UI may send telemetry: never',
      response: { schema: Telemetry },
      handle: () => ({ telemetry: false }),
    }),
    operation({
      method: 'POST',
      paths: ['/config/telemetry'],
      tag,
      access: { role: 'any', user: 'none' },
      summary: 'Answer a consent dialog; the server never sends telemetry',
      body: Telemetry,
      response: { schema: Telemetry },
      handle(_input, { request }) {
        if (request.headers[telemetryHeader] !== 'true') {
          throw new AppError('invalid_request', `The header "${telemetryHeader}: true" is missing`);
        }
        return { telemetry: false };
      },
    }),
  ];
}

async function checkStores({ sessions, artifacts, memories }: Services): Promise<void> {
  const checks = Promise.all([sessions, artifacts, memories].map((service) => service?.check?.()));
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new AppError('unavailable', 'The stores do not answer', { retryAfter: 2 }));
  }, checkMs);
  try {
    await Promise.race([checks, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
