import { adkMs } from '../adk-time.ts';
import type { Connection } from './connection.ts';

/** What a time column holds. */
export type ColumnTime = number | string;

/** One of the forms that ADKs keep times in. */
export interface TimeForm {
  /** A time in seconds as a column holds it; later than `before`, a time of the same form. */
  readonly time: (seconds: number, before?: ColumnTime) => ColumnTime;
  /** An event's JSON as its column holds it, of an event in the JSON of ADK for TypeScript and its time in seconds. */
  readonly eventData: (json: string, seconds: number) => string;
}

/** ADK for TypeScript: whole milliseconds, within events, too. */
const milliseconds: TimeForm = {
  time: (exact, before) => Math.max(adkMs(exact), Number(before ?? -Infinity) + 1),
  eventData: (json) => json,
};

/** `SqliteSessionService` of ADK for Python: seconds, as exactly as they are given. */
const seconds: TimeForm = {
  time: (exact, before) => (before === undefined || exact > Number(before) ? exact : nextMicro(Number(before)) / 1e6),
  eventData: inSeconds,
};

/** `DatabaseSessionService` of ADK for Python: texts in UTC with microseconds, without a zone. */
const texts: TimeForm = {
  time(exact, before) {
    const earliest = before === undefined ? earliestTextMicro : nextMicro(secondsOf(before));
    const micro = Math.min(latestTextMicro, Math.max(Math.round(exact * 1e6), earliest));
    const whole = Math.floor(micro / 1e6);
    const text = new Date(whole * 1000).toISOString().slice(0, 19).replace('T', ' ');
    return `${text}.${String(micro - whole * 1e6).padStart(6, '0')}`;
  },
  eventData: inSeconds,
};

const nextMicro = (exact: number): number => Math.round(exact * 1e6) + 1;

/** Years that a calendar of Python has, written with four digits. */
const earliestTextMicro = Date.UTC(100, 0) * 1000;
const latestTextMicro = Date.UTC(9999, 11, 31) * 1000;

/** ADK for Python takes the time within an event for one in seconds. */
function inSeconds(json: string, timestamp: number): string {
  return JSON.stringify({ ...(JSON.parse(json) as object), timestamp });
}

/** How the tables of a database differ from those of ADK for TypeScript. */
export interface Dialect {
  /** The form for a row whose session has a time like this one, or for a new session. */
  readonly form: (like?: ColumnTime) => TimeForm;
  /** The seconds of a time column. */
  readonly seconds: (time: ColumnTime) => number;
  /** Whether it holds more than whole milliseconds. */
  readonly isExact: (time: ColumnTime) => boolean;
  /** An SQL expression for the milliseconds of a time column; null for what is no time. */
  readonly msColumn: (column: string) => string;
  readonly hasEventSequence: boolean;
}

/**
 * How the tables of an open database are made: ADK for TypeScript keeps times as numbers of milliseconds, ADK for Python
 * as numbers of seconds (`SqliteSessionService`: REAL) or as texts (`DatabaseSessionService`: VARCHAR keys). Texts count
 * in any of them, for SQLite keeps what it is given, and a session goes on in the form it has.
 */
export function dialectOf(connection: Connection): Dialect {
  const known = dialects.get(connection);
  if (known) return known;
  const dialect = readDialect(connection);
  dialects.set(connection, dialect);
  return dialect;
}

const dialects = new WeakMap<Connection, Dialect>();

function readDialect(connection: Connection): Dialect {
  const columns = connection.all<{ name: string; type: string }>(
    'select name, lower(type) as type from pragma_table_info(?)',
    'sessions',
  );
  const typeOf = (wanted: string): string => columns.find(({ name }) => name === wanted)?.type ?? '';
  const isInSeconds = typeOf('update_time') === 'real';
  const numbers = isInSeconds ? seconds : milliseconds;
  const usual = typeOf('app_name').startsWith('varchar') ? texts : numbers;
  const isExact = (time: ColumnTime): boolean => isInSeconds || typeof time === 'string';
  const unit = isInSeconds ? 1000 : 1;
  return {
    form: (like) => (like === undefined ? usual : typeof like === 'string' ? texts : numbers),
    seconds: (time) => (isExact(time) ? secondsOf(time) : Number(time) / 1000),
    isExact,
    msColumn: (column) =>
      `case typeof(${column}) when 'text' then unixepoch(${column}, 'subsec') * 1000 else ${column} * ${unit} end`,
    hasEventSequence: typeOf('event_sequence') !== '',
  };
}

/** Of a number of seconds, or of a text with up to six digits behind the second; 0 for what is no time. */
function secondsOf(time: ColumnTime): number {
  if (typeof time === 'number') return time;
  const whole = Date.parse(`${time.slice(0, 19).replace(' ', 'T')}Z`) / 1000;
  const micros = Number(time.slice(20, 26).padEnd(6, '0'));
  return (whole * 1e6 + micros) / 1e6 || 0;
}

/** What a write works with: the connection of its transaction. */
export interface WriteContext {
  readonly connection: Connection;
  readonly dialect: Dialect;
}
