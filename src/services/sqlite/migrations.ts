// The same tables as in PostgreSQL, for the same reasons (see services/postgres/migrations.ts). Times are milliseconds
// since the epoch, as in ADK for TypeScript, unless another ADK created the tables (dialect.ts).

/** The tables of ADK. No statement changes an existing table. */
export const adkTables = `
create table if not exists adk_internal_metadata (key text not null, value text not null, primary key (key));
create table if not exists app_states (
  app_name text not null, state json not null, update_time datetime not null, primary key (app_name));
create table if not exists user_states (
  app_name text not null, user_id text not null, state json not null, update_time datetime not null,
  primary key (app_name, user_id));
create table if not exists sessions (
  id text not null, app_name text not null, user_id text not null, state json not null,
  create_time datetime not null, update_time datetime not null, primary key (id, app_name, user_id));
create table if not exists events (
  id text not null, app_name text not null, user_id text not null, session_id text not null,
  invocation_id text not null, timestamp datetime not null, event_data json not null,
  primary key (id, app_name, user_id, session_id));
insert or ignore into adk_internal_metadata values ('schema_version', '1');
`;

/** Created again at each start, because ADK drops them. */
export const helpfulIndexes = `
create index if not exists agent_sessions_num on sessions (num);
create index if not exists agent_sessions_of_owner on sessions (app_name, user_id);
create index if not exists agent_sessions_ready on sessions (ready_at) where queued > 0;
`;

/** Whether a column of seconds contains milliseconds: 1e11 seconds are the year 5138, 1e11 milliseconds 1973. */
const isMistaken = (table: string, column: string): string => `typeof(${column}) = 'real' and ${column} > 1e11
  and exists (select 1 from pragma_table_info('${table}') where name = '${column}' and upper(type) = 'REAL')`;

const sameSession = 'id = new.session_id and app_name = new.app_name and user_id = new.user_id';

/** The migrations of our part. A released step never changes; changes are new steps. */
export const migrations: readonly string[] = [
  `
alter table sessions add column num integer;
alter table sessions add column next_seq integer not null default 1;
alter table sessions add column revision integer not null default 0;
alter table sessions add column clock_ms integer;
alter table sessions add column last_update real;
alter table sessions add column owner text;
alter table sessions add column fence integer not null default 0;
alter table sessions add column lease_until integer;
alter table sessions add column queued integer not null default 0;
alter table sessions add column ready_at integer;
alter table events add column seq integer;

create table agent_numbers (name text primary key, value integer not null) without rowid;
update sessions set num = rowid;
insert into agent_numbers select 'session', coalesce(max(num), 0) from sessions;

create table agent_events (
  session_num integer not null, seq integer not null, event_id text not null, run_id text, step integer, body text,
  primary key (session_num, seq)) without rowid;
create unique index agent_events_step on agent_events (run_id, step) where run_id is not null;

create table agent_runs (
  pos integer primary key autoincrement,
  id text not null unique,
  session_num integer not null,
  state text not null default 'queued',
  cancel text,
  input text,
  invocation_id text,
  idempotency_key text,
  error text,
  created_at integer not null,
  started_at integer,
  ended_at integer);
create index agent_runs_of_session on agent_runs (session_num, pos);
create index agent_runs_open on agent_runs (session_num, pos) where state in ('queued', 'running');
create unique index agent_runs_idempotency on agent_runs (session_num, idempotency_key) where idempotency_key is not null;

create table agent_numbered as
  select e.rowid as place, s.num as session_num, e.id as event_id,
    row_number() over (partition by s.num order by e.timestamp, e.rowid) as seq
  from events e join sessions s on s.app_name = e.app_name and s.user_id = e.user_id and s.id = e.session_id;
create unique index agent_numbered_place on agent_numbered (place);
insert into agent_events (session_num, seq, event_id) select session_num, seq, event_id from agent_numbered;
update events set seq = n.seq from agent_numbered n where n.place = events.rowid;
update sessions set next_seq = n.count + 1
  from (select session_num, count(*) as count from agent_numbered group by session_num) n where n.session_num = num;
drop table agent_numbered;

create trigger agent_number_session after insert on sessions when new.num is null begin
  update agent_numbers set value = value + 1 where name = 'session';
  update sessions set num = (select value from agent_numbers where name = 'session')
    where id = new.id and app_name = new.app_name and user_id = new.user_id;
end;
create trigger agent_number_event after insert on events when new.seq is null begin
  update sessions set next_seq = next_seq + 1 where ${sameSession};
  insert into agent_events (session_num, seq, event_id)
    select num, next_seq - 1, new.id from sessions where ${sameSession};
  update events set seq = (select next_seq - 1 from sessions where ${sameSession})
    where id = new.id and app_name = new.app_name and user_id = new.user_id and session_id = new.session_id;
end;
create trigger agent_note_change after update of event_data on events
  when old.event_data is not new.event_data begin
  update sessions set revision = revision + 1 where ${sameSession};
  update agent_events set body = null
    where seq = new.seq and session_num = (select num from sessions where ${sameSession});
end;
create trigger agent_forget_session after delete on sessions begin
  delete from agent_events where session_num = old.num;
  delete from agent_runs where session_num = old.num;
end;
`,
  `
create table agent_memories (
  id integer primary key,
  app_name text not null, user_id text not null, session_id text not null, position integer not null,
  said_at real not null, entry text not null,
  unique (app_name, user_id, session_id, position));
-- Which message has which word, in a form of our own (tokenOf). Not FTS5: the hidden tables of its index have columns
-- without a type, over which ADK for TypeScript stumbles when it looks at the database it is to open.
create table agent_memory_words (
  owner text not null, word text not null, memory_id integer not null, primary key (owner, word, memory_id)) without rowid;
create index agent_memory_words_of on agent_memory_words (memory_id);

create table agent_artifacts (
  app_name text not null, user_id text not null, session_id text not null, name text not null, version integer not null,
  part text not null, size integer not null, mime_type text, metadata text not null, created_at real not null,
  primary key (app_name, user_id, session_id, name, version)) without rowid;
create table agent_artifact_bytes (
  app_name text not null, user_id text not null, session_id text not null, name text not null, version integer not null,
  chunk integer not null, bytes blob not null,
  primary key (app_name, user_id, session_id, name, version, chunk));
`,
  `
create table agent_replicas (id text primary key, alive_until integer not null) without rowid;
alter table agent_runs add column home text;
alter table agent_runs add column kind text not null default 'run';
alter table agent_runs add column is_detached integer not null default 0;
alter table agent_runs add column front integer not null default 0;
alter table agent_runs add column attempts integer not null default 0;
alter table agent_runs add column fingerprint text;
`,
  `
alter table agent_runs add column takes_back text;
`,
  `
-- The place of an event is its session's number and its own in one integer, the key of a table with row ids: there an
-- append at the end costs one page, where a key of two columns makes SQLite spread pages anew time and again.
drop trigger agent_number_event;
drop trigger agent_note_change;
drop trigger agent_forget_session;
create table agent_placed (
  place integer primary key, event_id text not null, run_id text, step integer, body text,
  session_num integer generated always as (place >> 32) virtual,
  seq integer generated always as (place & 4294967295) virtual);
insert into agent_placed (place, event_id, run_id, step, body)
  select (session_num << 32) + seq, event_id, run_id, step, body from agent_events order by session_num, seq;
drop table agent_events;
alter table agent_placed rename to agent_events;
create unique index agent_events_step on agent_events (run_id, step) where run_id is not null;

create trigger agent_number_event after insert on events when new.seq is null begin
  update sessions set next_seq = next_seq + 1 where ${sameSession};
  insert into agent_events (place, event_id)
    select (num << 32) + next_seq - 1, new.id from sessions where ${sameSession};
  update events set seq = (select next_seq - 1 from sessions where ${sameSession})
    where id = new.id and app_name = new.app_name and user_id = new.user_id and session_id = new.session_id;
end;
create trigger agent_note_change after update of event_data on events
  when old.event_data is not new.event_data begin
  update sessions set revision = revision + 1 where ${sameSession};
  update agent_events set body = null
    where place = (select (num << 32) + new.seq from sessions where ${sameSession});
end;
create trigger agent_forget_session after delete on sessions begin
  delete from agent_events where place >= old.num << 32 and place < (old.num + 1) << 32;
  delete from agent_runs where session_num = old.num;
end;
`,
  `
-- Where ADK for Python keeps seconds in columns of the type REAL, an earlier version of ours wrote milliseconds.
update sessions set create_time = create_time / 1000 where ${isMistaken('sessions', 'create_time')};
update sessions set update_time = update_time / 1000 where ${isMistaken('sessions', 'update_time')};
update app_states set update_time = update_time / 1000 where ${isMistaken('app_states', 'update_time')};
update user_states set update_time = update_time / 1000 where ${isMistaken('user_states', 'update_time')};
update events set timestamp = timestamp / 1000,
    event_data = json_set(event_data, '$.timestamp', (event_data ->> '$.timestamp') / 1000.0)
  where ${isMistaken('events', 'timestamp')};
`,
  `
-- How many of a session's events, from the first, a client brought along.
alter table sessions add column imported integer not null default 0;
create table agent_secrets (name text primary key, value text not null) without rowid;
`,
  `
-- The state a session was created with, as JSON: forks and rewinds lead back to it. Null where there was none.
alter table sessions add column initial_state text;
`,
  `
-- API keys of callers. record is the key as JSON, with the hash in the place of the secret; times are ISO 8601.
create table agent_api_keys (
  id text primary key, record text not null, created_at text not null, revoked_at text) without rowid;
`,
  `
-- What runs used, for budgets: a JSON document for each run, session, user and day, app and day. Sessions are named by JSON.
create table agent_usage (
  id text primary key, session text, counter text not null, until integer not null) without rowid;
create index agent_usage_session on agent_usage (session) where session is not null;
create index agent_usage_until on agent_usage (until);
`,
];
