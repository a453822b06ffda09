-- The events of all jobs of a tenant as one stream, in the order (tx, job_id, seq). tx is the transaction that wrote an
-- event. A reader gets the events of transactions that are older than each one still open: no open transaction can add
-- an event before those. So a position in the stream misses nothing, however late a transaction commits.

-- After a restore into another cluster, whose transactions are numbered from another start, events may seem to be of
-- transactions to come. They leave the stream, or they would hold up or disturb those that follow.
with recursive clients as ( -- found by steps in the index, which is faster than reading it
  select min(client_id) as id from {{ .schema }}.job_events where tx is not null
  union all
  select (select min(e.client_id) from {{ .schema }}.job_events e where e.client_id > c.id and e.tx is not null)
  from clients c where c.id is not null)
update {{ .schema }}.job_events e set tx = null from clients c
where e.client_id = c.id and e.tx is not null and e.tx >= pg_snapshot_xmax(pg_current_snapshot());

-- aw_feed_event is an event as readers get it.
create or replace function {{ .schema }}.aw_feed_event(e {{ .schema }}.job_events) returns jsonb
language sql stable set timezone = 'UTC'
return jsonb_build_object('id', e.id, 'seq', e.seq, 'job_id', e.job_id, 'at', e.at, 'stage', e.stage,
  'progress', e.progress, 'attempt', e.attempt, 'message', e.message, 'metadata', e.metadata, 'tx', e.tx::text);

-- aw_feed reads on in the stream, and in single jobs.
--   p.after: {tx, job_id, seq, at}, a position; null: the stream's end; left out: only single jobs are read.
--   p.keep_ms: how old a position may be. p.limit: the most events, 1-1000, default 100.
--   p.jobs: [{job_id, seq}], positions in jobs. A job's events are in order by themselves, because the job's row is
--     locked to add one. So they wait for no other transaction.
-- It returns
--   events: at most p.limit. next: the position after them. more: there are further ones.
--   held: further events wait for an open transaction.
--   reset: the position is too old, or of another database; next is the stream's end.
--   job_events: of p.jobs, at most p.limit.
create or replace function {{ .schema }}.aw_feed(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_limit integer := least(greatest(coalesce((p ->> 'limit')::int, 100), 1), 1000);
  v_end xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_tx xid8 := (p #>> '{after,tx}')::xid8;
  v_reset boolean := coalesce(v_tx > pg_snapshot_xmax(pg_current_snapshot())
    or (p #>> '{after,at}')::timestamptz < clock_timestamp() - {{ .schema }}.aw_interval(p -> 'keep_ms'), false);
  v_events jsonb := '[]';
  v_count integer := 0;
  v_jobs jsonb := '[]';
begin
  if v_tx is not null and not v_reset then
    select coalesce(jsonb_agg({{ .schema }}.aw_feed_event(x::{{ .schema }}.job_events)
                              order by x.tx, x.job_id collate "C", x.seq), '[]'), count(*)
    into v_events, v_count
    from (select e.* from {{ .schema }}.job_events e
          where e.client_id = v_client and e.tx is not null and e.tx < v_end
            and (e.tx, e.job_id collate "C", e.seq)
                > (v_tx, (p #>> '{after,job_id}') collate "C", (p #>> '{after,seq}')::bigint)
          order by e.tx, e.job_id collate "C", e.seq limit v_limit) x;
  end if;
  if p -> 'jobs' <> '[]' then
    select coalesce(jsonb_agg({{ .schema }}.aw_feed_event(x::{{ .schema }}.job_events) order by x.job_id, x.seq), '[]')
    into v_jobs
    from (select e.* from jsonb_to_recordset(p -> 'jobs') as w(job_id text, seq bigint),
            lateral (select o.* from {{ .schema }}.job_events o
                     where o.client_id = v_client and o.job_id = w.job_id and o.seq > w.seq
                     order by o.seq limit v_limit) e
          limit v_limit) x;
  end if;
  if not p ? 'after' then
    return jsonb_build_object('job_events', v_jobs);
  end if;
  return jsonb_build_object('events', v_events, 'reset', v_reset, 'more', v_count = v_limit, 'job_events', v_jobs,
    'next', case when v_count = v_limit then jsonb_build_object('tx', v_events -> -1 -> 'tx',
        'job_id', v_events -> -1 -> 'job_id', 'seq', v_events -> -1 -> 'seq', 'at', to_jsonb(clock_timestamp()))
      else jsonb_build_object('tx', v_end::text, 'job_id', '', 'seq', 0, 'at', to_jsonb(clock_timestamp())) end,
    'held', exists (select from {{ .schema }}.job_events e
                    where e.client_id = v_client and e.tx is not null and e.tx >= v_end));
end $$;

-- aw_wake tells listeners on the tenant's channel that jobs have new events. Workers call it some times a second at
-- most, apart from their transactions: NOTIFY takes a lock of the whole instance when it commits. A transaction that
-- does nothing else waits for no disk meanwhile. p.jobs: ids; left out: any job. Every login of the database can listen,
-- those of other tenants too, so a job is named by one of 256 marks: a listener looks at those of its jobs that have it.
-- p.tasks: idle workers look for new messages instead, on a channel of their own, which events don't wake.
create or replace function {{ .schema }}.aw_wake(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_marks text := (select string_agg(distinct left(encode(sha256(convert_to(j, 'UTF8')), 'hex'), 2), ' ')
                   from jsonb_array_elements_text(p -> 'jobs') j);
begin
  if p ->> 'tasks' = 'true' then
    perform pg_notify('async_worker_tasks:' || v_client, '');
    return '{}';
  end if;
  perform pg_notify('async_worker:' || v_client, coalesce(v_marks, ''));
  return '{}';
end $$;
