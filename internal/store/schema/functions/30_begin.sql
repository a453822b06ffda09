-- aw_begin records the job if it is new and decides what to do with its message.

-- aw_begin_answer is the answer of aw_begin: the decision, the job's state, and extra.
create or replace function {{ .schema }}.aw_begin_answer(
  decision text, j {{ .schema }}.jobs, extra jsonb default '{}'
) returns jsonb
language sql stable
return jsonb_build_object('decision', decision, 'fence', j.fence, 'attempt', j.attempts,
    'max_attempts', j.max_attempts, 'progress', j.progress, 'state', j.status, 'checkpoint', j.checkpoint,
    'releases', coalesce(j.releases, 0), 'waited_ms', case when j.waiting_since is not null then
      greatest(1, ceil(extract(epoch from now() - j.waiting_since) * 1000))::bigint end,
    'retry_wait_ms', j.retry_wait_ms, 'duration_ms', {{ .schema }}.aw_life_ms(j)) || extra;

-- aw_message_key is the identity of a message in the rows of jobs. Its id is not enough: some services number the messages
-- of each queue from 1, and from 1 again when the queue is made again. The time is of the second, as a moved message has
-- it in milliseconds. The id of a recorded message, of which there may be copies, says when it was recorded; a copy's time may
-- be that of the queue's clock.
create or replace function {{ .schema }}.aw_message_key(source jsonb) returns text
language sql stable
return nullif(source ->> 'message_id', '') || concat('@', source ->> 'queue', '@',
  case when source ->> 'message_id' not like 'outbox:%' then floor(extract(epoch from (source ->> 'inserted_at')::timestamptz)) end);

-- aw_had_message reports whether a message has started a run of a job, or was reported as its duplicate. In the rows of
-- the version before, ids stand alone.
create or replace function {{ .schema }}.aw_had_message(j {{ .schema }}.jobs, p jsonb) returns boolean
language sql stable
return coalesce(j.message_ids && array[p #>> '{source,message_id}', {{ .schema }}.aw_message_key(p -> 'source')], false);

-- aw_remember_message adds a message's key to those of a job, and keeps the last 50.
create or replace function {{ .schema }}.aw_remember_message(ids text[], id text) returns text[]
language sql immutable
return case when id is null or id = any (ids) then ids else ids[greatest(1, cardinality(ids) - 48):] || id end;

-- aw_place is a job's place among those of its document: when its message was sent, or the time from which on it was to start,
-- as the message p or the job's row says.
create or replace function {{ .schema }}.aw_place(sent timestamptz, p jsonb, run_at timestamptz) returns timestamptz
language sql volatile
return least(greatest(sent, (p ->> 'run_at')::timestamptz, run_at), clock_timestamp());

-- aw_start_attempt starts an attempt of a job that the caller has locked, after the given events: one more attempt, a
-- new fence (I4).
create or replace function {{ .schema }}.aw_start_attempt(j {{ .schema }}.jobs, p jsonb, events jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_last record;
  v_message text := {{ .schema }}.aw_message_key(p -> 'source');
  v_first boolean := j.series_started_at is null;
  -- It asks for another run: one that starts later, or that was recorded since this message began the series.
  v_other boolean := j.message is not null and (coalesce(j.run_at > clock_timestamp(), false)
    or not v_first and {{ .schema }}.aw_had_message(j, p));
  v_sent integer := 0;
begin
  if j.fingerprint = '' then -- aw_enqueue recorded it
    j.max_attempts := (p ->> 'max_attempts')::int;
  end if;
  j.attempts := j.attempts + 1;
  select * into v_last from {{ .schema }}.aw_append_events(j, events || {{ .schema }}.aw_event('started', 0,
    format('attempt %s of %s started', j.attempts, j.max_attempts), jsonb_build_object('worker', p -> 'worker')));
  update {{ .schema }}.jobs set
    status = 'running', attempts = j.attempts, max_attempts = j.max_attempts, fence = j.fence + 1,
    worker = p ->> 'worker', fingerprint = coalesce(nullif(fingerprint, ''), p ->> 'fingerprint'),
    begin_id = p ->> 'begin_id',
    lease_expires_at = clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms'), not_before = null,
    started_at = coalesce(started_at, clock_timestamp()),
    series_started_at = coalesce(series_started_at, clock_timestamp()),
    queued_at = case when v_first and (p ->> 'run_at' is not null or run_at is not null and not v_other)
      then {{ .schema }}.aw_place(coalesce(queued_at, created_at), p, case when not v_other then run_at end) else queued_at end,
    -- It arrived: no sweep needs to send it.
    sent_at = case when v_other then sent_at else coalesce(sent_at, clock_timestamp()) end,
    message = case when v_other then message end,
    message_ids = {{ .schema }}.aw_remember_message(message_ids, v_message),
    -- A redelivery is the same text: it is written once, as a row is copied with each change.
    received = case when v_first then coalesce(nullif(p ->> 'original_message', ''), received) else received end,
    event_seq = v_last.seq, progress = v_last.progress, stage = v_last.stage
  where client_id = j.client_id and id = j.id
  returning * into j;
  if v_first then
    v_sent := {{ .schema }}.aw_webhook_once(j, 'started', j.attempts, 0::bigint, null::jsonb);
  end if;
  return {{ .schema }}.aw_begin_answer('run', j, jsonb_build_object('first', v_first, 'deliveries', v_sent));
end $$;

-- aw_forces_new_series reports whether a message with hints.force starts another series of an ended job. "Force"
-- requests a run that starts after the message was sent. These messages therefore start none:
--   one that started a run already (I2, a redelivery);
--   one that was sent before the last series started (a duplicate: that run was what it requested), unless it asks for a
--   run that was to start at least a minute after that did;
--   one that was sent before the job was canceled.
-- Queues round the time of insertion down to the second. Within the same second a message restarts the job, unless
-- the job was canceled.
create or replace function {{ .schema }}.aw_forces_new_series(j {{ .schema }}.jobs, p jsonb) returns boolean
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_message_id text := nullif(p #>> '{source,message_id}', '');
  v_inserted timestamptz := (p #>> '{source,inserted_at}')::timestamptz;
begin
  if not coalesce((p ->> 'force')::boolean, false) or v_message_id is null or {{ .schema }}.aw_had_message(j, p) then
    return false;
  elsif v_inserted is null then
    return j.status <> 'canceled';
  elsif j.status = 'canceled' then
    return v_inserted > j.completed_at;
  end if;
  return greatest(v_inserted, (p ->> 'run_at')::timestamptz - interval '1 minute')
    >= date_trunc('second', coalesce(j.series_started_at, j.completed_at));
end $$;

-- aw_restart opens another series: attempts and progress start again, the former outcome goes into an event.
create or replace function {{ .schema }}.aw_restart(j {{ .schema }}.jobs, p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_was jsonb := jsonb_strip_nulls(jsonb_build_object('series', j.series, 'status', j.status, 'attempts', j.attempts,
    'completed_at', j.completed_at, 'error_class', j.error_class, 'error_code', j.error_code,
    'error_message', j.error_message)) || jsonb_build_object('result', j.result);
begin
  update {{ .schema }}.jobs set
    status = 'running', series = j.series + 1, fence = j.fence + 1, series_started_at = null,
    attempts = 0, max_attempts = (p ->> 'max_attempts')::int, progress = 0, completed_at = null, result = null,
    releases = 0, waiting_since = null, lost_worker = null, lost_before = null,
    error_class = null, error_code = null, error_message = null, error_type = null, retry_count = null,
    processing_time_ms = null, worker_id = null, retry_wait_ms = null,
    cancel_requested_at = null, cancel_requested_by = null,
    queued_at = least((p #>> '{source,inserted_at}')::timestamptz, clock_timestamp()), first_queued_at = null,
    hints = coalesce(nullif(p -> 'hints', 'null'), '{}'), priority = coalesce(nullif(p ->> 'priority', ''), priority),
    webhook_url = nullif(p ->> 'webhook_url', ''), traceparent = nullif(p ->> 'traceparent', ''),
    webhook_events = {{ .schema }}.aw_webhook_events(p), progress_webhook_at = null,
    requested_by = coalesce(nullif(p ->> 'requested_by', ''), requested_by)
  where client_id = j.client_id and id = j.id
  returning * into j;
  return {{ .schema }}.aw_start_attempt(j, p,
    jsonb_build_array({{ .schema }}.aw_event('restarted', 0, 'restarted on request', v_was)));
end $$;

-- aw_sent_after_failure reports whether a message was sent after its job failed. A redelivery was not: of a message
-- that ran, that ended the job, or that was reported before. A message that was inserted before the end counts as a
-- duplicate of the submission that failed, whose webhook its sender gets. Queues round the time of insertion down to
-- the second, so a message of the same second counts as such a duplicate as well.
create or replace function {{ .schema }}.aw_sent_after_failure(j {{ .schema }}.jobs, p jsonb) returns boolean
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_message_id text := nullif(p #>> '{source,message_id}', '');
  v_inserted timestamptz := (p #>> '{source,inserted_at}')::timestamptz;
begin
  if j.status <> 'failed' or v_message_id is null or v_inserted is null then
    return false;
  end if;
  return not {{ .schema }}.aw_had_message(j, p) and v_inserted > j.completed_at and not exists (
    select from {{ .schema }}.dead_letters d
    where d.client_id = j.client_id and d.job_id = j.id and d.series = j.series
      and coalesce(d.source_queue, '') = coalesce(p #>> '{source,queue}', '') and d.message_id = v_message_id);
end $$;

-- aw_report_duplicate reports that a message was dropped because its task has failed before: by an event, and by a
-- webhook to the message's URL. A series reports at most 20, whatever a client sends; another series costs a run, or
-- a person's retry. So events and webhooks stay few, and message_ids keeps the messages that ran (I2).
create or replace function {{ .schema }}.aw_report_duplicate(j {{ .schema }}.jobs, p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  c_most constant integer := 20;
  v_message text := {{ .schema }}.aw_message_key(p -> 'source');
  v_reported integer;
  v_last record;
begin
  select count(*) into v_reported from {{ .schema }}.job_events e -- they are the last ones of the series
  where e.client_id = j.client_id and e.job_id = j.id and e.seq > j.event_seq - c_most and e.series = j.series
    and e.stage = '' and e.metadata ? 'duplicate_message_id';
  if v_reported >= c_most then
    return '{}';
  end if;
  select * into v_last from {{ .schema }}.aw_append_events(j, jsonb_build_array({{ .schema }}.aw_event('', 0,
    format('sent again after it had failed; the message was dropped. To do the task again, send it with hints.force '
           'or under a new task_id, or run async-worker jobs retry %s', j.id)
      || case when v_reported = c_most - 1 then '. Further duplicates are not reported' else '' end,
    jsonb_build_object('duplicate_message_id', p #> '{source,message_id}'))));
  update {{ .schema }}.jobs set
    event_seq = v_last.seq, message_ids = {{ .schema }}.aw_remember_message(message_ids, v_message)
  where client_id = j.client_id and id = j.id;
  return jsonb_build_object('duplicate', true, 'deliveries', {{ .schema }}.aw_webhook(
    j.client_id, j.id, j.type, p ->> 'webhook_url', 'rejected', 1, null::jsonb,
    {{ .schema }}.aw_failure(jsonb_build_object(
      'type', 'ValidationError', 'class', 'validation_error', 'code', 'TASK_ALREADY_FAILED', 'retryable', false,
      'message', format('the task with this id has failed before (%s, %s), and this message was dropped; '
                        'to do the task again, send it with hints.force or under a new task_id',
                        j.error_class, j.error_code)),
      0, p ->> 'worker', 0::bigint)));
end $$;

-- aw_begin_new begins those jobs of p.begins that are new, and no other. Each entry is what aw_begin takes; n in an
-- answer is the entry's number, from 1. One statement inserts all of them. It does so in the order of their ids, so
-- that two callers with the same ids wait for each other in one direction only.
create or replace function {{ .schema }}.aw_begin_new(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_answers jsonb;
begin
  with requested as (
    select distinct on (m ->> 'job_id') m, n from jsonb_array_elements(p -> 'begins') with ordinality as x(m, n)
    order by m ->> 'job_id', n
  ), fresh as (
    insert into {{ .schema }}.jobs (
      client_id, id, type, status, stage, attempts, max_attempts, priority, payload, hints, requested_by, fingerprint,
      fence, lease_expires_at, worker, webhook_url, traceparent, started_at, series_started_at, message_ids, sent_at,
      event_seq, begin_id, document, webhook_events, received, queued_at)
    select v_client, m ->> 'job_id', m ->> 'type', 'running', 'started', 1, (m ->> 'max_attempts')::int,
           coalesce(nullif(m ->> 'priority', ''), 'normal'), coalesce(nullif(m -> 'payload', 'null'), '{}'),
           coalesce(nullif(m -> 'hints', 'null'), '{}'), nullif(m ->> 'requested_by', ''), m ->> 'fingerprint', 1,
           clock_timestamp() + {{ .schema }}.aw_interval(m -> 'lease_ms'), m ->> 'worker',
           nullif(m ->> 'webhook_url', ''),
           nullif(m ->> 'traceparent', ''), clock_timestamp(), clock_timestamp(),
           array_remove(array[{{ .schema }}.aw_message_key(m -> 'source')], null), clock_timestamp(), 1, m ->> 'begin_id',
           {{ .schema }}.aw_document_key(m ->> 'type', m -> 'payload'), {{ .schema }}.aw_webhook_events(m),
           nullif(m ->> 'original_message', ''),
           -- before created_at, also if the queue's clock is ahead: see aw_of_queue
           {{ .schema }}.aw_place(least((m #>> '{source,inserted_at}')::timestamptz,
             case when m #>> '{source,inserted_at}' is not null then now() - interval '1 microsecond' end), m, null::timestamptz)
    from requested order by m ->> 'job_id'
    on conflict (client_id, id) do nothing
    returning *
  ), written as (
    insert into {{ .schema }}.job_events (client_id, job_id, seq, id, stage, progress, attempt, message, metadata)
    select v_client, f.id, 1, gen_random_uuid(), 'started', 0, 1,
           format('attempt 1 of %s started', f.max_attempts), jsonb_build_object('worker', f.worker)
    from fresh f
  )
  select jsonb_agg(jsonb_build_object('n', r.n, 'decision', 'run', 'fence', f.fence, 'attempt', f.attempts,
    'max_attempts', f.max_attempts, 'progress', f.progress, 'state', f.status, 'first', true, 'deliveries',
    case when f.webhook_events is not null then {{ .schema }}.aw_webhook_once(
      f::{{ .schema }}.jobs, 'started', 1, 0::bigint, null::jsonb) else 0 end))
  into v_answers
  from fresh f join requested r on r.m ->> 'job_id' = f.id;
  return coalesce(v_answers, '[]');
end $$;

create or replace function {{ .schema }}.aw_begin(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_new jsonb;
  j {{ .schema }}.jobs;
  d {{ .schema }}.dead_letters;
  v_orphan boolean;
  v_reported jsonb;
begin
  -- Most jobs that come here are recorded already, and an insert that fails costs more than a look.
  if not exists (select from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id') then
    v_new := {{ .schema }}.aw_begin_new(
      jsonb_build_object('client_id', v_client, 'begins', jsonb_build_array(p))) -> 0;
  end if;
  if v_new is not null then
    return v_new;
  end if;

  select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for no key update;
  if j.placeholder then
    perform {{ .schema }}.aw_report_canceled(j, p);
    return {{ .schema }}.aw_begin_answer('canceled', j, '{}'::jsonb);
  elsif {{ .schema }}.aw_is_other(j, p) then -- I5
    return {{ .schema }}.aw_begin_answer('conflict', j, '{}'::jsonb);
  end if;

  if j.status in ('succeeded', 'failed', 'canceled') then
    if {{ .schema }}.aw_forces_new_series(j, p) then
      return {{ .schema }}.aw_restart(j, p);
    end if;
    -- The dead letter whose copy may still have to be sent; an earlier series' unsent one comes first (I6).
    select * into d from {{ .schema }}.dead_letters l where l.client_id = v_client and l.job_id = j.id
      and l.series is not null and (l.series = j.series or l.sent_at is null)
      order by l.sent_at nulls first, l.series limit 1;
    v_reported := case when {{ .schema }}.aw_sent_after_failure(j, p) then {{ .schema }}.aw_report_duplicate(j, p)
                       else '{}' end;
    return {{ .schema }}.aw_begin_answer(case j.status when 'canceled' then 'canceled' else 'done' end, j,
      v_reported || jsonb_build_object('dead_letter', {{ .schema }}.aw_dead_letter_ref(d)));
  elsif j.status = 'pending' and j.series_started_at is null and j.message is not null and j.run_at > clock_timestamp()
        and not coalesce((p ->> 'force')::boolean, false) -- it starts later, by the message that is recorded
        and not (p ->> 'run_at' is null and {{ .schema }}.aw_forced(j.hints)) then -- unless that asks for another run than this
    return {{ .schema }}.aw_begin_answer('done', j, '{}'::jsonb);
  elsif j.status = 'pending' and j.cancel_requested_at is null then
    return {{ .schema }}.aw_start_attempt(j, p, '[]'::jsonb);
  end if;
  -- The request that began it was never answered: nobody runs that attempt.
  v_orphan := j.lease_expires_at is not null and coalesce(p -> 'unanswered' ? j.begin_id, false);
  if j.lease_expires_at > clock_timestamp() and not v_orphan then
    return {{ .schema }}.aw_begin_answer('leased', j,
      jsonb_build_object('wait_ms', {{ .schema }}.aw_ms_until(j.lease_expires_at), 'worker', j.worker,
        'ran', {{ .schema }}.aw_had_message(j, p)));
  elsif j.lease_expires_at > clock_timestamp() - {{ .schema }}.aw_interval(p -> 'away_ms')
        and not v_orphan and j.cancel_requested_at is null then -- I9: the holder may live, and give it back or end it now
    return {{ .schema }}.aw_begin_answer('leased', j, jsonb_build_object('wait_ms', 2000, 'worker', j.worker,
      'ran', {{ .schema }}.aw_had_message(j, p)));
  end if;

  perform {{ .schema }}.aw_wait_for_staging(j);
  if j.cancel_requested_at is not null then
    perform {{ .schema }}.aw_end(j, 'canceled', null::jsonb, null::jsonb, null::jsonb, null::jsonb);
    j.status := 'canceled';
    j.completed_at := clock_timestamp();
    return {{ .schema }}.aw_begin_answer('canceled', j, '{}'::jsonb);
  elsif v_orphan then -- I9
    j.attempts := j.attempts - 1;
    if j.fence = 1 then
      j.series_started_at := null; -- no caller got the answer to the first start
    end if;
    return {{ .schema }}.aw_start_attempt(j, p, jsonb_build_array({{ .schema }}.aw_event('released', 0,
      'the begin was not answered; the attempt is not counted', null::jsonb)));
  elsif j.lease_expires_at is null then -- it waits for its next attempt
    if j.not_before > clock_timestamp() then
      return {{ .schema }}.aw_begin_answer('waiting', j,
        jsonb_build_object('wait_ms', {{ .schema }}.aw_ms_until(j.not_before)));
    end if;
    return {{ .schema }}.aw_start_attempt(j, p, '[]'::jsonb);
  end if;
  return {{ .schema }}.aw_begin_lost(j, p);
end $$;
