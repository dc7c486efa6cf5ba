import { type Context, ROOT_CONTEXT, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { measure } from './metrics.ts';
import type { Attributes, ExportedSpan, SpanExporter } from './spans.ts';

/** Looked up once: it forwards spans to a provider that is registered later. */
const tracer = trace.getTracer('gcp.vertex.agent');

/** Sends spans and metrics to the OpenTelemetry providers that are registered in this process, now or later. */
export const openTelemetry: SpanExporter = {
  start(name, attributes, above) {
    const outer = above instanceof OpenTelemetrySpan ? above.context : ROOT_CONTEXT;
    const span = tracer.startSpan(name, { attributes: attributes as Record<string, string> }, outer);
    return span.isRecording() ? new OpenTelemetrySpan(span, trace.setSpan(outer, span)) : undefined;
  },
  measure,
};

class OpenTelemetrySpan implements ExportedSpan {
  /** For the spans inside it. */
  readonly context: Context;
  readonly #span: Span;

  constructor(span: Span, context: Context) {
    this.#span = span;
    this.context = context;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get spanId(): string {
    return this.#span.spanContext().spanId;
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes as Record<string, string>);
  }

  fail(message: string): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
  }

  end(): void {
    this.#span.end();
  }
}
