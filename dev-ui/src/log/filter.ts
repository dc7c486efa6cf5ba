import type { Event } from '../../../src/schemas/event.ts';
import type { Row } from './rows.ts';

/** Which rows to show: words in the text, and `kind:` `author:` `tool:` `is:error` `is:state`. All of them must match. */
export interface Filter {
  readonly words: readonly string[];
  readonly kinds: readonly string[];
  readonly authors: readonly string[];
  readonly tools: readonly string[];
  readonly errors: boolean;
  readonly state: boolean;
}

/** One part of a filter, as it is written. */
export type Term = string;

/** The parts of a filter: separated by blanks, with quotes around what holds blanks. */
export const termsOf = (text: string): Term[] => text.match(/(?:[^\s"]*"[^"]*"|\S)+/g) ?? [];

const valueOf = (term: Term): string => term.slice(term.indexOf(':') + 1).replaceAll('"', '');

export function parseFilter(text: string): Filter {
  const terms = termsOf(text);
  const valuesOf = (name: string): string[] => terms.filter((term) => term.startsWith(`${name}:`)).map(valueOf);
  return {
    words: terms
      .filter((term) => !/^(?:kind|author|tool|is):/.test(term))
      .map((term) => term.replaceAll('"', '').toLowerCase()),
    kinds: valuesOf('kind'),
    authors: valuesOf('author'),
    tools: valuesOf('tool'),
    errors: valuesOf('is').includes('error'),
    state: valuesOf('is').includes('state'),
  };
}

/** A term for a value that may hold blanks. */
export const term = (name: string, value: string): Term => `${name}:${/\s/.test(value) ? `"${value}"` : value}`;

const texts = new WeakMap<Event, string>();

function textOf(event: Event): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const { content, actions, errorCode = '', errorMessage = '', author } = event;
  const text = `${author} ${errorCode} ${errorMessage} ${JSON.stringify(content?.parts ?? [])} ${JSON.stringify(actions.stateDelta)}`;
  const lower = text.toLowerCase();
  texts.set(event, lower);
  return lower;
}

const eventsOf = (row: Row): Event[] => {
  if (row.kind === 'fold')
    return row.calls.flatMap((call) => [call.event, ...(call.responseEvent ? [call.responseEvent] : [])]);
  if (row.kind === 'call' && row.responseEvent) return [row.event, row.responseEvent];
  return [row.event];
};

const toolsOf = (row: Row): string[] => {
  if (row.kind === 'fold') return row.calls.map(({ call }) => call.name);
  return row.kind === 'call' || row.kind === 'request' ? [row.call.name] : [];
};

const isError = (row: Row): boolean =>
  row.kind === 'error' ||
  (row.kind === 'call' && row.status === 'error') ||
  (row.kind === 'fold' && row.calls.some((call) => call.status === 'error'));

/** Whether a row matches all parts of a filter. */
export function fits(row: Row, filter: Filter): boolean {
  const { words, kinds, authors, tools, errors, state } = filter;
  if (kinds.length > 0 && !kinds.includes(row.kind === 'fold' ? 'call' : row.kind)) return false;
  if (authors.length > 0 && !authors.includes(row.event.author)) return false;
  if (tools.length > 0 && !toolsOf(row).some((tool) => tools.includes(tool))) return false;
  if (errors && !isError(row)) return false;
  const events = eventsOf(row);
  if (state && !events.some(({ actions }) => Object.keys(actions.stateDelta).length > 0)) return false;
  return words.every((word) => events.some((event) => textOf(event).includes(word)));
}

/** Whether a single event matches, as a row of this event alone would. */
export function eventFits(event: Event, filter: Filter): boolean {
  const parts = event.content?.parts ?? [];
  const tools = parts.flatMap(
    ({ functionCall, functionResponse }) => functionCall?.name ?? functionResponse?.name ?? [],
  );
  const failed = event.errorCode !== undefined || event.errorMessage !== undefined;
  if (filter.kinds.length > 0 && !filter.kinds.includes(kindOf(event))) return false;
  if (filter.authors.length > 0 && !filter.authors.includes(event.author)) return false;
  if (filter.tools.length > 0 && !tools.some((tool) => filter.tools.includes(tool))) return false;
  if (filter.errors && !failed) return false;
  if (filter.state && Object.keys(event.actions.stateDelta).length === 0) return false;
  return filter.words.every((word) => textOf(event).includes(word));
}

/** The kind of an event. */
export function kindOf(event: Event): Row['kind'] | 'result' {
  const parts = event.content?.parts ?? [];
  if (event.errorCode !== undefined || event.errorMessage !== undefined) return 'error';
  if (parts.some((part) => part.functionCall)) return 'call';
  if (parts.some((part) => part.functionResponse)) return 'result';
  if (event.actions.transferToAgent !== undefined) return 'transfer';
  if (parts.length === 0) return 'note';
  return event.author === 'user' ? 'user' : 'text';
}
