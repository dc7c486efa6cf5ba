import { errorText } from '../../base/errors.ts';
import type { ModelRequest, ModelRetry } from '../../core/model.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { Event } from '../../schemas/event.ts';
import type { LazyText } from '../../telemetry/lazy-text.ts';
import { type Attributes, type OpenSpan, openSpan } from '../../telemetry/spans.ts';
import { eventMemoryBytes, truncate } from '../../telemetry/truncate.ts';
import { type ContentsSource, rebuildableRequest, sentRequest, traceJson } from '../request/request-text.ts';

const maxReasons = 100;
/** Bytes of a model response that a trace holds. */
const maxResponseBytes = 512 * 1024;

/** Opens the span of one model call. */
export function openModelSpan(request: ModelRequest, ctx: RunContext): OpenSpan {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'call_llm',
    'gen_ai.system': 'gcp.vertex.agent',
    'gen_ai.request.model': request.model,
    'gcp.vertex.agent.invocation_id': ctx.invocationId,
    'gcp.vertex.agent.session_id': ctx.session.id,
  };
  return openSpan('model', 'call_llm', ctx.trace, attributes);
}

/**
 * Records the request in the span. Its text is made when the trace is read; where `contentsSource` allows it, the
 * contents are rebuilt then, so that a trace holds the session's history once and not a copy of it for each step.
 */
export function recordRequest(
  span: OpenSpan,
  request: ModelRequest,
  { session }: RunContext,
  contentsSource?: ContentsSource,
): void {
  if (!span.isRecorded) return;
  const { topP, maxOutputTokens } = request.config;
  if (topP !== undefined) span.set({ 'gen_ai.request.top_p': topP });
  if (maxOutputTokens !== undefined) span.set({ 'gen_ai.request.max_tokens': maxOutputTokens });
  const held = contentsSource ? rebuildableRequest(request, contentsSource, span, session) : sentRequest(request);
  span.setLazy('gcp.vertex.agent.llm_request', held, held.bytes);
}

/** Records the failed and repeated attempts of one call: how many, and why. */
export function retryRecorder(span: OpenSpan): (retry: ModelRetry) => void {
  const reasons: string[] = [];
  return ({ attempt, delayMs, error }) => {
    if (reasons.length === maxReasons) reasons.shift();
    reasons.push(`try ${attempt}: ${errorText(error)} (next after ${Math.round(delayMs)} ms)`);
    span.set({ 'agent_server.model.retries': attempt, 'agent_server.model.retry_reasons': [...reasons] });
  };
}

/** Records the response and ends the span, so that the trace is complete before a client sees the event. */
export function recordResponse(span: OpenSpan, event: Event): void {
  const attributes: Attributes = { 'gcp.vertex.agent.event_id': event.id };
  const { usageMetadata: usage, finishReason } = event;
  if (usage) {
    attributes['gen_ai.usage.input_tokens'] = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
    attributes['gen_ai.usage.output_tokens'] = (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0);
    if (usage.thoughtsTokenCount) attributes['gen_ai.usage.reasoning.output_tokens'] = usage.thoughtsTokenCount;
    if (usage.cachedContentTokenCount) {
      attributes['gen_ai.usage.cache_read.input_tokens'] = usage.cachedContentTokenCount;
    }
  }
  if (finishReason !== undefined) attributes['gen_ai.response.finish_reasons'] = reasonList(finishReason);
  span.set(attributes);
  if (span.isRecorded) noteResponse(span, event);
  span.end();
}

function noteResponse(span: OpenSpan, event: Event): void {
  const bytes = eventMemoryBytes(event, maxResponseBytes);
  const held = bytes > maxResponseBytes ? truncate(event, maxResponseBytes) : event;
  span.setLazy('gcp.vertex.agent.llm_response', new LazyResponse(held), Math.min(bytes, maxResponseBytes));
}

const reasonLists = new Map<string, readonly string[]>();

/** One shared list per reason: traces keep many spans, and there are few reasons. */
function reasonList(reason: string): readonly string[] {
  const known = reasonLists.get(reason);
  if (known) return known;
  const list = [reason.toLowerCase()];
  if (reasonLists.size < maxReasons) reasonLists.set(reason, list);
  return list;
}

class LazyResponse implements LazyText {
  readonly #event: Event;

  constructor(event: Event) {
    this.#event = event;
  }

  /** The model's response: the event without the members that the runtime added. */
  text(): string {
    const { id: _, invocationId: __, author: ___, timestamp: ____, actions: _____, ...response } = this.#event;
    return traceJson(response);
  }
}
