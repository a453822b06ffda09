-- What comes from outside an attempt: submissions, cancel requests, rejected messages.

-- aw_expect_room refuses (AW032) to record another run of a job whose row has one that waits already: it has room for the
-- message of one. Two that may start at once are one run, which starts after both were asked for. The row of a job that was
-- not begun has its first run; one that starts later waits until that has begun. A run whose message was sent, and is not in
-- the row any more, is known by its time.
create or replace function {{ .schema }}.aw_expect_room(j {{ .schema }}.jobs, message text, at timestamptz) returns void
language plpgsql set search_path = {{ .path }} as $$
begin
  if j.message is not null and j.sent_at is null and (at is not null or j.run_at > clock_timestamp())
       and (j.message, j.run_at) is distinct from (message, at)
     or at is not null and j.status = 'pending' and j.series_started_at is null and j.run_at is distinct from at then
    raise exception 'another run of job % waits', j.id using errcode = 'AW032';
  end if;
end $$;

-- aw_submit records a job with its message before the message is sent, so that a sweep can send it again (I1); one with
-- p.send_at is sent by a sweep only, at that time. hints.force with it records the message of a job that was begun, too: it
-- starts another series then.
create or replace function {{ .schema }}.aw_submit(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  j {{ .schema }}.jobs;
begin
  insert into {{ .schema }}.jobs (
    client_id, id, type, max_attempts, priority, payload, hints, requested_by, fingerprint, webhook_url, traceparent,
    queue, message, document, webhook_events, run_at)
  values (v_client, p ->> 'job_id', p ->> 'type', (p ->> 'max_attempts')::int,
          coalesce(nullif(p ->> 'priority', ''), 'normal'), coalesce(nullif(p -> 'payload', 'null'), '{}'),
          coalesce(nullif(p -> 'hints', 'null'), '{}'), nullif(p ->> 'requested_by', ''), p ->> 'fingerprint',
          nullif(p ->> 'webhook_url', ''), nullif(p ->> 'traceparent', ''), p ->> 'queue', p ->> 'message',
          {{ .schema }}.aw_document_key(p ->> 'type', p -> 'payload'), {{ .schema }}.aw_webhook_events(p),
          (p ->> 'send_at')::timestamptz)
  on conflict (client_id, id) do nothing
  returning * into j;
  if found then
    return jsonb_build_object('created', true, 'state', j.status, 'sent', false);
  end if;
  select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id';
  if j.placeholder then
    perform {{ .schema }}.aw_report_canceled(j, p);
  elsif {{ .schema }}.aw_is_other(j, p) then -- I5
    raise exception 'job % has another type or payload', j.id using errcode = 'AW003';
  elsif p ->> 'send_at' is not null and {{ .schema }}.aw_forced(p -> 'hints') then
    select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = j.id for no key update;
    perform {{ .schema }}.aw_expect_room(j, p ->> 'message', (p ->> 'send_at')::timestamptz);
    update {{ .schema }}.jobs
    set queue = p ->> 'queue', message = p ->> 'message', sent_at = null, run_at = (p ->> 'send_at')::timestamptz
    where client_id = v_client and id = j.id and (status <> 'pending' or series_started_at is not null);
    return jsonb_build_object('created', false, 'state', j.status, 'sent', false);
  end if;
  return jsonb_build_object('created', false, 'state', j.status,
    'sent', j.status <> 'pending' or j.series_started_at is not null or j.queue is null or j.sent_at is not null
      or p ->> 'send_at' is null and coalesce(j.run_at > clock_timestamp(), false)); -- a sweep sends it then
end $$;

-- aw_mark_sent records that a job's message was sent, and removes it from the row; p.digest is the SHA-256 of its text, in
-- hex. Another one that was recorded meanwhile stays, and so does one that is to be sent later.
create or replace function {{ .schema }}.aw_mark_sent(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  update {{ .schema }}.jobs set sent_at = coalesce(sent_at, clock_timestamp()), message = null
  where client_id = v_client and id = p ->> 'job_id' and (message is null or not coalesce(run_at > clock_timestamp(), false)
    and p ->> 'digest' is not distinct from
        case when p ? 'digest' then encode(sha256(convert_to(message, 'UTF8')), 'hex') end);
  if not found and not exists (select from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id') then
    raise exception 'there is no job %', p ->> 'job_id' using errcode = 'AW002';
  end if;
  return '{}';
end $$;

-- aw_request_cancel cancels a job that nobody works on at once, and requests that a running one stops. An unknown id
-- gets a canceled row, so that its message is dropped when it comes. Of an ended job that starts again later the message for
-- that is dropped, and so is one that waits for its queue: after two minutes, as before it may just be on its way. AW005 if
-- there is none.
create or replace function {{ .schema }}.aw_request_cancel(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_by text := coalesce(nullif(p ->> 'by', ''), 'somebody');
  v_last record;
  j {{ .schema }}.jobs;
begin
  insert into {{ .schema }}.jobs (client_id, id, type, status, stage, placeholder, completed_at, cancel_requested_at,
                    cancel_requested_by, event_seq)
  values (v_client, p ->> 'job_id', '', 'canceled', 'canceled', true, clock_timestamp(), clock_timestamp(), v_by, 1)
  on conflict (client_id, id) do nothing
  returning * into j;
  if found then
    insert into {{ .schema }}.job_events (client_id, job_id, seq, id, stage, progress, attempt, message)
    values (v_client, j.id, 1, gen_random_uuid(), 'canceled', 0, 0,
            'canceled by ' || v_by || ' before its message came');
    return {{ .schema }}.aw_job_json(j);
  end if;

  select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for no key update;
  if j.status in ('succeeded', 'failed', 'canceled') then
    if j.message is null or j.sent_at is not null
       or clock_timestamp() between coalesce(j.run_at, '-infinity') and greatest(j.run_at, j.updated_at) + interval '2 minutes' then
      raise exception 'job % is already %', j.id, j.status using errcode = 'AW005';
    end if;
    select * into v_last from {{ .schema }}.aw_append_events(j,
      jsonb_build_array({{ .schema }}.aw_event('', 0, 'its next run was canceled by ' || v_by, null::jsonb)));
    update {{ .schema }}.jobs
    set message = null, sent_at = clock_timestamp(), run_at = null, event_seq = v_last.seq
    where client_id = v_client and id = j.id
    returning * into j;
    return {{ .schema }}.aw_job_json(j);
  end if;
  if j.cancel_requested_at is null then
    select * into v_last from {{ .schema }}.aw_append_events(j,
      jsonb_build_array({{ .schema }}.aw_event('', 0, 'cancel requested by ' || v_by, null::jsonb)));
    update {{ .schema }}.jobs
    set cancel_requested_at = clock_timestamp(), cancel_requested_by = v_by, event_seq = v_last.seq
    where client_id = v_client and id = j.id
    returning * into j;
  end if;
  if j.status = 'pending' or coalesce(j.lease_expires_at, '-infinity') <= clock_timestamp() then
    perform {{ .schema }}.aw_wait_for_staging(j);
    perform {{ .schema }}.aw_end(j, 'canceled', null::jsonb, null::jsonb, null::jsonb, null::jsonb);
    select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = j.id;
  end if;
  return {{ .schema }}.aw_job_json(j);
end $$;

-- aw_canceling returns those of the attempts (job_id, fence) whose jobs are to be canceled. A worker calls it twice a
-- second for all that it runs, so each attempt must cost one lookup in the primary key. The limit and the column
-- job_id ensure that: behind row-level security an expression in its place could not use the index.
create or replace function {{ .schema }}.aw_canceling(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('job_id', a.job_id, 'fence', a.fence))
    from jsonb_to_recordset(p -> 'attempts') as a(job_id text, fence bigint)
    where (select j.cancel_requested_at is not null and j.fence = a.fence
           from {{ .schema }}.jobs j where j.id = a.job_id and j.client_id = v_client limit 1)), '[]');
end $$;

-- aw_is_own_message reports whether a rejected message is the one that the job was recorded with, before it was sent. No
-- message comes before its time, and its own one says what the row says. Of a job that was queued again (series) the row may
-- say another thing, and aw_enqueue (no fingerprint) records what the worker may be unable to read, such as an address.
-- Texts can't be compared: copies have an identity in theirs, see message.Identified.
create or replace function {{ .schema }}.aw_is_own_message(j {{ .schema }}.jobs, p jsonb) returns boolean
language sql
return j.status = 'pending' and j.queue is not null and j.series_started_at is null
  and j.type is not distinct from p ->> 'type' and j.payload is not distinct from p -> 'payload'
  and coalesce(j.run_at <= clock_timestamp(), true)
  and (j.fingerprint = '' or j.series > 1
    or (j.webhook_url, j.requested_by)
      is not distinct from (nullif(p ->> 'webhook_url', ''), nullif(p ->> 'requested_by', '')));

-- aw_record_rejected_job records the job of a rejected message as failed: in a new row, or in the row that was
-- recorded before this very message was sent. Any other row of that id stays as it is. It returns the series that it
-- ended, null if it ended none.
create or replace function {{ .schema }}.aw_record_rejected_job(v_client text, p jsonb) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_error jsonb := p -> 'error';
  v_last record;
  j {{ .schema }}.jobs;
begin
  insert into {{ .schema }}.jobs (client_id, id, type, payload, requested_by, webhook_url, sent_at)
  values (v_client, p ->> 'job_id', coalesce(p ->> 'type', ''), coalesce(nullif(p -> 'payload', 'null'), '{}'),
          nullif(p ->> 'requested_by', ''), nullif(p ->> 'webhook_url', ''), clock_timestamp())
  on conflict (client_id, id) do nothing
  returning * into j;
  if not found then
    select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for update;
    if not {{ .schema }}.aw_is_own_message(j, p) then
      return null;
    end if;
  end if;
  select * into v_last from {{ .schema }}.aw_append_events(j, jsonb_build_array({{ .schema }}.aw_event(
    'failed', 0, v_error ->> 'message', jsonb_build_object('class', v_error -> 'class', 'code', v_error -> 'code'))));
  update {{ .schema }}.jobs set
    status = 'failed', stage = 'failed', event_seq = v_last.seq, completed_at = clock_timestamp(), message = null,
    run_at = case when message is null then run_at end,
    error_class = v_error ->> 'class', error_code = v_error ->> 'code', error_message = v_error ->> 'message',
    error_type = v_error ->> 'error_type', retry_count = 0, processing_time_ms = 0,
    worker_id = nullif(p ->> 'worker', '')
  where client_id = v_client and id = j.id;
  return j.series;
end $$;

-- aw_rejection_state is how a rejected message ended:
--   failed: so did the job, whose row records the message;
--   canceled: the job was canceled before the message came;
--   rejected: the id belongs to another task, which the message doesn't change.
create or replace function {{ .schema }}.aw_rejection_state(j {{ .schema }}.jobs, p jsonb) returns text
language sql immutable
return case
  when j.placeholder then 'canceled'
  when p ->> 'reason' = 'conflict' then 'rejected'
  when j.id is null then 'failed'
  when j.status = 'failed' and j.series_started_at is null and j.type = coalesce(p ->> 'type', '')
       and j.payload = coalesce(nullif(p -> 'payload', 'null'), '{}') then 'failed'
  else 'rejected' end;

-- aw_message_of is the identity of a rejected message on its queue. A queue that is made again, or is another service's,
-- may count from 1 again: a message that came five minutes after the letter of that number, which is
-- more than clocks differ, is another one.
create or replace function {{ .schema }}.aw_message_of(client text, source jsonb) returns text
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_id text := nullif(source ->> 'message_id', '');
  v_inserted timestamptz := (source ->> 'inserted_at')::timestamptz;
begin
  if exists (select from {{ .schema }}.dead_letters l
             where l.client_id = client and l.rejected and coalesce(l.source_queue, '') = coalesce(source ->> 'queue', '')
               and l.message_id = v_id and l.created_at < v_inserted - interval '5 minutes') then
    return v_id || to_char(v_inserted at time zone 'utc', '"@"YYYYMMDDHH24MISSUS');
  end if;
  return v_id;
end $$;

-- aw_reject records a message that can't become a job, once per message (I6).
create or replace function {{ .schema }}.aw_reject(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_job text := nullif(p ->> 'job_id', '');
  v_error jsonb := {{ .schema }}.aw_failure(p -> 'error', 0, p ->> 'worker', 0::bigint);
  v_message text := {{ .schema }}.aw_message_of(v_client, p -> 'source');
  v_state text;
  v_sent integer;
  d {{ .schema }}.dead_letters;
  j {{ .schema }}.jobs;
begin
  insert into {{ .schema }}.dead_letters (
    client_id, job_id, rejected, task_type, reason, error_class, error_code, error_message, attempts, original_message,
    source_queue, message_id, error_type, retry_count, processing_time_ms, worker_id)
  values (v_client, v_job, true, nullif(p ->> 'type', ''), p ->> 'reason', v_error ->> 'class', v_error ->> 'code',
          v_error ->> 'message', 0, coalesce(p ->> 'original_message', ''),
          nullif(p #>> '{source,queue}', ''), v_message,
          v_error ->> 'error_type', 0, 0, nullif(p ->> 'worker', ''))
  on conflict (client_id, coalesce(source_queue, ''), message_id) where rejected and message_id is not null do nothing
  returning * into d;
  if not found then
    select * into strict d from {{ .schema }}.dead_letters l
      where l.client_id = v_client and l.rejected
        and coalesce(l.source_queue, '') = coalesce(p #>> '{source,queue}', '')
        and l.message_id = v_message;
    return jsonb_build_object('state', case d.reason when 'conflict' then 'rejected' else 'failed' end, 'attempts', 0,
                              'dead_letter', {{ .schema }}.aw_dead_letter_ref(d), 'deliveries', 0);
  end if;

  if v_job is not null and coalesce((p ->> 'record')::boolean, false) then
    update {{ .schema }}.dead_letters
    set series = {{ .schema }}.aw_record_rejected_job(v_client, p || jsonb_build_object('error', v_error))
    where client_id = v_client and id = d.id;
    -- It comes after the job's events in the stream, and so does its time.
    update {{ .schema }}.dead_letters l set tx = greatest(l.tx, e.tx), created_at = greatest(l.created_at, e.at)
    from (select o.tx, o.at from {{ .schema }}.job_events o where o.client_id = v_client and o.job_id = v_job
          order by o.seq desc limit 1) e
    where l.client_id = v_client and l.id = d.id;
  end if;
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = v_job;
  v_state := {{ .schema }}.aw_rejection_state(j, p);
  if v_state = 'canceled' then
    v_sent := {{ .schema }}.aw_report_canceled(j, p);
  else
    v_sent := {{ .schema }}.aw_webhook(v_client, v_job, nullif(p ->> 'type', ''), p ->> 'webhook_url', v_state, 1,
      null::jsonb, case v_state when 'rejected' then v_error || '{"code": "TASK_ID_CONFLICT"}' else v_error end);
  end if;
  return jsonb_build_object('state', v_state, 'attempts', 0, 'dead_letter', {{ .schema }}.aw_dead_letter_ref(d),
                            'deliveries', v_sent);
end $$;

-- aw_dead_letter_sent records that a dead letter's copy is on the dead-letter queue.
create or replace function {{ .schema }}.aw_dead_letter_sent(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  update {{ .schema }}.dead_letters set sent_at = coalesce(sent_at, clock_timestamp())
  where client_id = v_client and id = (p ->> 'id')::uuid;
  if not found then
    raise exception 'there is no dead letter %', p ->> 'id' using errcode = 'AW002';
  end if;
  return '{}';
end $$;
