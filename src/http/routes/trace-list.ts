import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { LiveSpan, SpanChanges, Trace, TraceSummaries } from '../../schemas/extensions.ts';
import { lenient } from '../../schemas/lenient.ts';
import { Name } from '../../schemas/names.ts';
import type { TraceReader } from '../deps.ts';
import { type Operation, operation } from '../operation.ts';
import { QueryCount } from '../requests/path-params.ts';
import { sendWithSpans } from '../responses/send-spans.ts';

export const tracesPerPage = 200;
const defaultPageSize = 50;
const tag = 'Traces';

const ListQuery = lenient({
  pageSize: QueryCount.optional(),
  cursor: QueryCount.optional(),
  appName: z.string().optional(),
  userId: z.string().optional(),
  sessionId: z.string().optional(),
  q: z.string().max(1_000).optional(),
});
const ChangesQuery = lenient({ since: QueryCount.optional(), userId: z.string().optional() });

/** Traces of all sessions, and those that are running: extensions of ours (docs/extensions.md). */
export function traceListOperations(traces: TraceReader): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: ['/traces'],
      tag,
      feature: 'traces',
      access: { role: 'user', user: 'query' },
      summary: 'List the latest traces, newest first',
      query: ListQuery,
      response: { schema: TraceSummaries },
      handle({ query: { pageSize = defaultPageSize, ...query } }, { caller }) {
        return traces.list({
          ...query,
          ...caller.traceScope,
          pageSize: Math.min(Math.max(1, pageSize), tracesPerPage),
        });
      },
    }),
    operation({
      method: 'GET',
      paths: ['/traces/{traceId}'],
      tag,
      feature: 'traces',
      access: { role: 'user', user: 'lookup' },
      summary: 'Read a trace with its spans, the open ones without an end, all without requests and answers',
      params: z.object({ traceId: Name }),
      response: { schema: Trace },
      handle({ params: { traceId } }, { reply, caller }) {
        const trace = traces.trace(traceId, caller.traceScope);
        if (!trace) throw new AppError('trace_not_found', `Trace not found: ${traceId}`);
        return sendWithSpans(reply, trace);
      },
    }),
    operation({
      method: 'GET',
      paths: ['/traces/{traceId}/spans/{spanId}'],
      tag,
      feature: 'traces',
      access: { role: 'user', user: 'lookup' },
      summary: 'Read a span with its requests and answers',
      params: z.object({ traceId: Name, spanId: Name }),
      response: { schema: LiveSpan },
      handle({ params: { traceId, spanId } }, { caller }) {
        const span = traces.span(traceId, spanId, caller.traceScope);
        if (!span) throw new AppError('trace_not_found', `Span not found: ${spanId}`);
        return span;
      },
    }),
    operation({
      method: 'GET',
      paths: ['/dev/apps/{appName}/sessions/{sessionId}/spans'],
      tag,
      feature: 'live-spans',
      access: { role: 'user', user: 'query' },
      summary: 'Read the spans of a session that began or ended since a mark, without requests and answers',
      params: z.object({ appName: Name, sessionId: Name }),
      query: ChangesQuery,
      response: { schema: SpanChanges },
      handle: ({ params: { appName, sessionId }, query: { since = 0, userId } }, { reply, caller }) =>
        sendWithSpans(reply, traces.changes(sessionId, since, { appName, userId, ...caller.traceScope })),
    }),
  ];
}
