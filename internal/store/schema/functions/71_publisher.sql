-- The publisher of lifecycle events: one worker of a tenant at a time sends the stream of aw_feed, and dead letters, to a
-- sink. Where it is in the stream is a row of event_publishers, and so is its lease. The fence of the lease keeps a
-- publisher that lost it from moving the position:
--   AW021 another worker publishes.

-- aw_open_publisher creates the tenant's publisher if there is none yet: at the stream's end, so every event of a
-- transaction that has not ended now will be published.
create or replace function {{ .schema }}.aw_open_publisher(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  insert into {{ .schema }}.event_publishers (client_id, tx)
  values (v_client, pg_snapshot_xmin(pg_current_snapshot())) on conflict (client_id) do nothing;
  return '{}';
end $$;

-- aw_claim_publisher makes p.worker the publisher for p.lease_ms, under a new fence, unless another worker is.
--   reset: the position was of another database, from which this one was restored; it is now the stream's end.
create or replace function {{ .schema }}.aw_claim_publisher(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_reset boolean;
  e {{ .schema }}.event_publishers;
begin
  perform {{ .schema }}.aw_open_publisher(p);
  select * into strict e from {{ .schema }}.event_publishers where client_id = v_client for update;
  if e.lease_expires_at > clock_timestamp() then
    return jsonb_build_object('held', false, 'worker', e.worker,
      'wait_ms', {{ .schema }}.aw_ms_until(e.lease_expires_at));
  end if;
  v_reset := e.tx > pg_snapshot_xmax(pg_current_snapshot());
  update {{ .schema }}.event_publishers set
    fence = e.fence + 1, worker = p ->> 'worker',
    lease_expires_at = clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms'),
    tx = case when v_reset then pg_snapshot_xmin(pg_current_snapshot()) else e.tx end,
    job_id = case when v_reset then '' else e.job_id end, seq = case when v_reset then 0 else e.seq end,
    letter = case when v_reset then '' else e.letter end
  where client_id = v_client
  returning * into e;
  return jsonb_build_object('held', true, 'fence', e.fence, 'reset', v_reset, 'lost', e.lost);
end $$;

-- aw_publisher is the tenant's publisher if it is held under p.fence. It extends the lease by p.lease_ms; zero gives it
-- back. An expired lease is not a reason to refuse: if another worker had taken it, the fence would differ.
create or replace function {{ .schema }}.aw_publisher(client text, p jsonb) returns {{ .schema }}.event_publishers
language plpgsql set search_path = {{ .path }} as $$
declare
  e {{ .schema }}.event_publishers;
begin
  update {{ .schema }}.event_publishers w set
    lease_expires_at = case when (p ->> 'lease_ms')::bigint > 0
                            then clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms') end
  where w.client_id = client and w.fence = (p ->> 'fence')::bigint and w.lease_expires_at is not null
  returning * into e;
  if not found then
    raise exception 'the events are not published under fence %', p ->> 'fence' using errcode = 'AW021';
  end if;
  return e;
end $$;

-- aw_former_outcome is how an earlier series of a job ended, as the start of the next one recorded it.
create or replace function {{ .schema }}.aw_former_outcome(j {{ .schema }}.jobs, of_series integer) returns jsonb
language sql stable
return (
  select e.metadata from {{ .schema }}.job_events e
  where e.client_id = j.client_id and e.job_id = j.id and e.series = of_series + 1 and e.stage = 'restarted'
  order by e.seq limit 1);

-- aw_publish_job is what every published event of a job has of the job's row. In SQL it would be planned for each event.
create or replace function {{ .schema }}.aw_publish_job(j {{ .schema }}.jobs) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
begin
  return jsonb_build_object('job_id', j.id, 'task_type', j.type, 'owner_id', j.requested_by,
    'content_id', left({{ .schema }}.aw_payload_name(j.payload), 2048),
    'traceparent', j.traceparent, 'parent_job_id', j.parent_job_id);
end $$;

-- aw_publish_number is a number that a double precision holds, null for anything else. A custom handler's result may have
-- any number, and one that the publisher can't read would hold up all events.
create or replace function {{ .schema }}.aw_publish_number(v jsonb) returns jsonb
language sql immutable
return case when jsonb_typeof(v) = 'number' then case when abs(v::numeric) < 1e308 then v end end;

-- aw_publish_count is a whole number from 0 on that an integer holds, null for anything else. See aw_publish_number.
create or replace function {{ .schema }}.aw_publish_count(v jsonb) returns integer
language sql immutable
return case when jsonb_typeof(v) = 'number' then
  case when v::numeric between 0 and 2147483647 and v::numeric % 1 = 0 then v::integer end end;

-- aw_publish_event is an event of a job as the publisher gets it; null: it is not published. Events without a stage are
-- notes. A result of more than most bytes is left out: result_bytes tells how long it is.
create or replace function {{ .schema }}.aw_publish_event(e {{ .schema }}.job_events, most integer) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  j {{ .schema }}.jobs;
  d {{ .schema }}.dead_letters;
  v_outcome jsonb := '{}';
  v_result jsonb;
  v_bytes integer;
begin
  if e.stage in ('', 'restarted') then
    return null;
  end if;
  select * into j from {{ .schema }}.jobs where client_id = e.client_id and id = e.job_id;
  if e.stage = 'completed' then
    v_result := case when j.series = e.series then j.result
                     else {{ .schema }}.aw_former_outcome(j, e.series) -> 'result' end;
    v_bytes := octet_length(v_result::text);
    v_outcome := jsonb_build_object('result_bytes', v_bytes,
      'result', case when v_bytes <= most then v_result end,
      'derived_content_id', left(v_result ->> 'derived_content_id', 200),
      'document_id', left(v_result ->> 'document_id', 200), 'summary_id', left(v_result ->> 'summary_id', 200),
      'run_id', left(v_result ->> 'run_id', 200), 'deck_id', left(v_result ->> 'deck_id', 200),
      'page_count', {{ .schema }}.aw_publish_number(coalesce(v_result -> 'page_count', v_result -> 'pages')),
      'processing_time_ms', coalesce({{ .schema }}.aw_publish_number(v_result -> 'processing_time_ms'),
        case when j.series = e.series then to_jsonb(j.processing_time_ms) end));
  elsif e.stage = 'failed' then
    select * into d from {{ .schema }}.dead_letters l
    where l.client_id = e.client_id and l.job_id = e.job_id and l.series = e.series;
    v_outcome := jsonb_build_object('error_class', e.metadata ->> 'class', 'error_code', e.metadata ->> 'code',
      'error_message', e.message, 'retry_count', coalesce(d.retry_count, greatest(e.attempt - 1, 0)),
      'error_type', coalesce(d.error_type, {{ .schema }}.aw_error_type(e.metadata ->> 'class')),
      'processing_time_ms', coalesce(d.processing_time_ms,
        case when j.series = e.series then j.processing_time_ms end));
  end if;
  j.result := null; -- the call would read both in full, for each event of a job
  j.checkpoint := null;
  return {{ .schema }}.aw_publish_job(j) || v_outcome || jsonb_build_object(
    'kind', case when e.stage in ('started', 'completed', 'failed', 'canceled') then e.stage else 'progress' end,
    'id', e.id, 'at', e.at, 'stage', e.stage, 'progress', e.progress, 'attempt', e.attempt,
    'message', left(e.message, 2000),
    'pages_completed', {{ .schema }}.aw_publish_count(e.metadata -> 'pages_completed'),
    'total_pages', {{ .schema }}.aw_publish_count(e.metadata -> 'total_pages'),
    'worker', coalesce(
      case when j.series = e.series and j.attempts = e.attempt then j.worker end,
      -- An earlier attempt's. A job may have very many events, so its start is not looked for any further.
      (select s.metadata ->> 'worker' from {{ .schema }}.job_events s
       where s.client_id = e.client_id and s.job_id = e.job_id and s.seq between e.seq - 1000 and e.seq
         and s.stage = 'started'
       order by s.seq desc limit 1), d.worker_id, j.worker));
end $$;

-- aw_publish_letter is a dead letter as the publisher gets it.
create or replace function {{ .schema }}.aw_publish_letter(d {{ .schema }}.dead_letters) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = d.client_id and id = d.job_id;
  return case when j.id is null or d.series is null then '{}' else {{ .schema }}.aw_publish_job(j) end
    || jsonb_build_object('kind', 'dlq', 'id', d.id, 'at', d.created_at, 'job_id', d.job_id, 'task_type', d.task_type,
      'reason', d.reason, 'attempt', d.attempts, 'worker', d.worker_id, 'source_queue', d.source_queue,
      'error_class', d.error_class, 'error_code', d.error_code, 'error_message', d.error_message,
      'error_type', coalesce(d.error_type, {{ .schema }}.aw_error_type(d.error_class)),
      'retry_count', coalesce(d.retry_count, greatest(d.attempts - 1, 0)), 'processing_time_ms', d.processing_time_ms,
      'original_message', d.original_message);
end $$;

-- aw_outgoing returns what comes after the publisher's position, in the order (tx, job_id, seq, letter). A dead letter
-- comes after the events of its job and transaction: seq is the largest bigint, letter its id. Source: 81_feed.sql.
--   p.fence, p.lease_ms: see aw_publisher. p.limit: how many rows are read at most, 1-1000.
--   p.max_bytes: of the answer's events; there is always one. p.max_result_bytes: see aw_publish_event.
-- It returns
--   events: at most p.limit, each with its position. next: that after them, null if there was nothing. more: there may be further ones.
--   held: further events wait for an open transaction.
create or replace function {{ .schema }}.aw_outgoing(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_limit integer := least(greatest(coalesce((p ->> 'limit')::int, 100), 1), 1000);
  v_left bigint := (p ->> 'max_bytes')::bigint;
  v_most integer := (p ->> 'max_result_bytes')::int;
  c_last constant bigint := 9223372036854775807;
  w {{ .schema }}.event_publishers := {{ .schema }}.aw_publisher(v_client, p);
  v_end xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_events jsonb[] := '{}';
  v_next jsonb;
  v_rows integer := 0;
  v_one jsonb;
  v_more boolean := false;
  r record;
begin
  for r in
    select u.tx, u.job, u.seq, u.letter, u.e, u.d from (
      (select e.tx, e.job_id collate "C" as job, e.seq, ''::text collate "C" as letter, e, null::{{ .schema }}.dead_letters as d
       from {{ .schema }}.job_events e
       where e.client_id = v_client and e.tx is not null and e.tx < v_end
         and (e.tx, e.job_id collate "C", e.seq) > (w.tx, w.job_id collate "C", w.seq)
       order by e.tx, e.job_id collate "C", e.seq limit v_limit)
      union all
      (select l.tx, coalesce(l.job_id, '') collate "C", c_last, l.id::text collate "C", null::{{ .schema }}.job_events, l
       from {{ .schema }}.dead_letters l
       where l.client_id = v_client and l.tx is not null and l.tx < v_end and l.tx >= w.tx
         and (l.tx, coalesce(l.job_id, '') collate "C", c_last, l.id::text collate "C")
             > (w.tx, w.job_id collate "C", w.seq, w.letter collate "C")
       order by l.tx, coalesce(l.job_id, '') collate "C", l.id::text collate "C" limit v_limit)) u
    order by 1, 2, 3, 4 limit v_limit
  loop
    v_one := case when r.letter = '' then {{ .schema }}.aw_publish_event(r.e, v_most)
                  else {{ .schema }}.aw_publish_letter(r.d) end;
    v_left := v_left - coalesce(octet_length(v_one::text), 0);
    if v_left < 0 and v_events <> '{}' then
      v_more := true;
      exit;
    end if;
    v_rows := v_rows + 1;
    v_next := jsonb_build_object('tx', r.tx::text, 'job_id', r.job, 'seq', r.seq, 'letter', r.letter);
    if v_one is not null then
      v_events := v_events || (v_one || jsonb_build_object('position', v_next));
    end if;
  end loop;
  return jsonb_build_object('events', to_jsonb(v_events), 'next', v_next, 'more', v_more or v_rows = v_limit,
    'held', exists (select from {{ .schema }}.job_events e
                    where e.client_id = v_client and e.tx is not null and e.tx >= v_end)
         or exists (select from {{ .schema }}.dead_letters l
                    where l.client_id = v_client and l.tx is not null and l.tx >= v_end));
end $$;

-- aw_published records that everything up to p.next was published: p.published events, of which the sink did not take
-- p.refused. p.next null: only the lease is extended. The position never goes back.
create or replace function {{ .schema }}.aw_published(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  w {{ .schema }}.event_publishers := {{ .schema }}.aw_publisher(v_client, p);
  n jsonb := nullif(p -> 'next', 'null');
begin
  if n is null then
    return '{}';
  end if;
  if ((n ->> 'tx')::xid8, (n ->> 'job_id') collate "C", (n ->> 'seq')::bigint, (n ->> 'letter') collate "C")
     < (w.tx, w.job_id collate "C", w.seq, w.letter collate "C") then
    raise exception 'the position of the published events would go back' using errcode = 'AW011';
  end if;
  update {{ .schema }}.event_publishers set
    tx = (n ->> 'tx')::xid8, job_id = n ->> 'job_id', seq = (n ->> 'seq')::bigint, letter = n ->> 'letter',
    published = w.published + coalesce((p ->> 'published')::int, 0),
    refused = w.refused + coalesce((p ->> 'refused')::int, 0), published_at = clock_timestamp()
  where client_id = v_client;
  return '{}';
end $$;

-- aw_publisher_state is the publisher for metrics and people: how many rows of the stream come after its position,
-- counted up to 10001, and the age of the first. Rows that are not published count, too.
create or replace function {{ .schema }}.aw_publisher_state(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  c_last constant bigint := 9223372036854775807; -- see aw_outgoing
  w {{ .schema }}.event_publishers;
  v_behind integer;
  v_oldest timestamptz;
begin
  select * into w from {{ .schema }}.event_publishers where client_id = v_client;
  if not found then
    return jsonb_build_object('exists', false);
  end if;
  select least(count(*), 10001), min(x.at) into v_behind, v_oldest from (
    (select e.at from {{ .schema }}.job_events e
     where e.client_id = v_client and e.tx is not null
       and (e.tx, e.job_id collate "C", e.seq) > (w.tx, w.job_id collate "C", w.seq)
     order by e.tx, e.job_id collate "C", e.seq limit 10001)
    union all
    (select l.created_at from {{ .schema }}.dead_letters l
     where l.client_id = v_client and l.tx is not null and l.tx >= w.tx
       and (l.tx, coalesce(l.job_id, '') collate "C", c_last, l.id::text collate "C")
           > (w.tx, w.job_id collate "C", w.seq, w.letter collate "C")
     order by l.tx limit 10001)) x;
  return jsonb_build_object('exists', true, 'held', coalesce(w.lease_expires_at > clock_timestamp(), false),
    'worker', w.worker, 'published', w.published, 'refused', w.refused, 'lost', w.lost,
    'published_at', w.published_at, 'behind', v_behind,
    'oldest_ms', coalesce(floor(extract(epoch from clock_timestamp() - v_oldest) * 1000)::bigint, 0));
end $$;
