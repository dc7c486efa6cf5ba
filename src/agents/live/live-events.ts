import { define } from '../../base/json.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { ModelRequest, ModelResponse, ModelRetry } from '../../core/model.ts';
import type { RunContext, Tool } from '../../core/runtime.ts';
import { type Content, functionCallsOf, textOf } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { OpenSpan } from '../../telemetry/spans.ts';
import { CallIds, longRunningIds } from '../call-ids.ts';
import type { LlmDefinition } from '../definition/llm-definition.ts';
import { recordResponse, recordRequest, openModelSpan, retryRecorder } from '../model-calls/model-span.ts';
import type { ContentsSource } from '../request/request-text.ts';

interface LiveEventsOptions {
  readonly definition: LlmDefinition;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly request: ModelRequest;
  readonly contentsSource: ContentsSource | undefined;
  readonly ctx: RunContext;
}

/** Turns a live model's responses into events, and opens a span for each of its answers. */
export class LiveEvents implements Disposable {
  readonly #options: LiveEventsOptions;
  #span: OpenSpan | undefined;

  constructor(options: LiveEventsOptions) {
    this.#options = options;
  }

  [Symbol.dispose](): void {
    this.#span?.end();
  }

  /** The event of a response; `undefined` for a cancellation, which only concerns the runtime. */
  eventOf(response: ModelResponse): Event | undefined {
    const { definition, ctx, tools } = this.#options;
    if (response.toolCallCancellation) return undefined;
    const content = new CallIds().complete(response.content, response.partial === true);
    const author = response.inputTranscription ? 'user' : definition.name;
    const event = newEvent(ctx, author, content === response.content ? response : { ...response, content });
    if (event.partial) {
      this.#open();
      return event;
    }
    const longRunning = content && longRunningIds(functionCallsOf(content), tools);
    if (longRunning) event.longRunningToolIds = longRunning;
    const spokenText = response.outputTranscription?.text ?? finalText(content);
    if (definition.outputKey !== undefined && spokenText)
      define(event.actions.stateDelta, definition.outputKey, spokenText);
    if (content ?? response.outputTranscription) {
      recordResponse(this.#open(), event);
      this.#span = undefined;
    }
    return event;
  }

  /** Records a reconnection in the span. */
  noteRetry(retry: ModelRetry): void {
    retryRecorder(this.#open())(retry);
  }

  #open(): OpenSpan {
    if (this.#span) return this.#span;
    const { request, contentsSource, ctx } = this.#options;
    this.#span = openModelSpan(request, ctx);
    recordRequest(this.#span, request, ctx, contentsSource);
    return this.#span;
  }
}

/** The text of a response; `undefined` when it calls functions. */
const finalText = (content: Content | undefined): string | undefined =>
  functionCallsOf(content).length > 0 ? undefined : textOf(content);
