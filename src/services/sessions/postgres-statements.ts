import type { Dialect } from '../postgres/dialect.ts';

/** The optional parts of an append statement; their values come in this order, after the ten common ones. */
export interface AppendShape {
  /** The run, the number of its event, and its fencing token. */
  readonly isFenced: boolean;
  /** The set and removed keys of the session's state. */
  readonly changesState: boolean;
  /** The same for the app's and the user's state. */
  readonly changesScopes: boolean;
}

/** A prepared statement: each connection plans it once, by its name. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** The statements of the session tables, in the dialect of one database. */
export interface SessionStatements {
  readonly find: string;
  readonly findByApp: string;
  readonly list: string;
  readonly create: string;
  readonly append: (shape: AppendShape) => NamedStatement;
  readonly events: string;
  /** The same in descending order. */
  readonly eventsBackwards: string;
  readonly importEvents: string;
}

// ADK orders events by its time column, so that grows with each event by at least a millisecond. If it differs from the
// value that we wrote last, ADK has written since, and its time is used.
const lastUpdate = `case when clock_ms = extract(epoch from update_time) * 1000 then last_update
  else greatest(last_update, extract(epoch from update_time)::float8) end`;

const row = `select s.app_name as "appName", s.user_id as "userId", s.id as "sessionId", s.num::float8 as "sessionNumber",
  s.next_seq::float8 as "nextSeq", s.revision::float8 as revision, s.state::text as state,
  a.state::text as "appState", u.state::text as "userState", s.imported::float8 as imported, ${lastUpdate
    .replaceAll('clock_ms', 's.clock_ms')
    .replaceAll('update_time', 's.update_time')
    .replaceAll('last_update', 's.last_update')} as "lastUpdateTime"
  from sessions s left join app_states a on a.app_name = s.app_name
  left join user_states u on u.app_name = s.app_name and u.user_id = s.user_id`;

// $1 app, $2 user, $3 session, $4 number of the session, $5 first event, $6 behind the last, $7 events, $8 bytes.
const eventsStatement = (order: 'asc' | 'desc'): string => `select seq, body, "eventData" from (
    select seq::float8 as seq, body, "eventData",
      sum(octet_length(coalesce(body, "eventData"))) over (order by seq ${order} rows between unbounded preceding and 1 preceding) as before
    from (select o.seq, o.body, e.event_data::text as "eventData"
      from agent_events o left join events e on o.body is null
        and e.id = o.event_id and e.app_name = $1 and e.user_id = $2 and e.session_id = $3
      where o.session_num = $4 and o.seq >= $5 and o.seq < $6 order by o.seq ${order} limit $7) found) sized
  where coalesce(before, 0) < $8 order by seq ${order}`;

export function sessionStatements(dialect: Dialect): SessionStatements {
  const { time, eventData } = dialect;
  const appends = new Map<string, NamedStatement>();
  return {
    find: `${row} where s.id = $3 and s.app_name = $1 and s.user_id = $2`,
    findByApp: `${row} where s.id = $2 and s.app_name = $1 order by s.user_id limit 1`,
    list: `${row} where s.app_name = $1 and s.user_id = $2 order by s.num`,
    create: createStatement(time),
    append(shape) {
      const { isFenced, changesState, changesScopes } = shape;
      const name = `agent-append${isFenced ? '-fenced' : ''}${changesState ? '-state' : ''}${changesScopes ? '-scopes' : ''}`;
      const known = appends.get(name);
      if (known) return known;
      const made = { name, text: appendStatement(dialect, shape) };
      appends.set(name, made);
      return made;
    },
    events: eventsStatement('asc'),
    eventsBackwards: eventsStatement('desc'),
    importEvents: `with given as (
        select * from unnest($5::text[], $6::text[], $7::float8[], $8::text[], $9::text[])
          with ordinality as g(id, invocation_id, ms, data, body, position)),
      booked as (
        insert into agent_events (session_num, seq, event_id, body)
          select $4::bigint, $10::bigint + position, id, body from given)
      insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data, seq)
        select id, $1, $2, $3, invocation_id, ${time('ms')}, ${eventData('data::jsonb', 'ms / 1000')}, $10::bigint + position from given`,
  };
}

// $1 app, $2 user, $3 session, $4 state, $5 time in ms, $6 last update in s, $7 events, then what is set and removed
// of the app's ($8, $9) and the user's state ($10, $11), $12 events that were imported, $13 initial state.
function createStatement(time: Dialect['time']): string {
  return `with made as (
      insert into sessions (app_name, user_id, id, state, create_time, update_time, clock_ms, last_update, next_seq, imported,
          initial_state)
        values ($1, $2, $3, $4::jsonb, ${time('$5::float8')}, ${time('$5::float8')}, $5::float8, $6::float8, $7::bigint + 1, $12::bigint, $13)
        on conflict do nothing returning num),
    ${scopes(time, 'made', 8)}
    select num::float8 as num from made`;
}

// $1 app, $2 user, $3 session, $4 time in ms, $5 time in s, $6 event id, $7 invocation, $8 event_data, $9 body, $10 session number.
function appendStatement(
  { time, eventData, hasEventSequence }: Dialect,
  { isFenced, changesState, changesScopes }: AppendShape,
): string {
  let values = 10;
  const next = (): string => `$${(values += 1)}`;
  const [run, step, fencingToken] = isFenced ? [next(), next(), next()] : [];
  const [set, removed] = changesState ? [next(), next()] : [];
  const moment = `greatest(${time('$4::float8')}, update_time + interval '1 millisecond')`;
  const own = `fence = ${fencingToken} and not exists (select from agent_events where run_id = ${run} and step = ${step})`;
  return `with made as (
      update sessions set next_seq = next_seq + 1, update_time = ${moment},
          clock_ms = extract(epoch from ${moment}) * 1000, last_update = greatest(${lastUpdate}, $5::float8)
          ${changesState ? `, state = (state - ${removed}::text[]) || ${set}::jsonb` : ''}
          ${hasEventSequence ? ', event_sequence = event_sequence + 1' : ''}
        where id = $3 and app_name = $1 and user_id = $2 and ($10::bigint is null or num = $10) ${isFenced ? `and ${own}` : ''}
        returning num, next_seq - 1 as seq, update_time, last_update),
    event as (
      insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data, seq)
        select $6, $1, $2, $3, $7, update_time, ${eventData('$8::jsonb', '$5::float8')}, seq from made),
    booked as (
      insert into agent_events (session_num, seq, event_id, body${isFenced ? ', run_id, step' : ''})
        select num, seq, $6, $9${isFenced ? `, ${run}, ${step}::int` : ''} from made)
    ${changesScopes ? `, ${scopes(time, 'made', values + 1)}` : ''}
    select num::float8 as "sessionNumber", seq::float8 as seq, last_update as "lastUpdateTime" from made`;
}

/** Writes the app's and the user's state, if there are changes and `source` has a row. */
function scopes(time: Dialect['time'], source: string, first: number): string {
  const [appSet, appRemoved, userSet, userRemoved] = [0, 1, 2, 3].map((offset) => `$${first + offset}`);
  const now = time('(extract(epoch from clock_timestamp()) * 1000)');
  return `of_app as (
      insert into app_states (app_name, state, update_time)
        select $1, ${appSet}::jsonb, ${now} from ${source} where ${appSet}::text is not null
        on conflict (app_name) do update set update_time = excluded.update_time,
          state = (app_states.state - ${appRemoved}::text[]) || excluded.state),
    of_user as (
      insert into user_states (app_name, user_id, state, update_time)
        select $1, $2, ${userSet}::jsonb, ${now} from ${source} where ${userSet}::text is not null
        on conflict (app_name, user_id) do update set update_time = excluded.update_time,
          state = (user_states.state - ${userRemoved}::text[]) || excluded.state)`;
}
