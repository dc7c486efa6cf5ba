import type { Part } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import type { State } from '../../../src/schemas/session.ts';
import { RowList } from './row-list.ts';
import type { CallRow, RequestRow, Row } from './rows.ts';
import { extend, type Turn } from './turns.ts';

/** The chunks of the current step, which are not an event yet. */
export interface Speech {
  readonly author: string;
  /** Distinguishes agents of the same name that run in parallel. */
  readonly branch: string;
  readonly text: string;
  readonly thought: string;
}

/**
 * The events of a session in order, with indexes that grow with them: adding an event costs what the event holds,
 * whatever came before. All views read from here. `version` changes with every change, and
 * subscribers are notified once for each batch.
 */
export class EventLog {
  version = 0;
  /** Counts how often the log was cleared: data derived from it before is invalid. */
  generation = 0;
  events: Event[] = [];
  turns = new Map<string, Turn>();
  /** Positions of events by author, and by the tool they call or answer. */
  byAuthor = new Map<string, number[]>();
  byTool = new Map<string, number[]>();
  /** The state: that of the session at its creation, with the changes of the events. */
  state: State = {};
  /** The current speeches of agents: several at once when they run in parallel. */
  speeches: readonly Speech[] = [];
  /** Positions of rewound events, as `[first, last]`. */
  rewound: (readonly [number, number])[] = [];
  #rows = new RowList();
  #positions = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  get rows(): readonly Row[] {
    return this.#rows.rows;
  }

  get pending(): ReadonlyMap<string, RequestRow | CallRow> {
    return this.#rows.pending;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly getVersion = (): number => this.version;

  positionOf(eventId: string): number | undefined {
    return this.#positions.get(eventId);
  }

  eventOf(eventId: string): Event | undefined {
    return this.events[this.#positions.get(eventId) ?? -1];
  }

  rowOf(eventId: string): number | undefined {
    return this.#rows.rowOf(eventId);
  }

  isRewound(index: number): boolean {
    return this.rewound.some(([first, last]) => index >= first && index <= last);
  }

  /** Starts again with these events and this state. */
  reset(events: readonly Event[], state: State): void {
    this.generation += 1;
    this.events = [];
    this.turns = new Map();
    this.byAuthor = new Map();
    this.byTool = new Map();
    this.rewound = [];
    this.speeches = [];
    this.#rows = new RowList();
    this.#positions = new Map();
    for (const event of events) this.#add(event);
    this.state = state;
    this.#tell();
  }

  /** Adds events in order. Known events are skipped, partial ones extend the current speech. */
  append(events: readonly Event[]): void {
    for (const event of events) {
      if (event.partial) this.#speak(event);
      else {
        this.#silence(event);
        if (this.#positions.has(event.id)) continue;
        this.#add(event);
        this.#change(event.actions.stateDelta);
      }
    }
    this.#tell();
  }

  /**
   * Replaces the events from a position on. Earlier events stay: their rows are built again, which costs
   * their number once for each run.
   */
  truncate(from: number, events: readonly Event[]): void {
    const { generation } = this;
    this.reset([...this.events.slice(0, from), ...events], this.state);
    this.generation = generation;
  }

  /** Replaces the state, after it was changed on the server. */
  setState(state: State): void {
    this.state = state;
    this.#tell();
  }

  /** Removes the current speeches, because their run has ended. */
  hush(): void {
    if (this.speeches.length === 0) return;
    this.speeches = [];
    this.#tell();
  }

  #add(event: Event): void {
    const index = this.events.length;
    this.events.push(event);
    this.#positions.set(event.id, index);
    this.turns.set(event.invocationId, extend(this.turns.get(event.invocationId), event, index));
    push(this.byAuthor, event.author, index);
    for (const { functionCall, functionResponse } of event.content?.parts ?? []) {
      const name = functionCall?.name ?? functionResponse?.name;
      if (name !== undefined) push(this.byTool, name, index);
    }
    const target = event.actions.rewindBeforeInvocationId;
    const first = target === undefined ? undefined : this.turns.get(target)?.first;
    if (first !== undefined && first < index) this.rewound.push([first, index - 1]);
    this.#rows.add(event, index);
  }

  #speak({ author, branch = '', content }: Event): void {
    const parts = content?.parts ?? [];
    const at = this.speeches.findIndex((one) => one.author === author && one.branch === branch);
    const before = this.speeches[at] ?? { author, branch, text: '', thought: '' };
    const text = before.text + textsOf(parts, false);
    const thought = before.thought + textsOf(parts, true);
    const speech = { author, branch, text, thought };
    this.speeches = at < 0 ? [...this.speeches, speech] : this.speeches.with(at, speech);
  }

  /** Ends the speech of an agent: its event has arrived. */
  #silence({ author, branch = '' }: Event): void {
    if (this.speeches.length === 0) return;
    this.speeches = this.speeches.filter((one) => one.author !== author || one.branch !== branch);
  }

  #change(delta: State): void {
    const entries = Object.entries(delta).filter(([key]) => !key.startsWith('temp:'));
    if (entries.length === 0) return;
    const merged = { ...this.state, ...Object.fromEntries(entries) };
    this.state = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
  }

  #tell(): void {
    this.version += 1;
    for (const listener of this.#listeners) listener();
  }
}

function push(index: Map<string, number[]>, key: string, position: number): void {
  const positions = index.get(key);
  if (positions) positions.push(position);
  else index.set(key, [position]);
}

const textsOf = (parts: readonly Part[], thought: boolean): string =>
  parts.map((part) => ((part.thought ?? false) === thought ? (part.text ?? '') : '')).join('');
