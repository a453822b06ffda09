-- What people do with dead letters and failed jobs: replay one as another job, queue the same job again, purge. Both
-- ways of doing a task again record the message before it is sent, as aw_submit does (I1), and mark the dead letter
-- in the same transaction, so that it is not done twice by accident (I2). Lock order: job, dead letter.

-- aw_replay_refusal is why a dead letter is not replayed unless "again" is requested, null if it is.
create or replace function {{ .schema }}.aw_replay_refusal(d {{ .schema }}.dead_letters) returns text
language plpgsql stable set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs;
begin
  if d.replayed_at is not null then
    select * into j from {{ .schema }}.jobs where client_id = d.client_id and id = d.replayed_as;
    return format('dead letter %s was replayed at %s by %s as job %s%s', d.id,
      to_char(d.replayed_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"'), coalesce(d.replayed_by, 'somebody'),
      d.replayed_as, coalesce(', which is ' || j.status, ''));
  end if;
  select * into j from {{ .schema }}.jobs where client_id = d.client_id and id = d.job_id;
  if j.series > d.series then
    return format('job %s was started again since dead letter %s, and is %s', j.id, d.id, j.status);
  end if;
  return null;
end $$;

-- aw_replay_of is what a replay of a dead letter would be. Its job's id is the id of the first job of its line and
-- the number of the replay (a, a.r1, a.r2 …). If the message never became a job it is the task's own id.
create or replace function {{ .schema }}.aw_replay_of(d {{ .schema }}.dead_letters, task_id text) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_base text := coalesce(d.job_id, task_id);
  v_number integer := 1;
  v_id text := v_base;
  j {{ .schema }}.jobs;
begin
  if v_base is null then
    raise exception 'dead letter % names no task: a replay needs a task id', d.id using errcode = 'AW006';
  end if;
  select * into j from {{ .schema }}.jobs where client_id = d.client_id and id = v_base;
  if found then
    v_number := j.replay + 1;
    if j.replay > 0 and v_base like '%.r' || j.replay then
      v_base := left(v_base, - length('.r' || j.replay));
    end if;
    if length(v_base) > 118 then -- an id has at most 128 characters, 10 of them are for the number
      v_base := left(v_base, 109) || '.' || left(md5(v_base), 8);
    end if;
    v_id := v_base || '.r' || v_number;
    while exists (select from {{ .schema }}.jobs o where o.client_id = d.client_id and o.id = v_id) loop
      v_number := v_number + 1;
      v_id := v_base || '.r' || v_number;
    end loop;
  end if;
  return jsonb_build_object('job_id', v_id, 'parent_job_id', j.id, 'number', v_number, 'replays', d.replays,
    -- A letter that ended no job, of a message with another task's id, is nothing of that task's receiver.
    'webhook_url', case when d.series is not null then j.webhook_url end, 'refusal', {{ .schema }}.aw_replay_refusal(d));
end $$;

-- aw_plan_replay is what one needs to write the message of a replay.
create or replace function {{ .schema }}.aw_plan_replay(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  d {{ .schema }}.dead_letters;
begin
  select * into d from {{ .schema }}.dead_letters where client_id = v_client and id::text = p ->> 'id';
  if not found then
    raise exception 'there is no dead letter %', p ->> 'id' using errcode = 'AW002';
  end if;
  return {{ .schema }}.aw_replay_of(d, nullif(p ->> 'task_id', ''));
end $$;

-- aw_note_replay records in a dead letter that its task is done again, as which job, and by whom.
create or replace function {{ .schema }}.aw_note_replay(
  d {{ .schema }}.dead_letters, job_id text, by text
) returns void
language sql set search_path = {{ .path }} as $$
  update {{ .schema }}.dead_letters l set
    replayed_at = clock_timestamp(), replayed_as = $2, replayed_by = $3, replays = l.replays + 1
  where l.client_id = d.client_id and l.id = d.id;
$$;

-- aw_replay records the job that does a dead letter's task again. The message contains the job's id, so the caller
-- wrote it after aw_plan_replay; it fails if that plan is out of date.
create or replace function {{ .schema }}.aw_replay(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_by text := coalesce(nullif(p ->> 'by', ''), 'somebody');
  v_plan jsonb;
  v_last record;
  d {{ .schema }}.dead_letters;
  j {{ .schema }}.jobs;
begin
  select * into d from {{ .schema }}.dead_letters where client_id = v_client and id::text = p ->> 'id' for update;
  if not found then
    raise exception 'there is no dead letter %', p ->> 'id' using errcode = 'AW002';
  end if;
  v_plan := {{ .schema }}.aw_replay_of(d, nullif(p ->> 'task_id', ''));
  -- "Again" covers the replays that the plan showed: one that came after it refuses in any case.
  if v_plan ->> 'refusal' is not null
     and not (coalesce((p ->> 'again')::boolean, false) and d.replays = (p ->> 'replays')::int) then
    raise exception '%', v_plan ->> 'refusal' using errcode = 'AW012';
  elsif v_plan ->> 'job_id' is distinct from p ->> 'job_id'
     or not ({{ .schema }}.aw_submit(p) ->> 'created')::boolean then
    raise exception 'job % exists already', p ->> 'job_id' using errcode = 'AW003';
  end if;

  update {{ .schema }}.jobs set parent_job_id = v_plan ->> 'parent_job_id', replay = (v_plan ->> 'number')::int,
    first_queued_at = (select coalesce(o.first_queued_at, o.queued_at, o.created_at) from {{ .schema }}.jobs o
                       where o.client_id = v_client and o.id = v_plan ->> 'parent_job_id')
  where client_id = v_client and id = p ->> 'job_id'
  returning * into j;
  select * into v_last from {{ .schema }}.aw_append_events(j, jsonb_build_array({{ .schema }}.aw_event(
    '', 0, 'replayed by ' || v_by,
    jsonb_build_object('dead_letter', d.id, 'parent_job_id', j.parent_job_id, 'replay', j.replay))));
  update {{ .schema }}.jobs set event_seq = v_last.seq where client_id = v_client and id = j.id;
  perform {{ .schema }}.aw_note_replay(d, j.id, v_by);
  return jsonb_build_object('job_id', j.id, 'parent_job_id', j.parent_job_id, 'number', j.replay);
end $$;

-- aw_plan_requeue is what one needs to write the message of a failed job again.
create or replace function {{ .schema }}.aw_plan_requeue(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  d {{ .schema }}.dead_letters;
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id';
  if not found then
    raise exception 'there is no job %', p ->> 'job_id' using errcode = 'AW002';
  end if;
  select * into d from {{ .schema }}.dead_letters l
  where l.client_id = v_client and l.job_id = j.id and l.series = j.series;
  return jsonb_build_object('job', {{ .schema }}.aw_job_json(j), 'webhook_url', j.webhook_url,
    'traceparent', j.traceparent, 'dead_letter', d.id, 'original_message', d.original_message);
end $$;

-- aw_requeue queues a failed job again, under its own id, as another series. It keeps the count of attempts, unless
-- anew or forced: then it starts from zero. A job whose message was rejected had no attempt; it takes from the request what
-- its row lacks.
create or replace function {{ .schema }}.aw_requeue(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_by text := coalesce(nullif(p ->> 'by', ''), 'somebody');
  v_force boolean := coalesce((p ->> 'force')::boolean, false);
  v_anew boolean := v_force or coalesce((p ->> 'anew')::boolean, false);
  v_last record;
  v_was jsonb;
  d {{ .schema }}.dead_letters;
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for update;
  if not found then
    raise exception 'there is no job %', p ->> 'job_id' using errcode = 'AW002';
  elsif j.status <> 'failed' then
    raise exception 'job % is %', j.id, j.status using errcode = 'AW014';
  elsif j.fingerprint not in ('', p ->> 'fingerprint') then -- I5
    raise exception 'job % has another type or payload', j.id using errcode = 'AW003';
  end if;
  select * into d from {{ .schema }}.dead_letters l
  where l.client_id = v_client and l.job_id = j.id and l.series = j.series for update;
  -- Before the attempts: who forces a job for these learns first that another job does its task.
  if d.replayed_at is not null and not v_force then
    raise exception '%', {{ .schema }}.aw_replay_refusal(d) using errcode = 'AW012';
  elsif not v_anew and j.fingerprint <> '' and j.attempts >= j.max_attempts then -- I6
    raise exception 'job % has used % of % attempts', j.id, j.attempts, j.max_attempts using errcode = 'AW013';
  end if;

  v_was := jsonb_strip_nulls(jsonb_build_object('series', j.series, 'status', j.status, 'attempts', j.attempts,
    'completed_at', j.completed_at, 'error_class', j.error_class, 'error_code', j.error_code,
    'error_message', j.error_message));
  update {{ .schema }}.jobs set
    status = 'pending', stage = '', progress = 0, series = j.series + 1, series_started_at = null,
    releases = 0, waiting_since = null, lost_worker = null, lost_before = null,
    attempts = case when v_anew then 0 else j.attempts end,
    max_attempts = case when v_anew or j.fingerprint = '' then (p ->> 'max_attempts')::int else j.max_attempts end,
    type = p ->> 'type', payload = p -> 'payload', fingerprint = p ->> 'fingerprint',
    document = {{ .schema }}.aw_document_key(p ->> 'type', p -> 'payload'), -- a rejected message's job has none yet
    webhook_events = coalesce({{ .schema }}.aw_webhook_events(p), webhook_events),
    hints = coalesce(nullif(p -> 'hints', 'null'), '{}'), priority = coalesce(nullif(p ->> 'priority', ''), 'normal'),
    webhook_url = coalesce(nullif(p ->> 'webhook_url', ''), j.webhook_url),
    traceparent = coalesce(nullif(p ->> 'traceparent', ''), j.traceparent),
    completed_at = null, result = null, error_class = null, error_code = null, error_message = null, not_before = null,
    error_type = null, retry_count = null, processing_time_ms = null, worker_id = null, retry_wait_ms = null,
    cancel_requested_at = null, cancel_requested_by = null,
    queue = p ->> 'queue', message = p ->> 'message', sent_at = null, run_at = (p ->> 'send_at')::timestamptz,
    queued_at = clock_timestamp(), first_queued_at = coalesce(j.first_queued_at, j.queued_at, j.created_at)
  where client_id = v_client and id = j.id
  returning * into j;
  select * into v_last from {{ .schema }}.aw_append_events(j,
    jsonb_build_array({{ .schema }}.aw_event('restarted', 0, 'queued again by ' || v_by, v_was)));
  update {{ .schema }}.jobs set event_seq = v_last.seq where client_id = v_client and id = j.id
  returning * into j;
  if d.id is not null then
    perform {{ .schema }}.aw_note_replay(d, j.id, v_by);
  end if;
  return {{ .schema }}.aw_job_json(j);
end $$;

-- aw_purge removes dead letters for good, and returns their ids. It keeps those whose message may still be on its
-- queue: it would be received, and recorded again.
create or replace function {{ .schema }}.aw_purge(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_gone jsonb;
begin
  with gone as (
    delete from {{ .schema }}.dead_letters d
    where d.client_id = v_client
      and d.id in (select i::uuid from jsonb_array_elements_text(p -> 'ids') i
                   where i ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$')
      and (d.sent_at is not null or d.created_at < clock_timestamp() - {{ .schema }}.aw_interval(p -> 'unsent_for_ms'))
    returning d.id)
  select jsonb_agg(g.id) into v_gone from gone g;
  return coalesce(v_gone, '[]');
end $$;
