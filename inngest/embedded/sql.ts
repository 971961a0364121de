import { createHash } from "node:crypto";

/**
 * Every write of the engine is one of these functions: one round trip, one transaction, and what belongs together
 * cannot come apart. Rules they share:
 *
 * - A run is written only under its fence by the worker that owns it; a stale worker finds no row and stops.
 * - A run holds its places under concurrency limits while it is `granted` or `running`, never while it waits.
 * - Whoever makes a run ready adds its wake (a graphile-worker job) in the same transaction.
 */
const FUNCTIONS = /* sql */ `
-- True once per id within 24 hours.
create or replace function engine_first(p_id text) returns boolean language plpgsql as $$
begin
  insert into engine_seen as seen (id, seen_at) values (p_id, now())
    on conflict (id) do update set seen_at = now() where seen.seen_at < now() - interval '24 hours';
  return found;
end $$;

-- Accepts events: [{once?, occurrence, event}]. One job each, which a worker turns into runs.
create or replace function engine_send(p_events jsonb) returns void language plpgsql as $$
begin
  perform graphile_worker.add_jobs(array_agg(
      ('engine/event', item::json, null, null, null, null, null, null)::graphile_worker.job_spec))
    from jsonb_array_elements(p_events) item
    where not item ? 'once' or engine_first(item->>'once')
    having count(*) > 0;
end $$;

-- Does a run that such an event started still wait for its turn, with no step behind it? Then it will see what the event
-- tells of as it is by then. One that runs or rests may have seen it before. The planner is not asked: it may have last
-- seen few that wait, and would read them all for each event.
create or replace function engine_is_in_line(p_event jsonb) returns boolean language plpgsql stable
set enable_seqscan = off as $$
begin
  return exists (select from engine_run r
    where (r.status in ('queued', 'granted')) is true and r.event->'data' = p_event->'data'
      and r.event->>'name' = p_event->>'name'
      and not exists (select from engine_step s where s.run_id = r.id and s.status <> 'pending'));
end $$;

-- Accepts events that may have been accepted before under other ids, without those that are still on their way: in the
-- queue, unless it has given them up, or in line. The queue is looked through once for all of them together.
create or replace function engine_send_again(p_events jsonb) returns void language plpgsql as $$
declare v_left jsonb;
begin
  select jsonb_object_agg(jsonb_build_array(item->'event'->'name', item->'event'->'data')::text, item) into v_left
    from jsonb_array_elements(p_events) item where not engine_is_in_line(item->'event');
  if v_left is null then return; end if;
  v_left := v_left - coalesce((select array_agg(told) from (
    select jsonb_build_array(payload->'event'->'name', payload->'event'->'data')::text as told
      from graphile_worker._private_jobs where attempts < max_attempts and task_id =
        (select id from graphile_worker._private_tasks where identifier = 'engine/event')) queued
    where v_left ? told), '{}');
  perform engine_send(jsonb_agg(value)) from jsonb_each(v_left) having count(*) > 0;
end $$;

-- Never by job key: replacing a job locks it, and two that wait for each other's jobs deadlock. A wake that finds
-- nothing to do costs one statement. Never given up: a run that has a place and no wake would keep it for ever.
create or replace function engine_wake(p_run text, p_at timestamptz) returns void language sql as $$
  select graphile_worker.add_job('engine/run', json_build_object('run', p_run), null, p_at, 32767)
$$;

-- {ms} from now, or {at}.
create or replace function engine_due(p_due jsonb) returns timestamptz language sql as $$
  select coalesce((p_due->>'at')::timestamptz, now() + (p_due->>'ms')::float8 * interval '1 millisecond')
$$;

-- Takes one place under each limit of the run, or none.
create or replace function engine_take(r engine_run) returns boolean language plpgsql as $$
begin
  if r.limit_key is null then return true; end if;
  if r.limit_key2 is not null then -- two rows to lock: one at a time per function, so nobody waits in a circle
    perform pg_advisory_xact_lock(hashtextextended('engine:' || r.function_id, 0));
  end if;
  insert into engine_limit as l (key, held) values (r.limit_key, 1)
    on conflict (key) do update set held = l.held + 1 where l.held < r.limit_cap;
  if not found then return false; end if;
  if r.limit_key2 is null then return true; end if;
  insert into engine_limit as l (key, held) values (r.limit_key2, 1)
    on conflict (key) do update set held = l.held + 1 where l.held < r.limit_cap2;
  if not found then update engine_limit set held = held - 1 where key = r.limit_key; return false; end if;
  return true;
end $$;

-- Hands free places of a key to the runs that have waited longest.
create or replace function engine_grant(p_key text, p_places int) returns void language plpgsql as $$
declare q engine_run;
begin
  for i in 1..p_places loop
    select * into q from engine_run c where c.status = 'queued' and c.limit_key = p_key and (c.limit_key2 is null
        or not exists (select 1 from engine_limit l where l.key = c.limit_key2 and l.held >= c.limit_cap2))
      order by c.queued_at limit 1 for update skip locked;
    if not found then
      select * into q from engine_run c where c.status = 'queued' and c.limit_key2 = p_key
          and not exists (select 1 from engine_limit l where l.key = c.limit_key and l.held >= c.limit_cap)
        order by c.queued_at limit 1 for update skip locked;
    end if;
    exit when not found or not engine_take(q);
    update engine_run set status = 'granted' where id = q.id;
    perform engine_wake(q.id, now());
  end loop;
end $$;

create or replace function engine_release(r engine_run) returns void language plpgsql as $$
begin
  if r.limit_key is null then return; end if;
  if r.limit_key2 is not null then
    perform pg_advisory_xact_lock(hashtextextended('engine:' || r.function_id, 0));
  end if;
  update engine_limit set held = held - 1 where key = r.limit_key;
  if r.limit_key2 is not null then
    update engine_limit set held = held - 1 where key = r.limit_key2;
    perform engine_grant(r.limit_key2, 1);
  end if;
  perform engine_grant(r.limit_key, 1);
end $$;

create or replace function engine_new_run(p_run jsonb, p_event jsonb, p_occurrence text, p_status text, p_worker text)
returns boolean language plpgsql as $$
declare r engine_run := jsonb_populate_record(null::engine_run, p_run);
begin
  insert into engine_run (id, function_id, occurrence, event, status, worker, fence, signals, attempt, limit_key,
      limit_cap, limit_key2, limit_cap2, queued_at, parent_run, parent_step, created_at)
    values (r.id, r.function_id, p_occurrence, p_event, p_status, p_worker, 1, 0, 0, r.limit_key,
      r.limit_cap, r.limit_key2, r.limit_cap2, clock_timestamp(), r.parent_run, r.parent_step, now())
    on conflict (function_id, occurrence) do nothing;
  return found;
end $$;

-- Settles a pending step from outside and wakes its run if it waits. The run is locked first, as in a claim.
create or replace function engine_settle(p_run text, p_step text, p_status text, p_value jsonb)
returns void language plpgsql as $$
declare v_status text;
begin
  select status into v_status from engine_run where id = p_run for update;
  update engine_step set status = p_status, value = p_value, seq = nextval('engine_step_seq_seq'), wake_at = null
    where run_id = p_run and id = p_step and status = 'pending';
  if not found then return; end if;
  update engine_run set signals = signals + 1 where id = p_run;
  if v_status = 'waiting' then perform engine_wake(p_run, now()); end if;
end $$;

-- An event has arrived: creates the runs it triggers and settles plain waits for it. Returns the runs that this
-- worker now owns, and the waits whose condition is left for the caller to evaluate.
create or replace function engine_receive(p_worker text, p_event jsonb, p_occurrence text, p_runs jsonb)
returns jsonb language plpgsql as $$
declare v_run jsonb; v_row engine_run; v_wait record; v_taken boolean; v_started jsonb := '[]'; v_open jsonb := '[]';
begin
  for v_run in select * from jsonb_array_elements(p_runs) loop
    continue when v_run ? 'once' and not engine_first(v_run->>'once');
    v_row := jsonb_populate_record(null::engine_run, v_run);
    v_taken := engine_take(v_row);
    if engine_new_run(v_run, p_event, p_occurrence, case when v_taken then 'running' else 'queued' end,
                      case when v_taken then p_worker end) then
      if v_taken then v_started := v_started || to_jsonb(v_row.id); end if;
    elsif v_taken then
      perform engine_release(v_row);
    end if;
  end loop;
  for v_wait in
    select s.run_id, s.id, s.condition, q.event from engine_step s join engine_run q on q.id = s.run_id
      where s.event_name = p_event->>'name' and s.status = 'pending' and (s.match_value is null
        or coalesce(p_event #> s.match_path, 'null') = s.match_value)
      order by s.run_id loop
    if v_wait.condition is null then
      perform engine_settle(v_wait.run_id, v_wait.id, 'done', p_event);
    else
      v_open := v_open || jsonb_build_object('run', v_wait.run_id, 'step', v_wait.id, 'condition', v_wait.condition,
                                             'event', v_wait.event);
    end if;
  end loop;
  return jsonb_build_object('started', v_started, 'open', v_open);
end $$;

-- What a worker needs to go on with a run it owns; timers that are due are settled on the way.
create or replace function engine_load(r engine_run) returns jsonb language plpgsql as $$
begin
  update engine_step set status = case when op = 'invoke' then 'failed' else 'done' end, wake_at = null,
      seq = nextval('engine_step_seq_seq'), value = case when op <> 'invoke' then 'null'::jsonb else
        '{"name":"InngestInvokeTimeoutError","message":"Timed out waiting for the invoked function to finish"}' end
    where run_id = r.id and status = 'pending' and op <> 'run' and wake_at <= now();
  return jsonb_build_object('id', r.id, 'functionId', r.function_id, 'event', r.event, 'fence', r.fence,
    'attempt', r.attempt, 'steps', (
      select coalesce(jsonb_agg(jsonb_build_object('id', id, 'op', op, 'status', status, 'attempt', attempt,
        'value', value, 'due', wake_at <= now()) order by seq), '[]') from engine_step where run_id = r.id));
end $$;

-- Takes over a run that is ready. Null: it has nothing to do yet, somebody has it, it has ended, or its limit is full
-- (then it stands in line).
create or replace function engine_claim(p_worker text, p_run text) returns jsonb language plpgsql as $$
declare r engine_run;
begin
  select * into r from engine_run where id = p_run and status in ('queued', 'granted', 'waiting') for update;
  if not found then return null; end if;
  if r.status = 'waiting' and (r.retry_at > now() or r.retry_at is null and r.signals = 0 and not exists (
      select 1 from engine_step where run_id = p_run and status = 'pending' and wake_at <= now())) then
    return null;
  end if;
  if r.status <> 'granted' and not engine_take(r) then
    if r.status = 'waiting' then
      update engine_run set status = 'queued', queued_at = clock_timestamp(), retry_at = null where id = p_run;
    end if;
    return null;
  end if;
  update engine_run set status = 'running', worker = p_worker, fence = fence + 1, signals = 0, retry_at = null
    where id = p_run returning * into r;
  return engine_load(r);
end $$;

create or replace function engine_reload(p_run text, p_fence int) returns jsonb language plpgsql as $$
declare r engine_run;
begin
  update engine_run set signals = 0 where id = p_run and fence = p_fence and status = 'running' returning * into r;
  return case when found then engine_load(r) end;
end $$;

-- Writes steps of an owned run: results, and what it will wait for (an invoked run is created here).
create or replace function engine_put(r engine_run, p_steps jsonb) returns void language plpgsql as $$
declare s jsonb;
begin
  for s in select * from jsonb_array_elements(p_steps) loop
    insert into engine_step as t (run_id, id, op, status, seq, attempt, value, wake_at, event_name, condition,
        match_path, match_value)
      values (r.id, s->>'id', s->>'op', s->>'status', nextval('engine_step_seq_seq'), coalesce((s->>'attempt')::int, 0),
        s->'value', engine_due(s->'due'),
        s->>'eventName', s->>'condition', array(select jsonb_array_elements_text(s->'matchPath')), s->'matchValue')
      on conflict (run_id, id) do update set op = excluded.op, status = excluded.status, seq = excluded.seq,
        attempt = excluded.attempt, value = excluded.value, wake_at = excluded.wake_at where t.status = 'pending';
    if s ? 'child' and engine_new_run(s->'child' || jsonb_build_object('parent_run', r.id, 'parent_step', s->>'id'),
        s->'childEvent', r.id || ':' || (s->>'id'), 'queued', null) then
      perform engine_wake(s->'child'->>'id', now());
    end if;
  end loop;
end $$;

-- False: the run is no longer ours.
create or replace function engine_save(p_run text, p_fence int, p_steps jsonb) returns boolean language plpgsql as $$
declare r engine_run;
begin
  select * into r from engine_run where id = p_run and fence = p_fence and status = 'running' for update;
  if not found then return false; end if;
  perform engine_put(r, p_steps);
  if r.attempt > 0 then update engine_run set attempt = 0 where id = p_run; end if;
  return true;
end $$;

-- Lets go of a run that has nothing to do until a timer or an event. 'again': a step was settled meanwhile.
-- With p_retry the function body failed: it rests until then, whatever happens.
create or replace function engine_suspend(p_run text, p_fence int, p_attempt int, p_retry jsonb, p_steps jsonb) returns text language plpgsql as $$
declare r engine_run; v_at timestamptz; v_retry timestamptz(3) := engine_due(p_retry);
begin
  select * into r from engine_run where id = p_run and fence = p_fence and status = 'running' for update;
  if not found then return 'lost'; end if;
  perform engine_put(r, p_steps);
  if v_retry is null and r.signals > 0 then return 'again'; end if;
  update engine_run set status = 'waiting', worker = null, attempt = p_attempt, retry_at = v_retry where id = p_run;
  select coalesce(v_retry, min(wake_at)) into v_at from engine_step where run_id = p_run and status = 'pending';
  if v_at is not null then perform engine_wake(p_run, v_at); end if;
  perform engine_release(r);
  return 'waiting';
end $$;

-- Ends a run, answers the run that invoked it, and sends what its end announces.
create or replace function engine_finish(p_run text, p_fence int, p_status text, p_result jsonb, p_events jsonb)
returns boolean language plpgsql as $$
declare r engine_run;
begin
  update engine_run set status = p_status, worker = null, result = p_result, ended_at = now()
    where id = p_run and fence = p_fence and status = 'running' returning * into r;
  if not found then return false; end if;
  delete from engine_step where run_id = p_run and status = 'pending';
  if r.parent_run is not null then
    perform engine_settle(r.parent_run, r.parent_step, case p_status when 'completed' then 'done' else 'failed' end,
                          p_result);
  end if;
  perform engine_release(r);
  if p_events is not null then perform engine_send(p_events); end if;
  return true;
end $$;

-- Gives a run back so that another worker goes on with it.
create or replace function engine_hand_over(p_run text, p_fence int, p_delay_ms int) returns void language plpgsql as $$
begin
  update engine_run set status = 'granted', worker = null where id = p_run and fence = p_fence and status = 'running';
  if found then perform engine_wake(p_run, now() + p_delay_ms * interval '1 millisecond'); end if;
end $$;

-- Cancels runs that have not ended; the step in flight finishes, its result is refused. Returns the cancelled ids.
create or replace function engine_cancel(p_runs text[]) returns setof text language plpgsql as $$
declare r engine_run;
begin
  for r in select * from engine_run where id = any(p_runs) and status in ('queued', 'granted', 'running', 'waiting')
      order by id for update loop
    update engine_run set status = 'cancelled', worker = null, fence = fence + 1, ended_at = now() where id = r.id;
    delete from engine_step where run_id = r.id and status = 'pending';
    if r.parent_run is not null then
      perform engine_settle(r.parent_run, r.parent_step, 'failed',
        '{"name":"InngestFunctionCancelledError","message":"The invoked function was cancelled"}');
    end if;
    if r.status in ('granted', 'running') then perform engine_release(r); end if;
    perform engine_send(jsonb_build_array(jsonb_build_object('occurrence', r.id || ':cancelled', 'event',
      jsonb_build_object('id', r.id || ':cancelled', 'name', 'inngest/function.cancelled', 'ts',
        (extract(epoch from now()) * 1000)::bigint, 'data',
        jsonb_build_object('function_id', r.function_id, 'run_id', r.id, 'event', r.event)))));
    return next r.id;
  end loop;
end $$;

-- Says that this worker lives (as owner of runs and as taker of jobs), and frees the runs and jobs of those that no
-- longer do. p_dropped: runs that this worker may own without knowing, because an answer was lost. False: the worker
-- had been given up. Null: it is new.
create or replace function engine_beat(p_worker text, p_queue text, p_expiry_ms int, p_dropped text[])
returns boolean language plpgsql as $$
declare v_alive boolean; v_dead text[]; v_run text; v_key text;
  v_expired timestamptz := now() - p_expiry_ms * interval '1 millisecond';
begin
  select beat_at >= v_expired into v_alive from engine_worker where id = p_worker;
  insert into engine_worker (id, beat_at) values (p_worker, now()), (p_queue, now())
    on conflict (id) do update set beat_at = now();
  -- Remembered for a minute: a statement that a dead worker had sent may still take jobs in its name.
  select array_agg(id) into v_dead from engine_worker where beat_at < v_expired;
  if v_dead is not null then
    perform graphile_worker.force_unlock_workers(v_dead);
    delete from engine_worker where id in
      (select id from engine_worker where beat_at < v_expired - interval '1 minute' for update skip locked);
  end if;
  for v_run in select id from engine_run r where status = 'running' and (r.worker = p_worker and r.id = any(p_dropped)
      or not exists (select 1 from engine_worker w where w.id = r.worker and w.beat_at >= v_expired))
      for update skip locked loop
    update engine_run set status = 'granted', worker = null, fence = fence + 1 where id = v_run;
    perform engine_wake(v_run, now());
  end loop;
  for v_key in select distinct q.limit_key from engine_run q where q.status = 'queued' and exists (
      select 1 from engine_limit l where l.key = q.limit_key and l.held < q.limit_cap) loop
    perform 1 from engine_limit where key = v_key for update skip locked;
    if found then perform engine_grant(v_key, 1); end if;
  end loop;
  return v_alive;
end $$;

-- Forgets what nobody asks for any more.
create or replace function engine_tidy(p_keep interval) returns void language plpgsql as $$
begin
  delete from engine_seen where seen_at < now() - interval '24 hours';
  delete from engine_run where id in (select id from engine_run where ended_at < now() - p_keep limit 10000);
  delete from engine_limit l where held = 0 and not exists (select 1 from engine_run where status = 'queued'
    and (limit_key = l.key or limit_key2 = l.key));
end $$;
`;

/** Indexes that Prisma's schema language cannot say. */
const INDEXES = /* sql */ `
create index if not exists engine_run_running on engine_run (worker) where status = 'running';
create index if not exists engine_run_queued on engine_run (limit_key, queued_at) where status = 'queued';
create index if not exists engine_run_queued2 on engine_run (limit_key2, queued_at)
  where status = 'queued' and limit_key2 is not null;
create index if not exists engine_run_in_line on engine_run using hash ((event->'data'))
  where (status in ('queued', 'granted')) is true;
create index if not exists engine_run_live on engine_run (function_id) where ended_at is null;
create index if not exists engine_run_ended on engine_run (ended_at) where ended_at is not null;
create index if not exists engine_step_event on engine_step (event_name) where status = 'pending' and event_name is not null;
alter table engine_run set (fillfactor = 80);
alter table engine_limit set (fillfactor = 50);
`;

const body = INDEXES + FUNCTIONS;
/** Names this generation of functions; a worker refuses to start over another one. */
export const SQL_VERSION = createHash("sha256").update(body).digest("hex").slice(0, 16);

/** For a transaction that holds the lock of the engine's migration. */
export const INSTALL = `${body}
comment on function engine_send(jsonb) is '${SQL_VERSION}';
`;
