import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { Services } from '../../core/services.ts';
import { lenient } from '../../schemas/lenient.ts';
import { Name } from '../../schemas/names.ts';
import { MemoryEntry } from '../../schemas/records.ts';
import { type Operation, operation } from '../operation.ts';
import { UserParams } from '../requests/path-params.ts';

const MemoryRequest = lenient({ sessionId: Name });
const MemoryQuery = lenient({ q: z.string() });

export function memoryOperations({ sessions, memories }: Services): Operation[] {
  return [
    operation({
      method: 'PATCH',
      paths: ['/apps/{appName}/users/{userId}/memory'],
      tag: 'Memory',
      ...(memories && { feature: 'memory' }),
      access: { role: 'user', user: 'path' },
      summary: 'Remember a session',
      params: UserParams,
      body: MemoryRequest,
      response: { schema: z.null() },
      async handle({ params, body }) {
        if (!memories) throw new AppError('invalid_request', 'Memory service is not configured.');
        const session = await sessions.getSession({ ...params, sessionId: body.sessionId });
        if (!session) throw new AppError('session_not_found', `Session not found: ${body.sessionId}`);
        await memories.addSessionToMemory(session);
      },
    }),
    operation({
      method: 'GET',
      paths: ['/apps/{appName}/users/{userId}/memory'],
      tag: 'Memory',
      ...(memories && { feature: 'memory' }),
      access: { role: 'user', user: 'path' },
      summary: 'Search what is remembered of a user: entries that hold any word of q, oldest first',
      params: UserParams,
      query: MemoryQuery,
      response: { schema: z.object({ memories: z.array(MemoryEntry) }) },
      async handle({ params, query }) {
        if (!memories) throw new AppError('invalid_request', 'Memory service is not configured.');
        return { memories: await memories.searchMemory(params, query.q) };
      },
    }),
  ];
}
