-- Answers for people, frontends and commands. Times are UTC, whatever the session's time zone is. A list has at most
-- p.limit entries, 1-1000, default 100.

create or replace function {{ .schema }}.aw_job_json(j {{ .schema }}.jobs) returns jsonb
language sql stable set timezone = 'UTC'
return jsonb_build_object('id', j.id, 'client_id', j.client_id, 'type', j.type, 'status', j.status, 'stage', j.stage,
  'progress', j.progress, 'attempts', j.attempts, 'max_attempts', j.max_attempts, 'priority', j.priority,
  'payload', j.payload, 'hints', j.hints, 'error_class', j.error_class, 'error_code', j.error_code,
  'error_message', j.error_message, 'error_type', coalesce(j.error_type,
    case when j.error_class is not null then {{ .schema }}.aw_error_type(j.error_class) end),
  'retry_count', coalesce(j.retry_count, greatest(j.attempts - 1, 0)), 'processing_time_ms', j.processing_time_ms,
  'worker_id', coalesce(j.worker_id, j.worker), 'result', j.result, 'requested_by', j.requested_by,
  'parent_job_id', j.parent_job_id, 'replay', j.replay, 'cancel_requested', j.cancel_requested_at is not null,
  'run_at', j.run_at,
  'created_at', j.created_at, 'updated_at', j.updated_at, 'started_at', j.started_at, 'completed_at', j.completed_at);

create or replace function {{ .schema }}.aw_job(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'id';
  if not found then
    raise exception 'there is no job %', p ->> 'id' using errcode = 'AW002';
  end if;
  return {{ .schema }}.aw_job_json(j);
end $$;

create or replace function {{ .schema }}.aw_jobs(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  return coalesce((
    select jsonb_agg({{ .schema }}.aw_job_json(x::{{ .schema }}.jobs) order by x.created_at desc, x.id desc)
    from (select j.* from {{ .schema }}.jobs j
          where j.client_id = v_client and j.progress >= 0 -- a condition of jobs_newest
            and (p ->> 'status' is null or j.status = p ->> 'status')
            and (p ->> 'type' is null or j.type = p ->> 'type')
            and (p ->> 'before' is null or j.created_at < (p ->> 'before')::timestamptz)
            and (p ->> 'since' is null or j.created_at >= (p ->> 'since')::timestamptz)
            and (p ->> 'requested_by' is null or j.requested_by = p ->> 'requested_by')
            and (p ->> 'parent' is null or j.parent_job_id = p ->> 'parent')
            and (p ->> 'document_set' is null or j.payload ->> 'document_set' = p ->> 'document_set')
            and (p ->> 'text' is null or strpos(lower(j.id), lower(p ->> 'text')) > 0
                 or strpos(lower(j.payload ->> 'filename'), lower(p ->> 'text')) > 0)
            and (p ->> 'after' is null
                 or (j.created_at, j.id) < ((p #>> '{after,at}')::timestamptz, p #>> '{after,id}'))
          order by j.created_at desc, j.id desc
          limit least(greatest(coalesce((p ->> 'limit')::int, 100), 1), 1000)) x), '[]');
end $$;

create or replace function {{ .schema }}.aw_events(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('id', e.id, 'seq', e.seq, 'job_id', e.job_id, 'at', e.at, 'stage', e.stage,
      'progress', e.progress, 'attempt', e.attempt, 'message', e.message, 'metadata', e.metadata) order by e.seq)
    from (select * from {{ .schema }}.job_events
          where client_id = v_client and job_id = p ->> 'job_id' and seq > coalesce((p ->> 'after')::bigint, 0)
          order by seq limit least(greatest(coalesce((p ->> 'limit')::int, 100), 1), 1000)) e), '[]');
end $$;

create or replace function {{ .schema }}.aw_dead_letter_json(d {{ .schema }}.dead_letters) returns jsonb
language sql stable set timezone = 'UTC'
return jsonb_build_object('id', d.id, 'job_id', d.job_id, 'task_type', d.task_type, 'reason', d.reason,
  'error_class', d.error_class, 'error_code', d.error_code, 'error_message', d.error_message, 'attempts', d.attempts,
  'error_type', coalesce(d.error_type, {{ .schema }}.aw_error_type(d.error_class)),
  'retry_count', coalesce(d.retry_count, greatest(d.attempts - 1, 0)),
  'processing_time_ms', d.processing_time_ms, 'worker_id', d.worker_id, 'original_message', d.original_message,
  'source_queue', d.source_queue, 'created_at', d.created_at,
  'replayed_at', d.replayed_at, 'replayed_as', d.replayed_as, 'replayed_by', d.replayed_by, 'replays', d.replays);

create or replace function {{ .schema }}.aw_dead_letter(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  d {{ .schema }}.dead_letters;
begin
  select * into d from {{ .schema }}.dead_letters where client_id = v_client and id::text = p ->> 'id';
  if not found then
    raise exception 'there is no dead letter %', p ->> 'id' using errcode = 'AW002';
  end if;
  return {{ .schema }}.aw_dead_letter_json(d);
end $$;

-- aw_dead_letters lists dead letters, the newest first, or with p.oldest the oldest first. With p.bytes, the list ends after
-- the letter with which it has so many bytes as text, at most 2 MiB, since messages may be large; if there are more, that one
-- has the member more. With p.brief, original_message is null.
create or replace function {{ .schema }}.aw_dead_letters(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_job text := p ->> 'job_id';
  v_oldest boolean := coalesce((p ->> 'oldest')::boolean, false);
  v_brief boolean := coalesce((p ->> 'brief')::boolean, false);
  v_bytes integer := case when p ->> 'bytes' is not null then least(greatest((p ->> 'bytes')::int, 1), 2 << 20) end;
  v_read bigint := 0;
  v_one jsonb;
  v_found jsonb[] := '{}';
  d {{ .schema }}.dead_letters;
begin
  for d in
    select l.* from {{ .schema }}.dead_letters l
    where l.client_id = v_client
      and (v_job is null or l.job_id = v_job)
      and (p ->> 'type' is null or l.task_type = p ->> 'type')
      and (p ->> 'class' is null or l.error_class = p ->> 'class')
      and (p ->> 'reason' is null or l.reason = p ->> 'reason')
      and (p ->> 'replayed' is null or (l.replayed_at is not null) = (p ->> 'replayed' = 'yes'))
      and (p ->> 'since' is null or l.created_at >= (p ->> 'since')::timestamptz)
      and (p ->> 'before' is null or l.created_at < (p ->> 'before')::timestamptz)
      and (p ->> 'after' is null or case
           when v_oldest then
             (l.created_at, l.id) > ((p #>> '{after,at}')::timestamptz, (p #>> '{after,id}')::uuid)
           else (l.created_at, l.id) < ((p #>> '{after,at}')::timestamptz, (p #>> '{after,id}')::uuid) end)
    order by case when v_oldest then l.created_at end, case when v_oldest then l.id end, -- else they are constants
             l.created_at desc, l.id desc
    limit least(greatest(coalesce((p ->> 'limit')::int, 100), 1), 1000)
  loop
    if v_read >= v_bytes then
      v_found[cardinality(v_found)] := v_one || '{"more": true}';
      exit;
    end if;
    if v_brief then
      d.original_message := null; -- before it is read, which is what takes the time
    end if;
    v_one := {{ .schema }}.aw_dead_letter_json(d);
    v_read := v_read + octet_length(v_one::text);
    v_found := v_found || v_one;
  end loop;
  return to_jsonb(v_found);
end $$;

create or replace function {{ .schema }}.aw_deliveries(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('id', w.id, 'job_id', w.job_id, 'url', w.url, 'status', w.status,
      'attempts', w.attempts, 'next_attempt_at', w.next_attempt_at, 'response_status', w.response_status,
      'last_error', w.last_error, 'delivered_at', w.delivered_at, 'earlier', w.earlier) order by w.created_at, w.id)
    from {{ .schema }}.webhook_deliveries w where w.client_id = v_client and w.job_id = p ->> 'job_id'), '[]');
end $$;
