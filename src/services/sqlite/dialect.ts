import { adkMs } from '../adk-time.ts';
import type { Connection } from './connection.ts';

/** A value of a time column. */
export type ColumnTime = number | string;

/** One of the time formats of ADK. */
export interface TimeForm {
  /** Converts seconds to a column value, later than `before`, which has the same format. */
  readonly time: (seconds: number, before?: ColumnTime) => ColumnTime;
  /** The value of the event column, from an event in the JSON of ADK for TypeScript and its time in seconds. */
  readonly eventData: (json: string, seconds: number) => string;
}

/** ADK for TypeScript: whole milliseconds, also inside events. */
const milliseconds: TimeForm = {
  time: (exact, before) => Math.max(adkMs(exact), Number(before ?? -Infinity) + 1),
  eventData: (json) => json,
};

/** `SqliteSessionService` of ADK for Python: seconds with full precision. */
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

/** Years that Python's calendar can write with four digits. */
const earliestTextMicro = Date.UTC(100, 0) * 1000;
const latestTextMicro = Date.UTC(9999, 11, 31) * 1000;

/** ADK for Python expects the time inside an event in seconds. */
function inSeconds(json: string, timestamp: number): string {
  return JSON.stringify({ ...(JSON.parse(json) as object), timestamp });
}

/** Differences between the tables of a database and those of ADK for TypeScript. */
export interface Dialect {
  /** The format for rows of a session with a time like this one; without it, for a new session. */
  readonly form: (like?: ColumnTime) => TimeForm;
  /** The seconds of a time column. */
  readonly seconds: (time: ColumnTime) => number;
  /** Whether it is more precise than milliseconds. */
  readonly isExact: (time: ColumnTime) => boolean;
  /** An SQL expression for the milliseconds of a time column; null for an invalid time. */
  readonly msColumn: (column: string) => string;
  readonly hasEventSequence: boolean;
}

/**
 * The dialect of an open database. ADK for TypeScript stores times as milliseconds, ADK for Python as seconds
 * (`SqliteSessionService`: REAL) or as texts (`DatabaseSessionService`: VARCHAR keys). Texts are read in all of them, because
 * SQLite does not enforce column types, and a session keeps its format.
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

/** From a number of seconds, or a text with up to six decimal places; 0 for an invalid time. */
function secondsOf(time: ColumnTime): number {
  if (typeof time === 'number') return time;
  const whole = Date.parse(`${time.slice(0, 19).replace(' ', 'T')}Z`) / 1000;
  const micros = Number(time.slice(20, 26).padEnd(6, '0'));
  return (whole * 1e6 + micros) / 1e6 || 0;
}

/** The context of a write: the connection of its transaction. */
export interface WriteContext {
  readonly connection: Connection;
  readonly dialect: Dialect;
}
