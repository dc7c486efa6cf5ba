import { errorText } from '../base/errors.ts';
import { nodeCrypto } from '../base/node-crypto.ts';
import type { SpanKind } from '../schemas/extensions.ts';
import type { ReadonlySession } from '../schemas/session.ts';
import { LazyJson, type LazyText } from './lazy-text.ts';
import type { SessionHistory } from './session-history.ts';
import { truncateText, memoryBytes, truncate } from './truncate.ts';

/** Values of span attributes. Not `null`: ADK's trace view rejects a whole trace for one null. */
export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Record<string, AttributeValue>;

/** A recorded span. Times are epoch nanoseconds. */
export interface SpanRecord {
  readonly kind: SpanKind;
  readonly name: string;
  readonly trace: TraceRef;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly startTime: number;
  /** 0 while the span is open. */
  readonly endTime: number;
  readonly attributes: Record<string, AttributeValue | LazyText>;
  /** The span of the same trace that began before it, set by the sink: a growing array would keep room for sixteen more. */
  earlier: SpanRecord | undefined;
  /** Estimated memory of its attributes. */
  bytes: number;
  /** The sink's own record of the span, and the mark of its last change. Only the sink writes them. */
  record: object | undefined;
  mark: number;
}

/** Receives every span that starts and ends. */
export interface SpanSink {
  opened?(span: SpanRecord): void;
  ended(span: SpanRecord): void;
  /** The shared history of the span's session. `undefined` when the span is not kept. */
  historyOf?(span: SpanRecord, session: ReadonlySession): SessionHistory | undefined;
}

/** What sends spans and metrics to another system. */
export interface SpanExporter {
  /** Opens the span there, below another one that is recorded there. `undefined` when that system does not record it. */
  start(name: string, attributes: Attributes, above: ExportedSpan | undefined): ExportedSpan | undefined;
  /** Called for each span that ends. */
  measure(span: SpanRecord): void;
}

/** A span that another system records. */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  set(attributes: Attributes): void;
  fail(message: string): void;
  end(): void;
}

/** A span that is still open. Pass `context` to the spans inside it (as `ctx.trace`). */
export interface OpenSpan {
  readonly context: object;
  /** Whether anyone can read its attributes: what is dear to note need not be noted otherwise. */
  readonly isRecorded: boolean;
  set(attributes: Attributes): void;
  /** Sets an attribute whose text is made when the trace is read, and the memory it takes until then. */
  setLazy(name: string, value: LazyText, bytes: number): void;
  /** The history of a session that all its traces share, brought up to date. `undefined` when the span is not kept. */
  historyOf(session: ReadonlySession): SessionHistory | undefined;
  /** Records an error, and the `file:line` that threw it if clients may see it. The span still has to end. */
  fail(error: unknown, where?: string): void;
  end(): void;
}

/** Characters of a span's name: it may contain a tool name that a model invented. */
const maxNameLength = 512;
/** Bytes of arguments, or of a response, that a span holds. */
const maxValueBytes = 512 * 1024;

/** What all spans of one trace share. */
export class TraceRef {
  readonly id: string;
  readonly sink: SpanSink | undefined;
  readonly exporter: SpanExporter | undefined;
  /** Its start, in milliseconds of `performance.now()`. */
  readonly beganAt = performance.now();
  /** Number of spans. */
  size = 0;
  /** Whether the sink keeps it. Only the sink writes it, at the first span. */
  isRecorded = true;
  /** The sink's own record of the trace. Only the sink writes it. */
  record: object | undefined = undefined;

  constructor(id: string, { sink, exporter }: Root) {
    this.id = id;
    this.sink = sink;
    this.exporter = exporter;
  }
}

/** The parent of a trace's first span. */
class Root {
  readonly sink: SpanSink | undefined;
  readonly exporter: SpanExporter | undefined;

  constructor(sink: SpanSink | undefined, exporter: SpanExporter | undefined) {
    this.sink = sink;
    this.exporter = exporter;
  }
}

const silent = new Root(undefined, undefined);

/** Starts a trace: pass it as the parent of the first span. Spans go to `sink`, and to what `exporter` sends them to. */
export function rootTrace(sink?: SpanSink, exporter?: SpanExporter): object {
  return new Root(sink, exporter);
}

/**
 * Opens a span below `parent` (a `context` of another span, or a `rootTrace`). Opens a trace's first span with the
 * exporter, too, and the spans inside it if that one is recorded: a trace is exported whole or not at all. `name` is
 * ADK's, for readers of the trace; this server uses `kind`.
 */
export function openSpan(kind: SpanKind, name: string, parent: object, attributes: Attributes = {}): OpenSpan {
  const above = parent instanceof RecordedSpan || parent instanceof Root ? parent : silent;
  return new RecordedSpan(kind, name, above, attributes);
}

/** Sets an attribute to a value as JSON, truncated. The JSON is made when the trace is read. */
export function noteJson(span: OpenSpan, name: string, value: object): void {
  if (!span.isRecorded) return;
  const bytes = memoryBytes(value, maxValueBytes);
  const held = bytes > maxValueBytes ? truncate(value, maxValueBytes) : value;
  span.setLazy(name, new LazyJson(held), Math.min(bytes, maxValueBytes));
}

/**
 * One object is the open span, the stored span and the parent of inner spans, and its numbers are small integers: every
 * run leaves three spans, and the garbage collector copies everything that survives twice.
 */
class RecordedSpan implements OpenSpan, SpanRecord {
  readonly kind: SpanKind;
  readonly name: string;
  readonly trace: TraceRef;
  readonly attributes: SpanRecord['attributes'];
  earlier: SpanRecord | undefined = undefined;
  bytes = 0;
  record: object | undefined = undefined;
  mark = 0;
  readonly #parent: RecordedSpan | undefined;
  /** Its number in the trace. */
  readonly #number: number;
  /** Microseconds since the trace began. */
  readonly #start: number;
  /** The same; -1 while the span is open. */
  #end = -1;
  /** Absent when the exporter does not record the trace. */
  readonly #exported: ExportedSpan | undefined;

  constructor(kind: SpanKind, name: string, above: RecordedSpan | Root, attributes: Attributes) {
    const parent = above instanceof RecordedSpan ? above : undefined;
    this.kind = kind;
    this.name = truncateText(name, maxNameLength);
    this.attributes = attributes;
    this.#parent = parent;
    const outer = parent && parent.#exported;
    const { exporter } = above instanceof Root ? above : above.trace;
    this.#exported = parent && !outer ? undefined : exporter?.start(name, attributes, outer);
    this.trace = above instanceof Root ? new TraceRef(this.#exported?.traceId ?? randomTraceId(), above) : above.trace;
    this.#number = this.trace.size += 1;
    this.#start = microsIn(this.trace);
    this.sink?.opened?.(this);
  }

  get sink(): SpanSink | undefined {
    return this.trace.sink;
  }

  get context(): object {
    return this;
  }

  get isRecorded(): boolean {
    return this.#exported !== undefined || (this.trace.isRecorded && this.sink !== undefined);
  }

  /** The exporter's id, else made from the trace's id and the span's number. */
  get spanId(): string {
    if (this.#exported) return this.#exported.spanId;
    const number = this.#number.toString(16).padStart(4, '0');
    return this.trace.id.slice(0, idLength - number.length) + number;
  }

  get parentId(): string | undefined {
    return this.#parent?.spanId;
  }

  get startTime(): number {
    return timeIn(this.trace, this.#start);
  }

  get endTime(): number {
    return this.#end < 0 ? 0 : timeIn(this.trace, this.#end);
  }

  set(attributes: Attributes): void {
    Object.assign(this.attributes, attributes);
    this.#exported?.set(attributes);
  }

  setLazy(name: string, value: LazyText, bytes: number): void {
    this.attributes[name] = value;
    this.bytes += bytes;
    this.#exported?.set({ [name]: value.text() });
  }

  historyOf(session: ReadonlySession): SessionHistory | undefined {
    return this.sink?.historyOf?.(this, session);
  }

  fail(error: unknown, where?: string): void {
    const text = errorText(error);
    this.set({
      'error.type': error instanceof Error ? error.name : 'Error',
      'error.message': text,
      ...(where !== undefined && { 'agent_server.error.where': where }),
    });
    this.#exported?.fail(text);
  }

  end(): void {
    if (this.#end >= 0) return;
    this.#end = microsIn(this.trace);
    this.#exported?.end();
    this.trace.exporter?.measure(this);
    this.sink?.ended(this);
  }
}

const { timeOrigin } = performance;
const microsIn = ({ beganAt }: TraceRef): number => Math.round((performance.now() - beganAt) * 1e3);
const timeIn = ({ beganAt }: TraceRef, micros: number): number =>
  Math.round((timeOrigin + beganAt) * 1e3 + micros) * 1e3;

/** Characters of a span's id. */
const idLength = 16;

// Ids only have to be unlikely to collide; bytes are drawn in blocks because a call for 16 costs as much as one for 4,096.
let pool = '';
let used = 0;

function randomTraceId(): string {
  if (used === pool.length) {
    pool = nodeCrypto().randomBytes(4_096).toString('hex');
    used = 0;
  }
  used += 32;
  return pool.slice(used - 32, used);
}
