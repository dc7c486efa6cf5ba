import type { FunctionResponse } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { type CallRow, type RequestRow, type Row, rowsOf, statusOf } from './rows.ts';

/** From so many consecutive calls on they are folded into one row. */
const foldFrom = 4;
/** Largest number of calls in a fold: each change copies its list. */
const foldMost = 200;

interface Place {
  readonly row: number;
  /** Position inside a fold. */
  readonly within: number | undefined;
}

/**
 * The rows of a conversation, updated event by event: the cost of an event does not depend on the number of rows.
 * Rows that change are replaced, so that a row that is the same object looks the same.
 */
export class RowList {
  readonly rows: Row[] = [];
  /** Unanswered requests, by call id. */
  readonly pending = new Map<string, RequestRow | CallRow>();
  readonly #places = new Map<string, Place>();
  /** The first row of each event that has one. */
  readonly #ofEvent = new Map<string, number>();

  add(event: Event, index: number): void {
    const first = this.rows.length;
    for (const row of rowsOf(event, index)) this.#push(row);
    for (const part of event.content?.parts ?? []) {
      if (part.functionResponse) this.#answer(part.functionResponse, event);
    }
    if (this.rows.length > first || !this.#ofEvent.has(event.id)) {
      this.#ofEvent.set(event.id, Math.min(first, this.rows.length - 1));
    }
  }

  /** The row of an event: its own, or that of the call it answers. */
  rowOf(eventId: string): number | undefined {
    return this.#ofEvent.get(eventId);
  }

  #push(row: Row): void {
    const at = this.rows.length;
    this.rows.push(row);
    if (row.kind !== 'call' && row.kind !== 'request') return;
    const id = row.call.id;
    if (id !== undefined) {
      this.#places.set(id, { row: at, within: undefined });
      if (row.kind === 'request' || row.status === 'waiting') this.pending.set(id, row);
    }
    if (row.kind === 'call') this.#fold(row);
  }

  /** Folds the last rows when they are enough calls, or adds the last one to the fold before it. */
  #fold(row: CallRow): void {
    const before = this.rows.at(-2);
    if (before?.kind === 'fold' && before.calls.length < foldMost) {
      this.rows.pop();
      this.rows[this.rows.length - 1] = { ...before, calls: [...before.calls, row] };
      this.#place(row, before.calls.length);
      return;
    }
    const last = this.rows.slice(-foldFrom);
    if (last.length < foldFrom || !last.every((one) => one.kind === 'call')) return;
    this.rows.length -= foldFrom - 1;
    this.#setFold(this.rows.length - 1, last, `${row.key}/fold`);
  }

  #setFold(at: number, calls: readonly CallRow[], key: string): void {
    const [first] = calls;
    if (!first) return;
    this.rows[at] = { kind: 'fold', key, event: first.event, index: first.index, calls };
    for (const [within, call] of calls.entries()) this.#place(call, within);
  }

  /** Records that a call is now in the last row, which is a fold. */
  #place({ call, event }: CallRow, within: number): void {
    const row = this.rows.length - 1;
    if (call.id !== undefined) this.#places.set(call.id, { row, within });
    this.#ofEvent.set(event.id, row);
  }

  #answer(response: FunctionResponse, event: Event): void {
    const place = response.id === undefined ? undefined : this.#places.get(response.id);
    const row = place && this.rows[place.row];
    if (!place || !row || response.id === undefined) return;
    this.#ofEvent.set(event.id, place.row);
    if (row.kind === 'request') {
      this.rows[place.row] = { ...row, answer: response, answerEvent: event };
      this.pending.delete(response.id);
      return;
    }
    const call = row.kind === 'fold' ? row.calls[place.within ?? -1] : row;
    if (call?.kind !== 'call') return;
    const status = statusOf(call.call, call.event, { response, event });
    const answered: CallRow = { ...call, response, responseEvent: event, status };
    if (status !== 'waiting') this.pending.delete(response.id);
    if (row.kind !== 'fold') this.rows[place.row] = answered;
    else this.rows[place.row] = { ...row, calls: row.calls.with(place.within ?? 0, answered) };
  }
}
