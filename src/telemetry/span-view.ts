import { redact } from '../base/redact.ts';
import type { LiveSpan } from '../schemas/extensions.ts';
import { isLazy } from './lazy-text.ts';
import type { SpanRecord } from './spans.ts';

export const eventIdKey = 'gcp.vertex.agent.event_id';

/** Attributes shown in lists of spans: names, ids and numbers. The others are read span by span. */
const listedKeys = [
  'gen_ai.operation.name',
  'gen_ai.request.model',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.agent.name',
  'gen_ai.tool.name',
  'gen_ai.tool.call.id',
  'gen_ai.conversation.id',
  eventIdKey,
  'gcp.vertex.agent.invocation_id',
  'gcp.vertex.agent.session_id',
  'agent_server.app_name',
  'agent_server.model.retries',
  'user.id',
  'error.type',
];

const placeKey = 'agent_server.error.where';

/** Attributes that hold content as JSON, which clients parse. */
const contentKeys = ['llm_request', 'llm_response', 'tool_call_args', 'tool_response'].map(
  (name) => `gcp.vertex.agent.${name}`,
);

/** A span as lists of this server's own routes show it. */
export function listedSpan(span: SpanRecord): LiveSpan {
  const attributes = picked(span, [...listedKeys, placeKey]);
  const failure = span.attributes['error.message'];
  if (typeof failure === 'string') attributes['error.message'] = redact(failure);
  return { ...adkSpan(span, attributes), kind: span.kind };
}

/**
 * The attributes for readers who may not see how agents are made: no instructions, descriptions, messages of errors and
 * places in the code, and `{}` for content.
 */
export function outlineOf(span: SpanRecord): Record<string, unknown> {
  const attributes = picked(span, listedKeys);
  for (const key of contentKeys) if (span.attributes[key] !== undefined) attributes[key] = '{}';
  return attributes;
}

function picked(span: SpanRecord, keys: readonly string[]): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const key of keys) {
    const value = span.attributes[key];
    if (value !== undefined && !isLazy(value)) attributes[key] = value;
  }
  return attributes;
}

/** A span in the form of ADK's trace view; `end_time` is absent while it is open. */
export function adkSpan(span: SpanRecord, attributes: Record<string, unknown>): Omit<LiveSpan, 'kind'> {
  return {
    name: span.name,
    span_id: span.spanId,
    trace_id: span.trace.id,
    start_time: span.startTime,
    ...(span.endTime !== 0 && { end_time: span.endTime }),
    attributes,
    parent_span_id: span.parentId ?? null,
  };
}

/** All attributes of a span, without credentials, and without messages unless `withContent`. */
export function attributesOf(span: SpanRecord, withContent: boolean): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(span.attributes)) {
    if (isLazy(value)) attributes[key] = withContent ? redact(value.text()) : '{}';
    else attributes[key] = typeof value === 'string' ? redact(value) : value;
  }
  return attributes;
}
