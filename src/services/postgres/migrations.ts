// The tables of ADK for TypeScript 2.0.0 and Python ("v1"), exactly as these create them, and our own tables. Two rules
// let this server and ADK use one database:
//
// - ADK for TypeScript migrates its own tables when it starts. It keeps unknown columns and triggers, and drops unknown
//   indexes and constraints. So indexes that we rely on are in our own tables; an index on one of ADK's tables only makes
//   queries faster, and is created again at the next start.
// - Triggers number and record what ADK writes, so that our order of events is always complete.

/** The tables of ADK. No statement changes an existing table. */
export const adkTables = `
create table if not exists adk_internal_metadata (
  key varchar(255) not null primary key,
  value varchar(255) not null);
create table if not exists app_states (
  app_name varchar(191) not null primary key,
  state jsonb not null,
  update_time timestamptz not null);
create table if not exists user_states (
  app_name varchar(191) not null,
  user_id varchar(191) not null,
  state jsonb not null,
  update_time timestamptz not null,
  primary key (app_name, user_id));
create table if not exists sessions (
  id varchar(191) not null,
  app_name varchar(191) not null,
  user_id varchar(191) not null,
  state jsonb not null,
  create_time timestamptz not null,
  update_time timestamptz not null,
  primary key (id, app_name, user_id));
create table if not exists events (
  id varchar(191) not null,
  app_name varchar(191) not null,
  user_id varchar(191) not null,
  session_id varchar(191) not null,
  invocation_id varchar(255) not null,
  timestamp timestamptz not null,
  event_data jsonb not null,
  primary key (id, app_name, user_id, session_id));
insert into adk_internal_metadata values ('schema_version', '1') on conflict do nothing;
`;

/** By name. Missing ones are created at each start, because ADK drops them. */
export const helpfulIndexes: ReadonlyMap<string, string> = new Map([
  ['agent_sessions_num', 'create index if not exists agent_sessions_num on sessions (num)'],
  ['agent_sessions_of_owner', 'create index if not exists agent_sessions_of_owner on sessions (app_name, user_id)'],
  ['agent_sessions_ready', 'create index if not exists agent_sessions_ready on sessions (ready_at) where queued > 0'],
]);

/** The migrations of our part. A released step never changes; changes are new steps. */
export const migrations: readonly string[] = [
  `
create sequence agent_session_numbers;
-- num names a session in our tables, and is never given twice. clock_ms is the update_time we wrote last: where they
-- differ, ADK has written since. The run engine's part: owner holds the session until lease_until, by the number fence;
-- queued counts open runs, waiting since ready_at.
alter table sessions
  add column num bigint not null default nextval('agent_session_numbers'),
  add column next_seq bigint not null default 1,
  add column revision bigint not null default 0,
  add column clock_ms double precision,
  add column last_update double precision,
  add column owner text,
  add column fence bigint not null default 0,
  add column lease_until timestamptz,
  add column queued int not null default 0,
  add column ready_at timestamptz;
alter table sessions set (fillfactor = 70);
-- Null in rows of ADK until the trigger has seen them.
alter table events add column seq bigint;

-- The order of events; body is the event's JSON, null where ADK wrote it (then event_data has it).
create table agent_events (
  session_num bigint not null,
  seq bigint not null,
  event_id text not null,
  run_id text,
  step int,
  body text,
  primary key (session_num, seq));
create unique index agent_events_step on agent_events (run_id, step) where run_id is not null;

create table agent_runs (
  id text primary key,
  session_num bigint not null,
  pos bigint generated always as identity,
  state text not null default 'queued',
  cancel text,
  input text,
  invocation_id text,
  idempotency_key text,
  error text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz);
create index agent_runs_of_session on agent_runs (session_num, pos);
create index agent_runs_open on agent_runs (session_num, pos) where state in ('queued', 'running');
create unique index agent_runs_idempotency on agent_runs (session_num, idempotency_key) where idempotency_key is not null;

with numbered as (
  select e.id, e.app_name, e.user_id, e.session_id, s.num,
    row_number() over (partition by s.num order by e.timestamp, e.ctid) as seq
  from events e join sessions s on s.app_name = e.app_name and s.user_id = e.user_id and s.id = e.session_id),
 booked as (
  insert into agent_events (session_num, seq, event_id) select num, seq, id from numbered),
 counted as (
  update sessions s set next_seq = n.count + 1
  from (select num, count(*) from numbered group by num) n where s.num = n.num)
update events e set seq = n.seq from numbered n
  where e.id = n.id and e.app_name = n.app_name and e.user_id = n.user_id and e.session_id = n.session_id;

create function agent_number_event() returns trigger language plpgsql as $$
declare number bigint;
begin
  update sessions set next_seq = next_seq + 1
    where id = new.session_id and app_name = new.app_name and user_id = new.user_id
    returning num, next_seq - 1 into number, new.seq;
  if found then
    insert into agent_events (session_num, seq, event_id) values (number, new.seq, new.id);
  end if;
  return new;
end $$;
create trigger agent_number_event before insert on events
  for each row when (new.seq is null) execute function agent_number_event();

create function agent_note_change() returns trigger language plpgsql as $$
declare number bigint;
begin
  update sessions set revision = revision + 1
    where id = new.session_id and app_name = new.app_name and user_id = new.user_id
    returning num into number;
  update agent_events set body = null where session_num = number and seq = new.seq;
  return null;
end $$;
create trigger agent_note_change after update of event_data on events
  for each row when (old.event_data is distinct from new.event_data) execute function agent_note_change();

create function agent_forget_session() returns trigger language plpgsql as $$
begin
  delete from agent_events where session_num = old.num;
  delete from agent_runs where session_num = old.num;
  return null;
end $$;
create trigger agent_forget_session after delete on sessions
  for each row execute function agent_forget_session();
`,
  `
-- words in a form of our own (tokenOf), so that every store finds the same.
create table agent_memories (
  app_name text not null, user_id text not null, session_id text not null, position int not null,
  said_at double precision not null, entry text not null, words text[] not null,
  primary key (app_name, user_id, session_id, position));
create index agent_memories_words on agent_memories using gin (words);

-- session_id is empty for what belongs to the user.
create table agent_artifacts (
  app_name text not null, user_id text not null, session_id text not null, name text not null, version int not null,
  part text not null, size bigint not null, mime_type text, metadata text not null, created_at double precision not null,
  primary key (app_name, user_id, session_id, name, version));
create table agent_artifact_bytes (
  app_name text not null, user_id text not null, session_id text not null, name text not null, version int not null,
  chunk int not null, bytes bytea not null,
  primary key (app_name, user_id, session_id, name, version, chunk));
alter table agent_artifact_bytes alter column bytes set storage external;
`,
  `
-- The servers that share the database, and what they have to know of each other's runs: home is the server a run
-- belongs to, front is above 0 for those that go before all who wait.
create table agent_replicas (id text primary key, alive_until timestamptz not null);
alter table agent_runs
  add column home text,
  add column kind text not null default 'run',
  add column is_detached boolean not null default false,
  add column front bigint not null default 0,
  add column attempts int not null default 0,
  add column fingerprint text;
`,
  `
-- The run (its invocation) whose events this one takes back when it begins.
alter table agent_runs add column takes_back text;
`,
  `
-- The process of the database that serves the connection a server tells over that it lives: it ends with the server.
alter table agent_replicas add column backend int;
`,
  `
-- How many of a session's events, from the first, a client brought along.
alter table sessions add column imported bigint not null default 0;
create table agent_secrets (name text primary key, value text not null);
`,
  `
-- The state a session was created with, as JSON: forks and rewinds lead back to it. Null where there was none.
alter table sessions add column initial_state text;
`,
  `
-- API keys of callers. record is the key as JSON, with the hash in the place of the secret; times are ISO 8601.
create table agent_api_keys (
  id text primary key, record text not null, created_at text not null, revoked_at text);
`,
  `
-- How many requests of a key (a caller or an address) were counted until its window ends. Unlogged: a crash of the database
-- may forget the windows, and counting need not wait for the disk.
create unlogged table agent_request_windows (key text primary key, ends_at timestamptz not null, requests int not null);
`,
  `
-- What runs used, for budgets: a JSON document for each run, session, user and day, app and day. Sessions are named by JSON.
create table agent_usage (
  id text primary key, session text, counter text not null, until timestamptz not null);
create index agent_usage_session on agent_usage (session) where session is not null;
create index agent_usage_until on agent_usage (until);
`,
];
