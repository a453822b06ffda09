-- What all functions have in common. Every aw_ function that the worker calls takes one jsonb p with client_id in it,
-- returns jsonb, and is one transaction; 95_rights.sql makes it security definer. No other function can be called from
-- outside. Functions in SQL are there to be inlined: a call of one that is not is planned each time, which takes longer
-- than most statements. Postgres inlines none that has a subquery, that uses an argument twice which is costly or
-- volatile, or whose body is more volatile than it is declared; a test has what a task calls.
-- Errors have our own SQLSTATEs, which store/rpc turns into its sentinels:
--   AW001 fenced                   AW002 not found              AW003 conflict
--   AW004 forbidden                AW005 the job has ended      AW006 malformed call
--   AW007 busy (message is JSON)   AW008 chunks are missing     AW010 illegal transition (a guard's)
--   AW011 fence or progress would fall (a guard's)              AW012 replayed already
--   AW013 no attempt is left       AW014 the job has not failed
--   AW015 the delivery can't be sent again                      AW016 the delivery was delivered
--   AW017 the idempotency key was used for another request         AW018 there is no such queue
--   AW019 the message is too large
--   AW021 another worker publishes the events
--   AW030 the work for Cognee is not held under this fence
--   AW028 the deck was recorded before                          AW031 the question has too many operators
--   AW032 another run of the job waits                          AW033 too many jobs wait for their time

-- aw_tenant is the tenant of a call. It refuses a session that is bound to another tenant, and one that is bound to
-- none without the right to act for every tenant (I10).
create or replace function {{ .schema }}.aw_tenant(p jsonb) returns text
language plpgsql volatile set search_path = {{ .path }} as $$
declare
  requested text := p ->> 'client_id';
  bound text := {{ .schema }}.aw_bound();
begin
  if requested is null then
    raise exception 'client_id is missing' using errcode = 'AW006';
  end if;
  if bound <> requested then
    raise exception 'this key belongs to client % and not to %', bound, requested using errcode = 'AW004';
  elsif bound is null then
    if not {{ .schema }}.aw_unbound() then
      raise exception 'this key names no client: it needs the claim client_id' using errcode = 'AW004';
    end if;
    perform set_config('app.asked_client', requested, true);
  end if;
  return requested;
end $$;

-- aw_holding returns the job j (null: it doesn't exist) if the caller holds it, and else refuses (I4). An expired
-- lease is not a reason to refuse: if another worker had taken the job, the fence would differ.
create or replace function {{ .schema }}.aw_holding(j {{ .schema }}.jobs, p jsonb) returns {{ .schema }}.jobs
language plpgsql set search_path = {{ .path }} as $$
begin
  if j.id is null or j.status <> 'running' or j.lease_expires_at is null
     or j.fence is distinct from (p ->> 'fence')::bigint then
    raise exception 'job % is not held under fence %', p ->> 'job_id', p ->> 'fence' using errcode = 'AW001';
  end if;
  return j;
end $$;

-- aw_lock_held_job locks the job that the caller holds, to end it or to change its fence.
create or replace function {{ .schema }}.aw_lock_held_job(p jsonb) returns {{ .schema }}.jobs
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for update;
  return {{ .schema }}.aw_holding(j, p);
end $$;

-- aw_lock_for_heartbeat is aw_lock_held_job for a heartbeat, which changes neither state nor fence. It doesn't wait
-- for writers of staged work: they overlap, so a lock that excludes them might never be granted, and a live worker
-- would lose its lease.
create or replace function {{ .schema }}.aw_lock_for_heartbeat(p jsonb) returns {{ .schema }}.jobs
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for no key update;
  return {{ .schema }}.aw_holding(j, p);
end $$;

-- aw_lock_for_staging is aw_lock_held_job for writers of staged work. Several of them and a heartbeat may hold it at
-- once; a new fence or the end of the job (for update) waits for all of them.
create or replace function {{ .schema }}.aw_lock_for_staging(p jsonb) returns {{ .schema }}.jobs
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for key share;
  return {{ .schema }}.aw_holding(j, p);
end $$;

-- aw_wait_for_staging waits until nobody writes staged work of a job that the caller has locked for no key update.
-- Call it before the end or a new fence of a job that may still have a holder.
create or replace function {{ .schema }}.aw_wait_for_staging(j {{ .schema }}.jobs) returns void
language plpgsql set search_path = {{ .path }} as $$
begin
  perform from {{ .schema }}.jobs where client_id = j.client_id and id = j.id for update;
end $$;

-- aw_document_key identifies the document that a job works on, as far as jobs of one document must not work at once: a
-- hash, null for other types. A part of jobs' columns. An empty text or a null is no name, as in aw_payload_name.
create or replace function {{ .schema }}.aw_document_key(type text, payload jsonb) returns text
language sql stable -- as jsonb_build_array is: else it would not be inlined
return case when type in ('ingest', 'convert', 'export') then md5(jsonb_build_array(
    type, payload -> 'document_set', nullif(payload ->> 'deck_id', ''),
    coalesce(nullif(payload ->> 'filename', ''), nullif(payload ->> 'blob', ''),
      case when payload ->> 'source_uri' like 'blob:%' then substr(payload ->> 'source_uri', 6)
           else nullif(payload ->> 'source_uri', '') end,
      payload ->> 'prefix'))::text) end;

-- aw_forced reports whether hints ask for another run of a job, in each form that the worker's decoder takes for true.
create or replace function {{ .schema }}.aw_forced(hints jsonb) returns boolean
language sql immutable
return coalesce(lower(btrim(hints ->> 'force')) in ('true', 't', '1'), false);

-- aw_elements are the elements of a JSON array and their numbers, from 1. A session keeps the plan of a statement that it
-- made while the tables were small, and would read a whole table for a batch. With "rows 1", and "offset 0" around each
-- look by an id, it looks up the rows one by one.
create or replace function {{ .schema }}.aw_elements(list jsonb) returns table (m jsonb, n bigint)
language sql immutable rows 1 set search_path = {{ .path }} as $$
  select * from jsonb_array_elements(list) with ordinality
$$;

-- aw_interval is a number of milliseconds as an interval.
create or replace function {{ .schema }}.aw_interval(ms jsonb) returns interval
language sql immutable
return make_interval(secs => (ms #>> '{}')::double precision / 1000);

-- aw_ms_until is the number of milliseconds until t, at least 1: zero would mean no wait.
create or replace function {{ .schema }}.aw_ms_until(t timestamptz) returns bigint
language sql volatile
return greatest(1, ceil(extract(epoch from t - clock_timestamp()) * 1000))::bigint;

-- aw_event makes an event of the store itself, in the form in which the worker sends its events.
create or replace function {{ .schema }}.aw_event(
  stage text, progress integer, message text, metadata jsonb default null
) returns jsonb
language sql volatile
return jsonb_build_object('id', gen_random_uuid(), 'at', clock_timestamp(), 'stage', stage,
                            'progress', progress, 'message', message, 'metadata', metadata);

-- aw_append_events appends events to a job that the caller has locked (I8): it numbers them without gaps, lets neither
-- progress nor time go back, and skips an id that exists already. It returns the new values of the job's row.
-- An event's tx is never below that of the job's event before it: a transaction that began earlier may have waited for
-- this job, and the stream (aw_feed) has a job's events in order. Both transactions have ended when tx is older than
-- each one still open.
create or replace function {{ .schema }}.aw_append_events(
  j {{ .schema }}.jobs, events jsonb, out seq bigint, out progress integer, out stage text)
language plpgsql set search_path = {{ .path }} as $$
declare
  e jsonb;
  v_progress integer;
  v_last timestamptz;
  v_tx xid8;
  v_at timestamptz;
begin
  seq := j.event_seq;
  progress := j.progress;
  stage := j.stage;
  if events is null or jsonb_typeof(events) <> 'array' then
    return;
  end if;
  select o.at, o.tx into v_last, v_tx from {{ .schema }}.job_events o
    where o.job_id = j.id and o.client_id = j.client_id and o.seq = j.event_seq;
  v_tx := greatest(v_tx, pg_current_xact_id());
  -- One by one: they are few, and a single statement for all of them takes longer to plan than to execute.
  for e in select * from jsonb_array_elements(events) loop
    v_progress := greatest(progress, least(greatest((e ->> 'progress')::int, 0), 100));
    -- By the database's clock alone: a worker sends how long ago it was. The previous version sends the time by the
    -- worker's clock.
    v_at := greatest(v_last, least(clock_timestamp(),
      case when e ? 'ago_ms' then clock_timestamp() - {{ .schema }}.aw_interval(e -> 'ago_ms')
           else (e ->> 'at')::timestamptz end));
    insert into {{ .schema }}.job_events as o (
      client_id, job_id, seq, id, series, at, stage, progress, attempt, message, metadata, tx)
    values (j.client_id, j.id, aw_append_events.seq + 1, (e ->> 'id')::uuid, j.series,
            v_at, coalesce(e ->> 'stage', ''), v_progress, j.attempts,
            coalesce(e ->> 'message', ''), nullif(e -> 'metadata', 'null'), v_tx)
    on conflict on constraint job_events_id_client_id_key do nothing;
    if found then
      seq := seq + 1;
      progress := v_progress;
      v_last := v_at;
      stage := coalesce(nullif(e ->> 'stage', ''), stage);
    end if;
  end loop;
end $$;
