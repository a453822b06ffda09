-- What the holder of a job may do with it. Each function refuses a stale fence (I4) and is one transaction.

create or replace function {{ .schema }}.aw_heartbeat(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_heartbeat(p);
  v_last record;
begin
  select * into v_last from {{ .schema }}.aw_append_events(j, p -> 'events');
  update {{ .schema }}.jobs set
    lease_expires_at = clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms'),
    checkpoint = coalesce(nullif(p -> 'checkpoint', 'null'), checkpoint),
    event_seq = v_last.seq, progress = v_last.progress, stage = v_last.stage
  where client_id = j.client_id and id = j.id;
  return jsonb_build_object('cancel', j.cancel_requested_at is not null, 'deliveries',
    case when v_last.seq > j.event_seq then {{ .schema }}.aw_webhook_progress(j, v_last.seq) else 0 end);
end $$;

-- aw_effect runs one effect of a handler, the function aw_effect_<kind>, and returns what to add to the result.
create or replace function {{ .schema }}.aw_effect(j {{ .schema }}.jobs, effect jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_kind text := effect ->> 'kind';
  v_added jsonb;
begin
  -- A function that another role created would run with the rights of this one's owner.
  if v_kind !~ '^[a-z_]{1,40}$' or not exists (
       select from pg_proc where pg_get_userbyid(proowner) = current_user
         and oid = to_regprocedure(format('{{ .schema }}.aw_effect_%s(text, text, bigint, jsonb)', v_kind))) then
    raise exception 'there is no effect %', left(v_kind, 40) using errcode = 'AW006';
  end if;
  execute format('select {{ .schema }}.aw_effect_%s($1, $2, $3, $4)', v_kind)
    into v_added using j.client_id, j.id, j.fence, coalesce(nullif(effect -> 'args', 'null'), '{}');
  return coalesce(v_added, '{}');
end $$;

create or replace function {{ .schema }}.aw_complete(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_held_job(p);
  v_result jsonb := coalesce(nullif(p -> 'result', 'null'), '{}');
  v_effect jsonb;
begin
  if jsonb_typeof(v_result) <> 'object' then
    raise exception 'a result must be a JSON object' using errcode = 'AW006';
  end if;
  for v_effect in select * from jsonb_array_elements(coalesce(nullif(p -> 'effects', 'null'), '[]')) loop
    v_result := v_result || {{ .schema }}.aw_effect(j, v_effect);
  end loop;
  return {{ .schema }}.aw_end(j, 'succeeded', v_result, null::jsonb, p -> 'events', null::jsonb);
end $$;

create or replace function {{ .schema }}.aw_fail(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
begin
  return {{ .schema }}.aw_end(
    {{ .schema }}.aw_lock_held_job(p), 'failed', null::jsonb, p -> 'error', p -> 'events', p);
end $$;

-- aw_canceled ends a job as canceled. Nothing of the job is committed after it (I7), because the job no longer runs.
create or replace function {{ .schema }}.aw_canceled(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
begin
  return {{ .schema }}.aw_end(
    {{ .schema }}.aw_lock_held_job(p), 'canceled', null::jsonb, null::jsonb, p -> 'events', null::jsonb);
end $$;

-- aw_end_attempt ends an attempt but not the job: staged work and checkpoint stay for the next attempt.
create or replace function {{ .schema }}.aw_end_attempt(
  j {{ .schema }}.jobs, state text, attempts integer, wait interval, error jsonb, events jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
#variable_conflict use_variable
declare
  v_last record;
begin
  select * into v_last from {{ .schema }}.aw_append_events(j, events);
  update {{ .schema }}.jobs as u set
    status = state, attempts = aw_end_attempt.attempts, lease_expires_at = null,
    not_before = clock_timestamp() + wait,
    error_class = coalesce(error ->> 'class', u.error_class), error_code = coalesce(error ->> 'code', u.error_code),
    error_message = coalesce(error ->> 'message', u.error_message),
    error_type = coalesce(
      {{ .schema }}.aw_failure(error, attempts, null::text, null::bigint) ->> 'error_type', u.error_type),
    retry_wait_ms = case when state = 'running' then (extract(epoch from wait) * 1000)::bigint
                         else u.retry_wait_ms end,
    event_seq = v_last.seq, progress = v_last.progress, stage = v_last.stage
  where u.client_id = j.client_id and u.id = j.id;
  return jsonb_build_object('state', state, 'attempts', attempts, 'deliveries', 0);
end $$;

-- aw_retry records a retryable error and when the next attempt may start. The job stays running, but nobody holds it. One
-- that is to be canceled ends.
create or replace function {{ .schema }}.aw_retry(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_held_job(p);
begin
  if j.cancel_requested_at is not null then -- nobody else does it: the message may not come for as long as an outage lasts
    return {{ .schema }}.aw_end(j, 'canceled', null::jsonb, null::jsonb, p -> 'events', null::jsonb);
  end if;
  if j.attempts >= j.max_attempts then -- I6
    raise exception 'job % has no attempt left after %', j.id, j.attempts using errcode = 'AW006';
  end if;
  return {{ .schema }}.aw_end_attempt(j, 'running', j.attempts, {{ .schema }}.aw_interval(p -> 'after_ms'),
    p -> 'error', coalesce(nullif(p -> 'events', 'null'), '[]') || {{ .schema }}.aw_event(
      'retrying', 0, p #>> '{error,message}', jsonb_build_object(
        'class', p #> '{error,class}', 'code', p #> '{error,code}', 'after_ms', p -> 'after_ms')));
end $$;

-- aw_release releases the job without counting the attempt (I9). p.waits: because a service that it needs is down,
-- which the row records, as the engine limits it (I11). p.tried: its handler had run. One that is to be canceled ends.
create or replace function {{ .schema }}.aw_release(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_held_job(p);
begin
  if j.cancel_requested_at is not null then -- nobody else does it: the message may not come for as long as an outage lasts
    return {{ .schema }}.aw_end(j, 'canceled', null::jsonb, null::jsonb, p -> 'events', null::jsonb);
  end if;
  if coalesce((p ->> 'waits')::boolean, false) then
    update {{ .schema }}.jobs as u set
      releases = coalesce(u.releases, 0) + case when coalesce((p ->> 'tried')::boolean, false) then 1 else 0 end,
      waiting_since = coalesce(u.waiting_since, clock_timestamp())
    where u.client_id = j.client_id and u.id = j.id;
  end if;
  return {{ .schema }}.aw_end_attempt(j, 'pending', j.attempts - 1, interval '0', null::jsonb,
    coalesce(nullif(p -> 'events', 'null'), '[]') ||
      {{ .schema }}.aw_event('released', 0, 'released; the attempt is not counted', null::jsonb));
end $$;

-- aw_is_unanswered reports whether one of the begins has leased the job j; j.id is null if there is no such job.
create or replace function {{ .schema }}.aw_is_unanswered(j {{ .schema }}.jobs, begin_ids jsonb) returns boolean
language sql immutable
return coalesce(j.status = 'running' and j.lease_expires_at is not null and begin_ids ? j.begin_id, false);

-- aw_release_unanswered gives back the jobs that were leased by a begin whose answer was lost: nobody makes that
-- attempt, and it is not counted (I9). Each entry of p.begins has a job_id and the begin_ids of one worker's begins.
-- It locks no other job, and skips one that is locked: workers report their begins again.
create or replace function {{ .schema }}.aw_release_unanswered(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_released integer := 0;
  b record;
  j {{ .schema }}.jobs;
begin
  for b in select r.job_id, r.begin_ids from jsonb_to_recordset(p -> 'begins') as r(job_id text, begin_ids jsonb)
           order by r.job_id loop
    select * into j from {{ .schema }}.jobs where client_id = v_client and id = b.job_id;
    continue when not {{ .schema }}.aw_is_unanswered(j, b.begin_ids);
    select * into j from {{ .schema }}.jobs where client_id = v_client and id = b.job_id for update skip locked;
    continue when not {{ .schema }}.aw_is_unanswered(j, b.begin_ids);
    if j.fence = 1 then -- no caller got the answer to the first start
      update {{ .schema }}.jobs set series_started_at = null where client_id = v_client and id = j.id;
    end if;
    perform {{ .schema }}.aw_end_attempt(j, 'pending', j.attempts - 1, interval '0', null::jsonb,
      jsonb_build_array({{ .schema }}.aw_event('released', 0,
        'the begin was not answered; the attempt is not counted', null::jsonb)));
    v_released := v_released + 1;
  end loop;
  return jsonb_build_object('released', v_released);
end $$;
