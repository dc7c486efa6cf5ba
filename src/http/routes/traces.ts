import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { Name } from '../../schemas/names.ts';
import { TraceSpan } from '../../schemas/records.ts';
import type { TraceReader } from '../deps.ts';
import { type Operation, operation } from '../operation.ts';
import { sendSpans } from '../responses/send-spans.ts';

const tag = 'Traces';
/** In the newer spelling. */
const app = { appName: Name.optional() };

export function traceOperations(traces: TraceReader): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: ['/debug/trace/session/{sessionId}', '/dev/apps/{appName}/debug/trace/session/{sessionId}'],
      tag,
      access: { role: 'user', user: 'lookup' },
      summary: 'Read the spans of the runs of a session, or of all sessions of that id',
      params: z.object({ ...app, sessionId: Name }),
      response: { schema: z.array(TraceSpan) },
      handle: ({ params: { appName, sessionId } }, { reply, caller }) =>
        sendSpans(reply, traces.forSession(sessionId, { ...caller.traceScope, appName })),
    }),
    operation({
      method: 'GET',
      paths: ['/debug/trace/{eventId}', '/dev/apps/{appName}/debug/trace/{eventId}'],
      tag,
      access: { role: 'user', user: 'lookup' },
      summary: 'Read the attributes of the span that made an event',
      params: z.object({ ...app, eventId: Name }),
      response: { schema: z.record(z.string(), z.unknown()) },
      handle({ params }, { caller }) {
        const attributes = traces.forEvent(params.eventId, caller.traceScope);
        if (!attributes) throw new AppError('trace_not_found', `Trace of event not found: ${params.eventId}`);
        return attributes;
      },
    }),
  ];
}
