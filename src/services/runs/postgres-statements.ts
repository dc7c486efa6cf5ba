import { keyLifetimeMs, ranks } from '../../core/run-store.ts';
import type { RunKey } from '../../core/runs.ts';
import { forgottenAtOnce, isEnded } from './run-rows.ts';

// The names of the columns: run-rows.ts.
// A statement that changes the order of a session's runs locks the session's row first: that row serializes them.

const msOf = (column: string): string => `floor(extract(epoch from ${column}) * 1000)`;

/** Columns of a run for clients. */
export const runColumns = `r.id as "rowId", r.session_num::float8 as "sessionNumber", r.invocation_id as "runId",
  s.app_name as "appName", s.user_id as "userId", s.id as "sessionId", r.state, r.error, r.home as "ownerId", r.fingerprint,
  (${msOf('r.created_at')} / 1000)::float8 as "createdAt", (${msOf('r.started_at')} / 1000)::float8 as "startedAt",
  extract(epoch from r.ended_at)::float8 as "endedAt"`;

/** The order of a session's runs: the active one, then the highest rank (`front`), then first in, first out. */
const byOrder = `state in ('queued', 'running') order by (state = 'running') desc, front desc, pos`;

// $1 app, $2 user, $3 session, $4 replica, $5 run, $6 kind, $7 detached, $8 input, $9 idempotency key, $10 fingerprint,
// $11 open runs allowed, $12 rank, $13 run to roll back, $14 rolls back the run it preempts
export const enqueueStatement = `with s as (
    update sessions set queued = queued + 1,
        owner = case when queued = 0 then $4 else owner end,
        fence = case when queued = 0 then fence + 1 else fence end
      where id = $3 and app_name = $1 and user_id = $2 and queued <= $11::int
      returning num, queued, fence)
  insert into agent_runs (id, session_num, invocation_id, home, kind, is_detached, input, idempotency_key, fingerprint,
      state, started_at, front, takes_back)
    select num || '/' || $5, num, $5, $4, $6, $7::boolean, $8, $9, $10,
      case when queued = 1 then 'running' else 'queued' end,
      case when queued = 1 then clock_timestamp() end,
      $12::bigint, coalesce($13, case when $14::boolean and queued > 1 then (
        select invocation_id from agent_runs before where session_num = num
            and (state = 'running' or (state = 'queued' and front > 0))
          order by (state = 'running') desc, front desc, pos limit 1) end)
    from s
  on conflict (id) do update set state = excluded.state, home = excluded.home, kind = excluded.kind,
      is_detached = excluded.is_detached, input = excluded.input, idempotency_key = excluded.idempotency_key,
      fingerprint = excluded.fingerprint, started_at = excluded.started_at, front = excluded.front, takes_back = excluded.takes_back,
      pos = default,
      cancel = null, error = null, ended_at = null, attempts = 0
    where agent_runs.state not in ('queued', 'running')
  returning id as "rowId", session_num::float8 as "sessionNumber", state, (select fence from s)::float8 as "fencingToken",
    ${msOf('created_at')}::float8 as "createdAtMs", ${msOf('started_at')}::float8 as "startedAtMs"`;

/** Why a run was not admitted. $1 app, $2 user, $3 session */
export const openStatement = `select queued from sessions where id = $3 and app_name = $1 and user_id = $2`;

// Without a fencing token, the run waits or this replica no longer owns it. $1 session number, $2 run, $3 replica
export const tryStartStatement = `with head as (
    select id, home from agent_runs where session_num = $1 and ${byOrder} limit 1),
  s as (
    update sessions set owner = $3, fence = fence + 1 from head
      where num = $1 and owner is null and head.id = $2 and head.home = $3 returning fence),
  r as (
    update agent_runs self set state = 'running', started_at = clock_timestamp(),
        takes_back = case when takes_back is null or kind = 'hold' then takes_back else coalesce((
          select invocation_id from agent_runs before where session_num = $1 and id <> $2 and kind <> 'hold'
            and started_at >= (
              select started_at from agent_runs where session_num = $1 and invocation_id = self.takes_back)
          order by started_at desc limit 1), takes_back) end
      where id = $2 and exists (select 1 from s) returning takes_back, started_at)
  select (select fence from s)::float8 as "fencingToken", (select takes_back from r) as "rollbackOf",
    (select ${msOf('started_at')} from r)::float8 as "startedAtMs",
    exists (select 1 from agent_runs where session_num = $1 and id <> $2 and state = 'queued'
      and front = ${ranks.preempting}) as "isSuperseded",
    exists (select 1 from sessions where num = $1) as "isThere",
    exists (select 1 from agent_runs where id = $2 and state = 'queued' and home = $3) as waits`;

// A run without a state is deleted. $1 session number, $2 run, $3 fencing token, $4 state, $5 error
export const finishStatement = `with s as (
    update sessions set queued = queued - 1, owner = null where num = $1 and fence = $3::bigint returning queued),
  r as (
    update agent_runs set state = $4, error = $5, input = null, ended_at = clock_timestamp()
      where id = $2 and $4::text is not null and exists (select 1 from s)),
  f as (delete from agent_runs where id = $2 and $4::text is null and exists (select 1 from s)),
  next as (
    select id, home from agent_runs where session_num = $1 and id <> $2 and ${byOrder} limit 1)
  select next.id, next.home as "ownerId" from next, s where s.queued > 0`;

// The same for a run that never started. $1 session number, $2 run, $3 replica, $4 state, $5 error
export const leaveStatement = `with s as (select num from sessions where num = $1 for update),
  r as (
    update agent_runs set state = $4, error = $5, input = null, ended_at = clock_timestamp() from s
      where id = $2 and state = 'queued' and home = $3 returning id)
  update sessions set queued = queued - 1 where num = $1 and exists (select 1 from r)`;

/** Notifies the owner of a run, if that is another replica, that the run is to end. */
const notifyOwner = (
  reason: string,
  replica: string,
): string => `case when r.home <> ${replica} then pg_notify('agent-' || r.home,
    json_build_object('type', 'cancel', 'id', r.id, 'reason', ${reason}::text)::text)::text end as notified`;

/** $1 run, $2 reason, $3 replica */
export const cancelStatement = `with r as (
    update agent_runs set cancel = coalesce(cancel, $2)
      where id = $1 and state in ('queued', 'running') returning id, home)
  select home as "ownerId", ${notifyOwner('$2', '$3')} from r`;

/** $1 session number, $2 reason, $3 replica */
export const cancelActiveStatement = `with r as (
    update agent_runs set cancel = coalesce(cancel, $2) where session_num = $1 and state = 'running' returning *)
  select ${runColumns}, ${notifyOwner('$2', '$3')} from r join sessions s on s.num = r.session_num`;

/** $1 session number, $2 reason, $3 replica */
export const cancelAllStatement = `with r as (
    update agent_runs set cancel = $2
      where session_num = $1 and kind <> 'hold' and state in ('queued', 'running') returning id, home)
  select ${notifyOwner('$2', '$3')} from r`;

/** $1 app, $2 user, $3 session, $4 run */
export const findStatement = `select ${runColumns} from sessions s join agent_runs r on r.session_num = s.num
  where s.id = $3 and s.app_name = $1 and s.user_id = $2 and r.invocation_id = $4 and r.kind <> 'hold'`;

/** $1 app, $2 user, $3 session, $4 key */
export const findByKeyStatement = `select ${runColumns} from sessions s join agent_runs r on r.session_num = s.num
  where s.id = $3 and s.app_name = $1 and s.user_id = $2 and r.idempotency_key = $4
    and r.created_at > now() - interval '${keyLifetimeMs} milliseconds'`;

/** $1 app, $2 user, $3 session, $4 key */
export const forgetKeyStatement = `update agent_runs r set idempotency_key = null from sessions s
  where s.id = $3 and s.app_name = $1 and s.user_id = $2 and r.session_num = s.num and r.idempotency_key = $4
    and r.created_at <= now() - interval '${keyLifetimeMs} milliseconds'`;

/** $1 app, $2 user, $3 session, $4 limit */
export const listStatement = `select ${runColumns} from sessions s join agent_runs r on r.session_num = s.num
  where s.id = $3 and s.app_name = $1 and s.user_id = $2 and r.kind <> 'hold' order by r.pos desc limit $4`;

const hasEnded = `${isEnded} and ended_at < to_timestamp($1::float8 / 1000)`;

/** $1 time in ms */
export const countEndedStatement = `select count(*)::int as count from agent_runs where ${hasEnded}`;

/** A run whose end is outside a range, in ms. */
export const oddRunStatement = `select id, ended_at::text as time from agent_runs where ${isEnded}
  and (ended_at < to_timestamp($1::float8 / 1000) or ended_at > to_timestamp($2::float8 / 1000)) limit 1`;

// A run may restart meanwhile: the outer condition is evaluated again then. $1 time in ms
export const forgetEndedStatement = `with gone as (
    delete from agent_runs where ${hasEnded} and id in (
      select id from agent_runs where ${hasEnded} order by id limit ${forgottenAtOnce}) returning 1)
  select count(*)::int as count from gone`;

/** $1 replica, $2 lease in ms */
export const heartbeatStatement = `with b as (
    insert into agent_replicas (id, alive_until, backend)
      values ($1, now() + $2 * interval '1 millisecond', pg_backend_pid())
      on conflict (id) do update set alive_until = excluded.alive_until, backend = excluded.backend)
  select id as "rowId", session_num::float8 as "sessionNumber", cancel from agent_runs
    where home = $1 and cancel is not null and state in ('queued', 'running')`;

// A replica counts as dead when its lease has expired; or earlier, when it lost its connection and made no other.
// $1 replica, $2 runs it knows, $3 may it judge others, $4 lease in ms, $5 ms without heartbeat and connection, $6 limit
export const lostRunsStatement = `select r.id as "rowId", r.session_num::float8 as "sessionNumber",
    r.invocation_id as "runId", r.home as "ownerId"
  from agent_runs r
  where r.state in ('queued', 'running') and (r.home is null or (r.home = $1 and r.invocation_id <> all ($2::text[]))
    or ($3::boolean and now() - pg_postmaster_start_time() > $4 * interval '1 millisecond' and r.home <> $1
      and not exists (select 1 from agent_replicas a where a.id = r.home and a.alive_until > now()
        and (a.backend is null or a.alive_until > now() + ($4 - $5) * interval '1 millisecond'
          or exists (select 1 from pg_stat_get_activity(a.backend))))))
  order by r.pos limit $6`;

/** $1 session number */
export const lockStatement = `select num from sessions where num = $1 for update`;

// $1 run, $2 the owner it had, $3 the owner it gets
export const takeOverStatement = `update agent_runs r set home = $3, attempts = attempts + (r.state = 'running')::int from sessions s
  where r.id = $1 and r.home is not distinct from $2 and r.state in ('queued', 'running') and s.num = r.session_num
  returning r.state, r.kind, r.is_detached as "isDetached", r.input, r.attempts as takeovers, r.cancel,
    r.takes_back as "rollbackOf", r.invocation_id as "runId", s.app_name as "appName", s.user_id as "userId", s.id as "sessionId"`;

/** $1 session number, $2 replica */
export const nextFencingTokenStatement = `update sessions set owner = $2, fence = fence + 1 where num = $1
  returning fence::float8 as "fencingToken"`;

/** $1 run */
export const appendedEventsStatement = `select coalesce(max(step) + 1, 0) as "appendedEvents" from agent_events where run_id = $1`;

/** $1 replica, $2 runs */
export const releaseStatement = `update agent_runs set home = null
  where id = any ($2::text[]) and home = $1 and state in ('queued', 'running')`;

/** $1 replica */
export const forgetReplicaStatement = `delete from agent_replicas
  where id = $1 or alive_until < now() - interval '10 minutes'`;

export interface EnqueuedRow {
  readonly rowId: string;
  readonly sessionNumber: number;
  readonly state: string;
  readonly fencingToken: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
}

export interface StartResult {
  /** Absent while other runs are before it. */
  readonly fencingToken: number | null;
  readonly startedAtMs: number | null;
  readonly rollbackOf: string | null;
  readonly isSuperseded: boolean;
  readonly isThere: boolean;
  readonly waits: boolean;
}

export interface LostRunRow {
  readonly rowId: string;
  readonly sessionNumber: number;
  readonly runId: string;
  readonly ownerId: string | null;
}

export interface TakenOverRow extends RunKey {
  readonly state: string;
  readonly kind: string;
  readonly isDetached: boolean;
  readonly input: string;
  readonly takeovers: number;
  readonly cancel: string | null;
  readonly rollbackOf: string | null;
}
