import type { GenerateConfig, ModelRequest } from '../../core/model.ts';
import type { Content } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { ReadonlySession } from '../../schemas/session.ts';
import type { LazyText } from '../../telemetry/lazy-text.ts';
import { SessionHistory } from '../../telemetry/session-history.ts';
import type { OpenSpan } from '../../telemetry/spans.ts';
import { memoryBytes, eventMemoryBytes, truncate } from '../../telemetry/truncate.ts';
import { buildContents, type View } from './contents.ts';

/** Bytes of contents, of each one of them, and of instructions and tools, that a request in a trace holds or shows. */
const maxContentsBytes = 2 * 1024 ** 2;
const maxContentBytes = 512 * 1024;
const maxConfigBytes = 1024 ** 2;
/** Events that a request holds itself, and their bytes. */
const fewEvents = 4;
const maxFewBytes = 16 * 1024;
/** Bytes of the objects that represent a request in a trace. */
const ownBytes = 400;

/** How to rebuild the contents of a request: from the first `count` events of its session, in an agent's view. */
export interface ContentsSource {
  readonly count: number;
  readonly view: View;
}

/** A request as a trace keeps it, and the bytes it holds in memory. */
interface HeldRequest extends LazyText {
  readonly bytes: number;
}

/**
 * A request whose contents a reader of the trace rebuilds from session events: it holds few events itself; longer
 * histories are held once for all traces of the session.
 */
export function rebuildableRequest(
  { model, config }: ModelRequest,
  source: ContentsSource,
  span: OpenSpan,
  session: ReadonlySession,
): HeldRequest {
  const { systemInstruction = '' } = config;
  // Tools are shared by all requests of the agent.
  const held = systemInstruction.length * 2 > maxConfigBytes ? truncate(config, maxConfigBytes) : config;
  let bytes = ownBytes + Math.min(maxConfigBytes, systemInstruction.length * 2);
  const few = source.count <= fewEvents ? session.events.slice(0, source.count) : undefined;
  const fewBytes = few?.reduce((sum, event) => sum + eventMemoryBytes(event, maxFewBytes), 0) ?? Infinity;
  let history: SessionHistory | readonly Event[];
  if (few && fewBytes <= maxFewBytes) {
    history = few;
    bytes += fewBytes * 2; // stored events may know their text as JSON
  } else history = span.historyOf(session) ?? session.events;
  return new RebuildableRequest({ model, config: held }, source, history, bytes);
}

class RebuildableRequest implements HeldRequest {
  readonly #model: string;
  readonly #config: GenerateConfig;
  readonly #source: ContentsSource;
  readonly #history: SessionHistory | readonly Event[];
  readonly bytes: number;

  constructor(
    { model, config }: Pick<ModelRequest, 'model' | 'config'>,
    source: ContentsSource,
    history: SessionHistory | readonly Event[],
    bytes: number,
  ) {
    this.#model = model;
    this.#config = config;
    this.#source = source;
    this.#history = history;
    this.bytes = bytes;
  }

  text(): string {
    return requestText(this.#model, this.#config, rebuilt(this.#source, this.#history));
  }
}

/** A request that owns its contents. */
export function sentRequest({ model, config, contents }: ModelRequest): HeldRequest {
  const held = truncate(config, maxConfigBytes);
  const kept = newest(contents, 0);
  return {
    text: () => requestText(model, held, kept),
    bytes: ownBytes + memoryBytes(held, Infinity) + memoryBytes(kept.contents, Infinity),
  };
}

/** JSON without media, which are useless in a trace. */
export const traceJson = (value: unknown): string => JSON.stringify(value, withoutMedia);

interface ShownContents {
  readonly contents: readonly Content[];
  /** Number of events that are not shown, because they or later ones are too long. Absent: none. */
  readonly omitted?: number;
}

/** The newest contents, as far as they are not too long. */
function newest(contents: readonly Content[], omitted: number): ShownContents {
  let first = contents.length;
  let bytes = 0;
  const cut: Content[] = [];
  while (first > 0 && bytes < maxContentsBytes) {
    first -= 1;
    const content = truncate(contents[first] as Content, maxContentBytes);
    bytes += memoryBytes(content, Infinity);
    cut.push(content);
  }
  const missing = omitted + first;
  return { contents: cut.toReversed(), ...(missing > 0 && { omitted: missing }) };
}

function rebuilt({ count, view }: ContentsSource, history: SessionHistory | readonly Event[]): ShownContents {
  if (!(history instanceof SessionHistory)) return newest(buildContents(history.slice(0, count), view), 0);
  const { events, omitted } = history.upTo(count);
  try {
    return newest(buildContents(events, view), omitted);
  } catch (error) {
    if (omitted === 0) throw error;
    // A response whose call was dropped cannot be put in order.
    return { contents: [], omitted: count };
  }
}

/** Leaves out response schemas, too. `omittedContents`: the number of earlier contents that are not shown. */
function requestText(model: string, config: GenerateConfig, { contents, omitted }: ShownContents): string {
  const { responseSchema: _, ...shown } = config;
  return traceJson({ model, contents, omittedContents: omitted, config: truncate(shown, maxConfigBytes) });
}

const withoutMedia = (key: string, value: unknown): unknown =>
  key === 'inlineData' && typeof value === 'object' && value !== null ? { ...value, data: undefined } : value;
