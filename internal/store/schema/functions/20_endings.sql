-- The end of a job, whoever ends it: row, last event, dead letter and webhook in one transaction.

-- aw_error_type is the coarse type of an error class. It mirrors internal/taskerr's Classes; a test compares the two.
create or replace function {{ .schema }}.aw_error_type(class text) returns text
language sql immutable
return case
  when class in ('validation_error', 'unsupported_format', 'content_missing') then 'validation'
  when class in ('corruption_detected', 'quota_exceeded', 'internal_bug') then 'permanent'
  when class in ('timeout', 'wait_exceeded') then 'timeout'
  else 'transient' end;

-- aw_attempt_ms is how long the last attempt of a job took, or was known to be alive, in milliseconds.
create or replace function {{ .schema }}.aw_attempt_ms(j {{ .schema }}.jobs) returns bigint
language sql volatile
return (
  select (1000 * extract(
    epoch from greatest(least(clock_timestamp(), j.lease_expires_at) - max(e.at), interval '0')))::bigint
  from {{ .schema }}.job_events e
  where e.job_id = j.id and e.client_id = j.client_id and e.series = j.series and e.stage = 'started');

-- aw_life_ms is how long an ended job took, from the start of its first attempt, in milliseconds; null if none
-- started.
create or replace function {{ .schema }}.aw_life_ms(j {{ .schema }}.jobs) returns bigint
language sql immutable
return (extract(epoch from j.completed_at - j.series_started_at) * 1000)::bigint;

-- aw_failure is an error with all fields of a failure. A worker of the previous version sends neither the coarse type
-- nor how long the attempt took.
create or replace function {{ .schema }}.aw_failure(
  error jsonb, attempts integer, worker text, took_ms bigint
) returns jsonb
language sql stable
return case when error is not null then error || jsonb_build_object(
  'attempts', attempts, 'retry_count', greatest(attempts - 1, 0), 'worker_id', coalesce(worker, ''),
  'error_type', coalesce(nullif(error ->> 'error_type', ''), {{ .schema }}.aw_error_type(error ->> 'class')),
  'processing_time_ms', coalesce(error -> 'processing_time_ms', to_jsonb(took_ms), '0')) end;

-- aw_webhook_error is an error with its keys in the order of docs/contract.md, null if there is none.
create or replace function {{ .schema }}.aw_webhook_error(error jsonb) returns text
language sql immutable
return case when error is not null then concat(
  '{"type":', coalesce((error -> 'type')::text, '""'),
  ',"message":', coalesce((error -> 'message')::text, '""'),
  ',"class":', coalesce((error -> 'class')::text, '""'),
  ',"code":', coalesce((error -> 'code')::text, '""'),
  ',"retryable":', coalesce((error -> 'retryable')::text, 'false'),
  ',"attempts":', coalesce((error -> 'attempts')::text, '0'),
  ',"error_type":', coalesce((error -> 'error_type')::text, '""'),
  ',"retry_count":', coalesce((error -> 'retry_count')::text, '0'),
  ',"processing_time_ms":', coalesce((error -> 'processing_time_ms')::text, '0'),
  ',"worker_id":', coalesce((error -> 'worker_id')::text, '""'), '}') end;

-- aw_webhook_id makes the id of a webhook.
create or replace function {{ .schema }}.aw_webhook_id() returns text
language sql volatile
return 'msg_' || replace(gen_random_uuid()::text, '-', '');

-- aw_webhook_body is the exact body of docs/contract.md. It is text and not jsonb, so that the keys keep this order.
-- concat leaves out null.
create or replace function {{ .schema }}.aw_webhook_body(
  client text, job_id text, task_type text, wire text, attempt integer, result jsonb, error jsonb
) returns text
language sql volatile
return concat('{"type":', to_json('task.' || wire),
    ',"timestamp":"', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"',
    ',"task_id":', coalesce(to_json(job_id)::text, 'null'),
    ',"task_type":', coalesce(to_json(task_type)::text, 'null'),
    ',"client_id":', to_json(client),
    ',"status":', to_json(wire),
    ',"attempt":', attempt,
    ',"result":' || result::text,
    ',"error":' || {{ .schema }}.aw_webhook_error(error),
    '}');

-- aw_webhook writes the outbox row if there is a URL. It returns the number of rows that it wrote.
create or replace function {{ .schema }}.aw_webhook(
  client text, job_id text, task_type text, url text, state text, attempt integer, result jsonb, error jsonb
) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_wire text := case state when 'succeeded' then 'completed' else state end;
begin
  if coalesce(url, '') = '' then
    return 0;
  end if;
  insert into {{ .schema }}.webhook_deliveries (client_id, id, job_id, event, url, body, next_attempt_at)
  values (client, {{ .schema }}.aw_webhook_id(), job_id, 'task.' || v_wire, url,
          {{ .schema }}.aw_webhook_body(client, job_id, task_type, v_wire, attempt, result, error), clock_timestamp());
  return 1;
end $$;

-- aw_webhook_events are the events of a task's course whose webhooks it asks for, null for none.
create or replace function {{ .schema }}.aw_webhook_events(task jsonb) returns text[]
language sql immutable
return case when task -> 'webhook_events' is not null and task ->> 'webhook_url' <> ''
                 and jsonb_typeof(task -> 'webhook_events') = 'array' then
  nullif(array_remove(array[case when task -> 'webhook_events' ? 'progress' then 'progress' end,
                            case when task -> 'webhook_events' ? 'started' then 'started' end], null), '{}') end;

-- aw_webhook_once writes a webhook of a task's course if it asks for it, event is 'started' or 'progress'. Its id comes
-- from what it reports, so that the same is reported once (I2); a job under the id of a removed one is another. It is tried
-- once and not again. It returns the number of rows that it wrote.
create or replace function {{ .schema }}.aw_webhook_once(
  j {{ .schema }}.jobs, event text, attempt integer, of_event bigint, details jsonb
) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_written integer;
begin
  if j.webhook_events is null or event <> all (j.webhook_events) or coalesce(j.webhook_url, '') = '' then
    return 0;
  end if;
  insert into {{ .schema }}.webhook_deliveries (client_id, id, job_id, event, url, body, next_attempt_at, once)
  values (j.client_id, 'msg_' || md5(jsonb_build_array(j.client_id, j.id,
      extract(epoch from j.created_at), j.series, event, of_event)::text), j.id,
    'task.' || event, j.webhook_url,
    concat('{"type":', to_json('task.' || event),
      ',"timestamp":"', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"',
      ',"task_id":', to_json(j.id), ',"task_type":', to_json(j.type), ',"client_id":', to_json(j.client_id),
      ',"status":"running","attempt":', attempt, ',' || ltrim(nullif(details, '{}')::text, '{'),
      case when coalesce(details, '{}') = '{}' then '}' end),
    clock_timestamp(), true)
  on conflict (client_id, id) do nothing;
  get diagnostics v_written = row_count;
  return v_written;
end $$;

-- aw_webhook_progress reports new progress of a job, whose row is j, by webhook: at most once in two seconds, and not
-- while the last report waits to be sent. It returns the number of rows that it wrote.
create or replace function {{ .schema }}.aw_webhook_progress(j {{ .schema }}.jobs, seq bigint) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  e {{ .schema }}.job_events;
  v_written integer;
begin
  if j.webhook_events is null or 'progress' <> all (j.webhook_events)
     or j.progress_webhook_at > clock_timestamp() - interval '2 seconds'
     or exists (select from {{ .schema }}.webhook_deliveries w
                where w.client_id = j.client_id and w.job_id = j.id and w.once and w.status = 'pending'
                  and w.event = 'task.progress') then
    return 0;
  end if;
  select * into e from {{ .schema }}.job_events o
  where o.client_id = j.client_id and o.job_id = j.id and o.seq = aw_webhook_progress.seq;
  v_written := {{ .schema }}.aw_webhook_once(j, 'progress', j.attempts, e.seq, jsonb_build_object(
    'stage', e.stage, 'progress', e.progress) || coalesce(jsonb_strip_nulls(jsonb_build_object(
    'pages_completed', e.metadata -> 'pages_completed', 'total_pages', e.metadata -> 'total_pages')), '{}'));
  update {{ .schema }}.jobs set progress_webhook_at = clock_timestamp() where client_id = j.client_id and id = j.id;
  return v_written;
end $$;

-- aw_dead_letter_ref is a dead letter as the engine sees it.
create or replace function {{ .schema }}.aw_dead_letter_ref(d {{ .schema }}.dead_letters) returns jsonb
language sql stable
return case when d.id is null then null else jsonb_build_object(
    'id', d.id, 'reason', d.reason, 'error_class', d.error_class, 'error_message', d.error_message,
    'attempts', d.attempts, 'sent', d.sent_at is not null) end;

-- aw_drop_staged removes what a job has staged and not activated, and documents that never had a version. Lock order,
-- as everywhere: documents before their versions.
create or replace function {{ .schema }}.aw_drop_staged(client text, job text) returns void
language plpgsql set search_path = {{ .path }} as $$
declare
  v_documents uuid[] := array(select v.document_id from {{ .schema }}.document_versions v
    where v.client_id = client and v.job_id = job and v.status = 'staged');
begin
  if v_documents <> '{}' then
    perform from {{ .schema }}.documents d
      where d.client_id = client and d.id = any (v_documents) order by d.id for update;
    perform {{ .schema }}.aw_drop_version(client, v.document_id, v.version)
      from {{ .schema }}.document_versions v
      where v.client_id = client and v.job_id = job and v.status = 'staged';
    delete from {{ .schema }}.documents d
      where d.client_id = client and d.id = any (v_documents) and d.active_version is null
      and not exists (
        select from {{ .schema }}.document_versions v where v.client_id = client and v.document_id = d.id);
  end if;
end $$;

-- aw_end moves a job that the caller has locked into a terminal state.
--   result: of a success. error: {type, class, code, message, retryable, error_type, processing_time_ms} of a failure.
--   letter: {reason, source, original_message} of a failure, for the dead letter.
-- It returns the fields of store.Settlement.
create or replace function {{ .schema }}.aw_end(
  j {{ .schema }}.jobs, state text, result jsonb, error jsonb, events jsonb, letter jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_wire text := case state when 'succeeded' then 'completed' else state end;
  v_took bigint := case when j.lease_expires_at is not null and coalesce(error, result) -> 'processing_time_ms' is null
                        then {{ .schema }}.aw_attempt_ms(j) end;
  v_error jsonb := {{ .schema }}.aw_failure(error, j.attempts, j.worker, v_took);
  v_last record;
  d {{ .schema }}.dead_letters;
  v_sent integer;
begin
  select * into v_last
  from {{ .schema }}.aw_append_events(j, coalesce(nullif(events, 'null'), '[]') || {{ .schema }}.aw_event(
    v_wire,
    case state when 'succeeded' then 100 else 0 end, -- aw_append_events raises it to the last value
    case state when 'failed' then error ->> 'message' when 'canceled' then 'canceled' else 'done' end,
    case state when 'failed' then
      jsonb_build_object('class', error -> 'class', 'code', error -> 'code', 'at_stage', j.stage) end));

  update {{ .schema }}.jobs set
    status = state, stage = v_wire, progress = v_last.progress, event_seq = v_last.seq,
    result = aw_end.result, completed_at = clock_timestamp(), checkpoint = null,
    error_class = error ->> 'class', error_code = error ->> 'code', error_message = error ->> 'message',
    error_type = v_error ->> 'error_type', retry_count = greatest(j.attempts - 1, 0), worker_id = j.worker,
    processing_time_ms = case when jsonb_typeof(coalesce(v_error, aw_end.result) -> 'processing_time_ms') = 'number'
                              then (coalesce(v_error, aw_end.result) ->> 'processing_time_ms')::numeric::bigint
                              else v_took end,
    lease_expires_at = null, not_before = null, retry_wait_ms = null,
    -- What was recorded while it ran, and is still to be sent, starts it again.
    message = case when j.status = 'running' and state <> 'canceled' and sent_at is null then message end,
    run_at = case when message is null or j.status = 'running' and state <> 'canceled' and sent_at is null then run_at end
  where client_id = j.client_id and id = j.id
  returning completed_at into j.completed_at;

  if state <> 'succeeded' then
    perform {{ .schema }}.aw_drop_staged(j.client_id, j.id);
  end if;
  if state = 'canceled' then -- a failed job keeps them for when it is done again
    perform {{ .schema }}.aw_drop_readings(j.client_id, j.id);
  end if;
  if state = 'failed' then
    insert into {{ .schema }}.dead_letters (
      client_id, job_id, series, rejected, task_type, reason, error_class, error_code, error_message, attempts,
      original_message, source_queue, message_id, error_type, retry_count, processing_time_ms, worker_id,
      created_at, tx)
    select j.client_id, j.id, j.series, false, j.type, letter ->> 'reason', error ->> 'class', error ->> 'code',
           error ->> 'message', j.attempts, coalesce(letter ->> 'original_message', ''),
           letter #>> '{source,queue}', letter #>> '{source,message_id}', v_error ->> 'error_type',
           (v_error ->> 'retry_count')::int, (v_error ->> 'processing_time_ms')::numeric::bigint,
           v_error ->> 'worker_id', e.at, e.tx -- it comes after the event of the failure in the stream
    from {{ .schema }}.job_events e
    where e.client_id = j.client_id and e.job_id = j.id and e.seq = v_last.seq
    returning * into d;
  end if;
  if 'progress' = any (j.webhook_events) then -- what has not been sent by now would come after the end
    update {{ .schema }}.webhook_deliveries w set status = 'failed', next_attempt_at = null,
      last_error = 'the task has ended'
    where w.client_id = j.client_id and w.job_id = j.id and w.once and w.status = 'pending'
      and w.event = 'task.progress' and w.lease_expires_at is null;
  end if;
  v_sent := {{ .schema }}.aw_webhook(j.client_id, j.id, j.type, j.webhook_url, state, j.attempts,
    aw_end.result, v_error);
  return jsonb_build_object('state', state, 'attempts', j.attempts, 'result', aw_end.result,
                            'dead_letter', {{ .schema }}.aw_dead_letter_ref(d), 'deliveries', v_sent,
                            'duration_ms', {{ .schema }}.aw_life_ms(j));
end $$;

-- aw_report_canceled sends the webhook of a job that was canceled before its message came, once, to that message's
-- URL.
create or replace function {{ .schema }}.aw_report_canceled(j {{ .schema }}.jobs, p jsonb) returns integer
language plpgsql set search_path = {{ .path }} as $$
begin
  if coalesce(p ->> 'webhook_url', '') = '' then
    return 0;
  end if;
  update {{ .schema }}.jobs set webhook_url = p ->> 'webhook_url', type = coalesce(p ->> 'type', ''),
    requested_by = nullif(p ->> 'requested_by', ''), traceparent = nullif(p ->> 'traceparent', '')
  where client_id = j.client_id and id = j.id and placeholder and webhook_url is null
  returning * into j;
  if not found then
    return 0;
  end if;
  return {{ .schema }}.aw_webhook(j.client_id, j.id, j.type, j.webhook_url, 'canceled', 0, null::jsonb, null::jsonb);
end $$;
