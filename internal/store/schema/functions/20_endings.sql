-- How a job ends, whoever ends it: row, last event, dead letter and webhook in one transaction.

-- aw_webhook_error is an error in the order of keys of DESIGN 2.4, null without one.
create or replace function {{ .schema }}.aw_webhook_error(error jsonb) returns text
language sql immutable
return case when error is not null then concat(
  '{"type":', coalesce((error -> 'type')::text, '""'),
  ',"message":', coalesce((error -> 'message')::text, '""'),
  ',"class":', coalesce((error -> 'class')::text, '""'),
  ',"code":', coalesce((error -> 'code')::text, '""'),
  ',"retryable":', coalesce((error -> 'retryable')::text, 'false'),
  ',"attempts":', coalesce((error -> 'attempts')::text, '0'), '}') end;

-- aw_webhook writes the outbox row with the exact body of DESIGN 2.4, when somebody is to be told.
-- It returns how many rows it wrote.
create or replace function {{ .schema }}.aw_webhook(
  client text, job_id text, task_type text, url text, state text, attempt integer, result jsonb, error jsonb
) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_wire text := case state when 'succeeded' then 'completed' else state end;
  v_body text;
begin
  if coalesce(url, '') = '' then
    return 0;
  end if;
  -- Put together as text and not as jsonb: the keys keep this order. concat leaves out what is null.
  v_body := concat('{"type":', to_json('task.' || v_wire),
    ',"timestamp":"', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"',
    ',"task_id":', coalesce(to_json(job_id)::text, 'null'),
    ',"task_type":', coalesce(to_json(task_type)::text, 'null'),
    ',"client_id":', to_json(client),
    ',"status":', to_json(v_wire),
    ',"attempt":', attempt,
    ',"result":' || result::text,
    ',"error":' || {{ .schema }}.aw_webhook_error(error),
    '}');
  insert into {{ .schema }}.webhook_deliveries (client_id, id, job_id, event, url, body, next_attempt_at)
  values (client, 'msg_' || replace(gen_random_uuid()::text, '-', ''), job_id, 'task.' || v_wire, url, v_body,
          clock_timestamp());
  return 1;
end $$;

-- aw_dead_letter_ref is a dead letter as the engine sees it.
create or replace function {{ .schema }}.aw_dead_letter_ref(d {{ .schema }}.dead_letters) returns jsonb
language sql stable
return case when d.id is null then null else jsonb_build_object(
    'id', d.id, 'reason', d.reason, 'error_class', d.error_class, 'error_message', d.error_message,
    'attempts', d.attempts, 'sent', d.sent_at is not null) end;

-- aw_drop_staged removes what a job has staged and not activated, and documents that never had a version. Like
-- all who touch both, it locks the documents before their versions.
create or replace function {{ .schema }}.aw_drop_staged(client text, job text) returns void
language plpgsql set search_path = {{ .path }} as $$
declare
  v_documents uuid[] := array(select v.document_id from {{ .schema }}.document_versions v
    where v.client_id = client and v.job_id = job and v.status = 'staged');
begin
  if v_documents <> '{}' then
    perform from {{ .schema }}.documents d where d.client_id = client and d.id = any (v_documents) order by d.id for update;
    delete from {{ .schema }}.document_versions v where v.client_id = client and v.job_id = job and v.status = 'staged';
    delete from {{ .schema }}.documents d where d.client_id = client and d.id = any (v_documents) and d.active_version is null
      and not exists (select from {{ .schema }}.document_versions v where v.client_id = client and v.document_id = d.id);
  end if;
end $$;

-- aw_end moves a job that the caller has locked into a terminal state.
--   result: of success. error: {type, class, code, message, retryable} of failure.
--   letter: {reason, source, original_message} of failure, for the dead letter.
-- It returns what Settled is made of.
create or replace function {{ .schema }}.aw_end(j {{ .schema }}.jobs, state text, result jsonb, error jsonb, events jsonb, letter jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_wire text := case state when 'succeeded' then 'completed' else state end;
  v_last record;
  d {{ .schema }}.dead_letters;
  v_sent integer;
begin
  select * into v_last from {{ .schema }}.aw_story(j, coalesce(nullif(events, 'null'), '[]') || {{ .schema }}.aw_event(
    v_wire,
    case state when 'succeeded' then 100 else 0 end, -- aw_story lifts it to the last value
    case state when 'failed' then error ->> 'message' when 'canceled' then 'canceled' else 'done' end,
    case state when 'failed' then jsonb_build_object('class', error -> 'class', 'code', error -> 'code', 'at_stage', j.stage) end));

  update {{ .schema }}.jobs set
    status = state, stage = v_wire, progress = v_last.progress, event_seq = v_last.seq,
    result = aw_end.result, completed_at = clock_timestamp(), checkpoint = null,
    error_class = error ->> 'class', error_code = error ->> 'code', error_message = error ->> 'message',
    lease_expires_at = null, not_before = null, message = null
  where client_id = j.client_id and id = j.id;

  if state <> 'succeeded' then
    perform {{ .schema }}.aw_drop_staged(j.client_id, j.id);
  end if;
  if state = 'failed' then
    insert into {{ .schema }}.dead_letters (client_id, job_id, series, rejected, task_type, reason, error_class, error_code,
                              error_message, attempts, original_message, source_queue, message_id)
    values (j.client_id, j.id, j.series, false, j.type, letter ->> 'reason', error ->> 'class', error ->> 'code',
            error ->> 'message', j.attempts, coalesce(letter ->> 'original_message', ''),
            letter #>> '{source,queue}', letter #>> '{source,message_id}')
    returning * into d;
  end if;
  v_sent := {{ .schema }}.aw_webhook(j.client_id, j.id, j.type, j.webhook_url, state, j.attempts, aw_end.result,
                       error || jsonb_build_object('attempts', j.attempts));
  return jsonb_build_object('state', state, 'attempts', j.attempts, 'result', aw_end.result,
                            'dead_letter', {{ .schema }}.aw_dead_letter_ref(d), 'deliveries', v_sent);
end $$;
