import type { Dialect } from '../postgres/dialect.ts';

/** The statements of the session tables, in the dialect of one database. */
export interface SessionStatements {
  readonly find: string;
  readonly findByApp: string;
  readonly list: string;
  readonly create: string;
  readonly append: string;
  readonly appendWithScopes: string;
  readonly events: string;
  readonly importEvents: string;
}

// The time ADK sees grows with each event, by a millisecond at least: ADK orders events by it. Where it is not what we
// wrote last, ADK has written since, and its time counts.
const lastUpdate = `case when clock_ms = extract(epoch from update_time) * 1000 then last_update
  else greatest(last_update, extract(epoch from update_time)::float8) end`;

const row = `select s.app_name as "appName", s.user_id as "userId", s.id as "sessionId", s.num::float8 as "sessionNumber",
  s.next_seq::float8 as "nextSeq", s.revision::float8 as revision, s.state::text as state,
  a.state::text as "appState", u.state::text as "userState", ${lastUpdate
    .replaceAll('clock_ms', 's.clock_ms')
    .replaceAll('update_time', 's.update_time')
    .replaceAll('last_update', 's.last_update')} as "lastUpdateTime"
  from sessions s left join app_states a on a.app_name = s.app_name
  left join user_states u on u.app_name = s.app_name and u.user_id = s.user_id`;

export function sessionStatements({ time, hasEventSequence }: Dialect): SessionStatements {
  return {
    find: `${row} where s.id = $3 and s.app_name = $1 and s.user_id = $2`,
    findByApp: `${row} where s.id = $2 and s.app_name = $1 order by s.user_id limit 1`,
    list: `${row} where s.app_name = $1 and s.user_id = $2 order by s.num`,
    create: createStatement(time),
    append: appendStatement(time, hasEventSequence, false),
    appendWithScopes: appendStatement(time, hasEventSequence, true),
    events: `select o.seq::float8 as seq, o.body, e.event_data::text as "eventData"
      from agent_events o left join events e on o.body is null
        and e.id = o.event_id and e.app_name = $1 and e.user_id = $2 and e.session_id = $3
      where o.session_num = $4 and o.seq >= $5 and o.seq < $6 order by o.seq limit $7`,
    importEvents: `with given as (
        select * from unnest($5::text[], $6::text[], $7::float8[], $8::text[], $9::text[])
          with ordinality as g(id, invocation_id, ms, data, body, position)),
      booked as (
        insert into agent_events (session_num, seq, event_id, body)
          select $4::bigint, $10::bigint + position, id, body from given)
      insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data, seq)
        select id, $1, $2, $3, invocation_id, ${time('ms')}, data::jsonb, $10::bigint + position from given`,
  };
}

// $1 app, $2 user, $3 session, $4 state, $5 time in ms, $6 last update in s, $7 events, then what is set and removed
// of the app's ($8, $9) and the user's state ($10, $11).
function createStatement(time: Dialect['time']): string {
  return `with made as (
      insert into sessions (app_name, user_id, id, state, create_time, update_time, clock_ms, last_update, next_seq)
        values ($1, $2, $3, $4::jsonb, ${time('$5::float8')}, ${time('$5::float8')}, $5::float8, $6::float8, $7::bigint + 1)
        on conflict do nothing returning num),
    ${scopes(time, 'made', 8)}
    select num::float8 as num from made`;
}

// $1 app, $2 user, $3 session, $4 time in ms, $5 time in s, $6 and $7 what is set and removed of the session's state,
// $8 event id, $9 invocation, $10 event_data, $11 body, $12 run, $13 step, $14 fence, then as above from $15 on.
function appendStatement(time: Dialect['time'], hasEventSequence: boolean, withScopes: boolean): string {
  const moment = `greatest(${time('$4::float8')}, update_time + interval '1 millisecond')`;
  return `with made as (
      update sessions set next_seq = next_seq + 1, update_time = ${moment},
          clock_ms = extract(epoch from ${moment}) * 1000, last_update = greatest(${lastUpdate}, $5::float8),
          state = case when $6::text is null then state else (state - $7::text[]) || $6::jsonb end
          ${hasEventSequence ? ', event_sequence = event_sequence + 1' : ''}
        where id = $3 and app_name = $1 and user_id = $2 and ($14::bigint is null or fence = $14)
          and not exists (select from agent_events where run_id = $12 and step = $13)
        returning num, next_seq - 1 as seq, update_time, last_update),
    event as (
      insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data, seq)
        select $8, $1, $2, $3, $9, update_time, $10::jsonb, seq from made),
    booked as (
      insert into agent_events (session_num, seq, event_id, run_id, step, body)
        select num, seq, $8, $12, $13::int, $11 from made)
    ${withScopes ? `, ${scopes(time, 'made', 15)}` : ''}
    select num::float8 as "sessionNumber", seq::float8 as seq, last_update as "lastUpdateTime" from made`;
}

/** Writes the app's and the user's state, where there is something to write and `source` has a row. */
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
