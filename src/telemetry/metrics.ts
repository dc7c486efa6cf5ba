import { createNoopMeter, type Histogram, type MeterProvider, metrics } from '@opentelemetry/api';
import type { SpanKind } from '../schemas/extensions.ts';
import { isLazy } from './lazy-text.ts';

/** A span that has ended. Times are epoch nanoseconds. */
interface Ended {
  readonly kind: SpanKind;
  readonly startTime: number;
  readonly endTime: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The histograms of one meter provider. */
interface Instruments {
  readonly agent: Histogram;
  readonly tool: Histogram;
  readonly toolRequest: Histogram;
  readonly toolResponse: Histogram;
  readonly model: Histogram;
  readonly tokens: Histogram;
}

const noMeter = createNoopMeter();
let current: { readonly provider: MeterProvider; readonly instruments: Instruments | undefined } | undefined;

/**
 * Records the metrics of an ended span: with ADK's names for agents and tools, with OpenTelemetry's for models. Returns at
 * once until a meter provider is registered, which may happen at any time.
 */
export function measure(span: Ended): void {
  const provider = metrics.getMeterProvider();
  if (provider !== current?.provider) current = { provider, instruments: instrumentsOf(provider) };
  if (current.instruments) record(span, current.instruments);
}

function instrumentsOf(provider: MeterProvider): Instruments | undefined {
  const meter = provider.getMeter('gcp.vertex.agent');
  if (meter === noMeter) return undefined;
  const histogram = (name: string, unit: string): Histogram => meter.createHistogram(name, { unit });
  return {
    agent: histogram('gen_ai.agent.invocation.duration', 'ms'),
    tool: histogram('gen_ai.tool.execution.duration', 'ms'),
    toolRequest: histogram('gen_ai.tool.request.size', 'By'),
    toolResponse: histogram('gen_ai.tool.response.size', 'By'),
    model: histogram('gen_ai.client.operation.duration', 's'),
    tokens: histogram('gen_ai.client.token.usage', '{token}'),
  };
}

function record({ kind, attributes, startTime, endTime }: Ended, to: Instruments): void {
  const ms = (endTime - startTime) / 1e6;
  const picked = (...keys: readonly string[]): Record<string, string> => {
    const found: Record<string, string> = {};
    for (const key of [...keys, 'error.type']) {
      const value = attributes[key];
      if (typeof value === 'string') found[key] = value;
    }
    return found;
  };
  if (kind === 'model') {
    const about = { ...picked('gen_ai.request.model', 'gen_ai.system'), 'gen_ai.operation.name': 'generate_content' };
    to.model.record(ms / 1000, about);
    for (const type of ['input', 'output']) {
      const count = attributes[`gen_ai.usage.${type}_tokens`];
      if (typeof count === 'number') to.tokens.record(count, { ...about, 'gen_ai.token.type': type });
    }
  } else if (kind === 'agent') to.agent.record(ms, picked('gen_ai.agent.name'));
  else if (kind === 'tool') {
    const about = picked('gen_ai.tool.name');
    to.tool.record(ms, about);
    to.toolRequest.record(sizeOf(attributes['gcp.vertex.agent.tool_call_args']), about);
    to.toolResponse.record(sizeOf(attributes['gcp.vertex.agent.tool_response']), about);
  }
}

/** Bytes of an attribute, which may be a LazyText. */
function sizeOf(value: unknown): number {
  const text = isLazy(value) ? value.text() : value;
  return typeof text === 'string' ? Buffer.byteLength(text) : 0;
}
