-- Schedules. A worker works out the times of the calendar; the database decides who fires: aw_fire_schedule moves a
-- schedule on and records the job in one transaction, if the schedule still is where the worker has seen it.
--   AW022 there is a schedule of this name.

-- aw_schedule_json is a schedule with the state of its last job.
create or replace function {{ .schema }}.aw_schedule_json(s {{ .schema }}.schedules) returns jsonb
language sql stable set timezone = 'UTC'
return (to_jsonb(s) - 'client_id') || jsonb_build_object('last_status', (
  select j.status from {{ .schema }}.jobs j where j.client_id = s.client_id and j.id = s.last_job_id));

-- aw_put_schedule adds a schedule, or with p.change changes those members that are given. A time that is past, or none,
-- is worked out by a worker; so is the time of a schedule that somebody changed after p.seen, the updated_at on which the
-- change was decided: it may have another calendar by now.
create or replace function {{ .schema }}.aw_put_schedule(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_future boolean := coalesce((p ->> 'next_at')::timestamptz > clock_timestamp(), false);
  v_again boolean;
  s {{ .schema }}.schedules;
begin
  if not coalesce((p ->> 'change')::boolean, false) then
    insert into {{ .schema }}.schedules (client_id, id, cron, time_zone, task, overlap, catch_up, jitter_ms, paused,
      next_at, fires_at)
    values (v_client, p ->> 'id', p ->> 'cron', p ->> 'time_zone', p -> 'task', p ->> 'overlap',
            (p ->> 'catch_up')::int, (p ->> 'jitter_ms')::bigint, (p ->> 'paused')::boolean,
            case when v_future then (p ->> 'next_at')::timestamptz end,
            case when v_future then (p ->> 'fires_at')::timestamptz end)
    on conflict (client_id, id) do nothing
    returning * into s;
    if not found then
      raise exception 'there is a schedule % already', p ->> 'id' using errcode = 'AW022';
    end if;
  else
    select p ?| array['next_at', 'fires_at', 'cron', 'time_zone', 'jitter_ms', 'paused'] and x.updated_at <> (p ->> 'seen')::timestamptz
      into v_again from {{ .schema }}.schedules x where x.client_id = v_client and x.id = p ->> 'id' for update;
    v_again := coalesce(v_again, false);
    v_future := v_future and not v_again;
    update {{ .schema }}.schedules set
      cron = coalesce(p ->> 'cron', cron), time_zone = coalesce(p ->> 'time_zone', time_zone),
      task = coalesce(p -> 'task', task), overlap = coalesce(p ->> 'overlap', overlap),
      catch_up = coalesce((p ->> 'catch_up')::int, catch_up),
      jitter_ms = coalesce((p ->> 'jitter_ms')::bigint, jitter_ms),
      paused = coalesce((p ->> 'paused')::boolean, paused),
      -- What was missed while it was paused, or by another calendar, is not made up.
      next_at = case when v_again or p ? 'next_at' then case when v_future then (p ->> 'next_at')::timestamptz end else next_at end,
      fires_at = case when v_again or p ? 'next_at' then case when v_future then (p ->> 'fires_at')::timestamptz end
                   -- One of a time that has fired meanwhile is not that of the next.
                   when (p ->> 'fires_at')::timestamptz >= next_at then (p ->> 'fires_at')::timestamptz else fires_at end,
      owed = case when v_again or p ? 'next_at' then '{}' else owed end,
      problem = null, updated_at = clock_timestamp()
    where client_id = v_client and id = p ->> 'id'
    returning * into s;
    if not found then
      raise exception 'there is no schedule %', p ->> 'id' using errcode = 'AW002';
    end if;
  end if;
  return {{ .schema }}.aw_schedule_json(s);
end $$;

-- aw_remove_schedule removes a schedule. Its jobs stay.
create or replace function {{ .schema }}.aw_remove_schedule(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  delete from {{ .schema }}.schedules where client_id = v_client and id = p ->> 'id';
  if not found then
    raise exception 'there is no schedule %', p ->> 'id' using errcode = 'AW002';
  end if;
  return '{}';
end $$;

-- aw_schedules lists schedules by name after p.after, at most p.limit; with p.id that one.
create or replace function {{ .schema }}.aw_schedules(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  return coalesce((
    select jsonb_agg({{ .schema }}.aw_schedule_json(x::{{ .schema }}.schedules) order by x.id)
    from (select s.* from {{ .schema }}.schedules s
          where s.client_id = v_client and s.id > coalesce(p ->> 'after', '')
            and (p ->> 'id' is null or s.id = p ->> 'id')
          order by s.id limit least((p ->> 'limit')::int, 1000)) x), '[]');
end $$;

-- aw_free reports whether a schedule may fire: those that must not overlap wait for their last job.
create or replace function {{ .schema }}.aw_free(s {{ .schema }}.schedules) returns boolean
language sql stable
return s.overlap = 'allow' or not exists (
  select from {{ .schema }}.jobs j
  where j.client_id = s.client_id and j.id = s.last_job_id and j.status in ('pending', 'running'));

-- aw_due_schedules are the schedules to fire or to work out, at most p.limit, the longest due first; now, and in how
-- many ms the next one is due. waiting: one owes a firing and waits for its last job.
create or replace function {{ .schema }}.aw_due_schedules(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
begin
  return (
    with mine as (
      select s, s.fires_at is null or s.fires_at <= v_now as due, cardinality(s.owed) > 0 as owes
      from {{ .schema }}.schedules s where s.client_id = v_client and not s.paused)
    select jsonb_build_object('now', v_now,
      'due', coalesce((
        select jsonb_agg({{ .schema }}.aw_schedule_json(d.s) order by (d.s).fires_at nulls first)
        from (select m.s from mine m where m.due or m.owes and {{ .schema }}.aw_free(m.s)
              order by (m.s).fires_at nulls first limit (p ->> 'limit')::int) d), '[]'),
      'waiting', exists (select from mine m where m.owes),
      'next_ms', (select case when count(*) > 0 then {{ .schema }}.aw_ms_until(min((m.s).fires_at)) end
        from mine m where not m.due)));
end $$;

-- aw_fire_schedule moves schedule p.id on from p.next_at, where the caller has seen it, to p.to_next_at; p.owed are the
-- firings that are to be made up after that, and p.missed how many more are not. p.job is the job of the firing, if one
-- is due, as aw_submit takes it, and p.at its time. An overlap skips it, except one that is made up (p.late): that one
-- stays owed. p.updated_at is that of the schedule as the caller has seen it: a firing of a task that was changed since
-- does not count. It returns moved, created (the job is new), skipped, and taken: there is a job with the firing's id
-- that is not of this firing, and nothing was changed.
create or replace function {{ .schema }}.aw_fire_schedule(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_free boolean;
  v_new boolean := false;
  s {{ .schema }}.schedules;
  j {{ .schema }}.jobs;
begin
  select * into s from {{ .schema }}.schedules where client_id = v_client and id = p ->> 'id' for update;
  if not found or s.paused or s.next_at is distinct from (p ->> 'next_at')::timestamptz
     or p ? 'updated_at' and s.updated_at is distinct from (p ->> 'updated_at')::timestamptz
     or s.owed is distinct from {{ .schema }}.aw_times(p -> 'seen_owed') then
    return '{"moved": false, "created": false}'; -- another worker was first, or somebody has changed it
  end if;
  v_free := p ? 'job' and {{ .schema }}.aw_free(s);
  if p ? 'job' and not v_free and coalesce((p ->> 'late')::boolean, false) then
    return '{"moved": false, "created": false}';
  end if;
  if v_free then
    select * into j from {{ .schema }}.jobs x where x.client_id = v_client and x.id = p #>> '{job,job_id}';
    if not found then
      begin
        v_new := ({{ .schema }}.aw_submit((p -> 'job') || jsonb_build_object('client_id', v_client)) ->> 'created')::boolean;
      exception when sqlstate 'AW003' then
        return '{"moved": false, "created": false, "taken": true}'; -- it came this very moment
      end;
    -- It is of this firing if the schedule was removed and added again, or if it is canceled before it is due. What came
    -- before it was due, or is another task, was sent by somebody who may not keep a schedule from firing.
    elsif not j.placeholder and (j.created_at < (p ->> 'at')::timestamptz or j.type is distinct from p #>> '{job,type}'
          or j.payload is distinct from coalesce(nullif(p #> '{job,payload}', 'null'), '{}')) then
      return '{"moved": false, "created": false, "taken": true}';
    end if;
  end if;
  update {{ .schema }}.schedules set
    next_at = (p ->> 'to_next_at')::timestamptz, fires_at = (p ->> 'to_fires_at')::timestamptz,
    owed = {{ .schema }}.aw_times(p -> 'owed'), missed = s.missed + coalesce((p ->> 'missed')::bigint, 0),
    fired = s.fired + v_new::int, skipped = s.skipped + (p ? 'job' and not v_free)::int,
    last_job_id = case when v_free then p #>> '{job,job_id}' else s.last_job_id end,
    last_at = case when v_free then (p ->> 'at')::timestamptz else s.last_at end
  where client_id = v_client and id = s.id;
  return jsonb_build_object('moved', true, 'created', v_new, 'skipped', p ? 'job' and not v_free);
end $$;

-- aw_times is an array of times.
create or replace function {{ .schema }}.aw_times(times jsonb) returns timestamptz[]
language sql stable
return array(select t::timestamptz from jsonb_array_elements_text(coalesce(nullif(times, 'null'), '[]')) with ordinality o (t, n)
             order by n);

-- aw_stop_schedule pauses a schedule that can't fire as it is; p.problem says why.
create or replace function {{ .schema }}.aw_stop_schedule(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  update {{ .schema }}.schedules set paused = true, problem = left(p ->> 'problem', 500), updated_at = clock_timestamp()
  where client_id = v_client and id = p ->> 'id' and updated_at = (p ->> 'updated_at')::timestamptz and not paused;
  return '{}';
end $$;
