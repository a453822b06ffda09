-- aw_complete_all completes many jobs at once.

-- aw_end_all completes the jobs of p.completions, which the caller has locked and may end, each once, and that have
-- nothing but a result and events: as aw_end does, with one statement for all of them. n in an answer is the entry's
-- field n.
create or replace function {{ .schema }}.aw_end_all(v_client text, completions jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_answers jsonb;
begin
  with requested as materialized ( -- row-level security keeps an index from an expression that is not leakproof
    select m ->> 'job_id' as job_id, (m ->> 'n')::int as n, coalesce(nullif(m -> 'result', 'null'), '{}') as result,
           coalesce(nullif(m -> 'events', 'null'), '[]') as events
    from {{ .schema }}.aw_elements(completions)
  ), ending as materialized (
    select r.*, j.row as was, j.place, o.at, o.tx,
           case when r.result -> 'processing_time_ms' is null then {{ .schema }}.aw_attempt_ms(j.row) end as took
    from requested r
    cross join lateral (
      select x as row, x.ctid as place from {{ .schema }}.jobs x
      where x.client_id = v_client and x.id = r.job_id offset 0) j
    left join lateral (
      select e.at, e.tx from {{ .schema }}.job_events e
      where e.client_id = v_client and e.job_id = r.job_id and e.seq = (j.row).event_seq offset 0) o on true
  ), listed as materialized (
    select e.job_id, x.event, x.i, (x.event ->> 'id')::uuid as id
    from ending e cross join lateral jsonb_array_elements(
      e.events || {{ .schema }}.aw_event('completed', 100, 'done', null::jsonb))
      with ordinality as x(event, i)
  ), fresh as materialized ( -- an id that exists is skipped, as in aw_append_events
    select distinct on (l.id) l.* from listed l
    left join lateral (
      select true as there from {{ .schema }}.job_events e where e.client_id = v_client and e.id = l.id offset 0) e on true
    where e.there is null order by l.id, l.job_id, l.i
  ), written as (
    -- I8: numbers without gaps; neither progress nor time goes back; tx as in aw_append_events.
    insert into {{ .schema }}.job_events (
      client_id, job_id, seq, id, series, at, stage, progress, attempt, message, metadata, tx)
    select v_client, f.job_id, (e.was).event_seq + row_number() over so_far, f.id, (e.was).series,
           greatest(e.at, max(least(clock_timestamp(),
             case when f.event ? 'ago_ms' then clock_timestamp() - {{ .schema }}.aw_interval(f.event -> 'ago_ms')
                  else (f.event ->> 'at')::timestamptz end)) over so_far),
           coalesce(f.event ->> 'stage', ''),
           greatest((e.was).progress, max(least(greatest((f.event ->> 'progress')::int, 0), 100)) over so_far),
           (e.was).attempts, coalesce(f.event ->> 'message', ''), nullif(f.event -> 'metadata', 'null'),
           greatest(e.tx, pg_current_xact_id())
    from fresh f join ending e on e.job_id = f.job_id
    window so_far as (partition by f.job_id order by f.i)
  ), ended as (
    update {{ .schema }}.jobs u set
      status = 'succeeded', stage = 'completed', progress = 100,
      event_seq = u.event_seq + (select count(*) from fresh f where f.job_id = e.job_id),
      result = e.result, completed_at = clock_timestamp(), checkpoint = null,
      error_class = null, error_code = null, error_message = null, error_type = null,
      retry_count = greatest(u.attempts - 1, 0), worker_id = u.worker,
      processing_time_ms = case when jsonb_typeof(e.result -> 'processing_time_ms') = 'number'
                                then (e.result ->> 'processing_time_ms')::numeric::bigint else e.took end,
      lease_expires_at = null, not_before = null, retry_wait_ms = null,
      message = case when u.sent_at is null then u.message end -- as in aw_end
    from ending e where u.client_id = v_client and u.ctid = e.place -- the row is locked, so it stays there
    returning u.id, u.type, u.attempts, u.webhook_url, u.result, {{ .schema }}.aw_life_ms(u) as life, e.n
  ), outbox as (
    insert into {{ .schema }}.webhook_deliveries (client_id, id, job_id, event, url, body, next_attempt_at)
    select v_client, {{ .schema }}.aw_webhook_id(), e.id, 'task.completed', e.webhook_url,
           {{ .schema }}.aw_webhook_body(v_client, e.id, e.type, 'completed', e.attempts, e.result, null::jsonb),
           clock_timestamp()
    from ended e where e.webhook_url <> ''
  )
  select jsonb_agg(jsonb_build_object('n', e.n, 'state', 'succeeded', 'attempts', e.attempts, 'result', e.result,
    'dead_letter', null, 'deliveries', case when e.webhook_url <> '' then 1 else 0 end, 'duration_ms', e.life))
  into v_answers from ended e;
  return coalesce(v_answers, '[]');
end $$;

-- aw_complete_all completes those jobs of p.completions that the caller holds (I4). Each entry is what aw_complete
-- takes; n in an answer is the entry's number, from 1. What is not in the answer has to be sent to aw_complete. It skips
-- a job that is locked, so it never waits for another call, and the order of its locks does not matter. If an effect
-- fails, nothing is done.
create or replace function {{ .schema }}.aw_complete_all(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_plain jsonb;
  v_others jsonb;
  v_one jsonb;
  v_all jsonb;
begin
  -- A statement of its own: the next one sees all that was committed before the locks.
  with requested as materialized (
    select distinct on (m ->> 'job_id') m ->> 'job_id' as job_id, (m ->> 'fence')::bigint as fence, m, n,
           coalesce(nullif(m -> 'effects', 'null'), '[]') = '[]' as plain
    from {{ .schema }}.aw_elements(p -> 'completions') x
    where coalesce(jsonb_typeof(nullif(m -> 'result', 'null')), 'object') = 'object'
    order by m ->> 'job_id', n
  ), held as materialized (
    select r.m || jsonb_build_object('n', r.n) as m,
           r.plain and 'progress' <> all (coalesce(j.webhook_events, '{}')) as plain -- else aw_end has more to do
    from requested r cross join lateral (
      select o.status, o.fence, o.lease_expires_at, o.webhook_events from {{ .schema }}.jobs o
      where o.client_id = v_client and o.id = r.job_id offset 0 for update skip locked) j
    where j.status = 'running' and j.lease_expires_at is not null and j.fence = r.fence -- I4, as aw_holding
  )
  select jsonb_agg(h.m) filter (where h.plain), jsonb_agg(h.m) filter (where not h.plain)
  into v_plain, v_others from held h;

  v_all := case when v_plain is null then '[]' else {{ .schema }}.aw_end_all(v_client, v_plain) end;
  for v_one in select * from jsonb_array_elements(v_others) loop
    v_all := v_all || (jsonb_build_object('n', v_one -> 'n') ||
      {{ .schema }}.aw_complete(v_one || jsonb_build_object('client_id', v_client)));
  end loop;
  return v_all;
end $$;
