-- The end of old rows: events, deliveries and jobs. Each call is a short transaction: it looks at a limited number of rows,
-- removes a limited number, and skips those that others have locked.

-- aw_expire_events removes the events of jobs that ended p.keep_ms ago: of p.limit jobs, and p.max_events of them, at most.
-- Those that a publisher has not published yet are lost to its sink by that; they are counted. jobs counts those without
-- events now.
create or replace function {{ .schema }}.aw_expire_events(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_limit integer := least(greatest((p ->> 'limit')::int, 1), 1000);
  v_most integer := least(greatest(coalesce((p ->> 'max_events')::int, 5000), 1), 50000);
  v_jobs text[];
  v_removed integer;
  v_lost integer;
  v_done integer;
  w {{ .schema }}.event_publishers;
begin
  select array_agg(x.id) into v_jobs from (
    select j.id from {{ .schema }}.jobs j
    where j.client_id = v_client and j.completed_at is not null
      and j.completed_at <= clock_timestamp() - {{ .schema }}.aw_interval(p -> 'keep_ms')
      and (j.events_removed_to is null or j.events_removed_to < j.event_seq)
    order by j.completed_at limit v_limit for update skip locked) x;
  if v_jobs is null then
    return jsonb_build_object('jobs', 0, 'events', 0, 'lost', 0, 'more', false);
  end if;
  select * into w from {{ .schema }}.event_publishers where client_id = v_client;
  with old as materialized ( -- job after job, each from its first event on: no more are read than are removed
    select o.job_id, e.seq from unnest(v_jobs) o(job_id), lateral (
      select x.seq from {{ .schema }}.job_events x where x.client_id = v_client and x.job_id = o.job_id
      order by x.seq limit v_most) e
    limit v_most
  ), gone as (
    delete from {{ .schema }}.job_events e using old
    where e.client_id = v_client and e.job_id = old.job_id and e.seq = old.seq
    returning e.tx, e.job_id, e.seq, e.stage)
  select count(*), count(*) filter (where g.stage not in ('', 'restarted')
    and (g.tx, g.job_id collate "C", g.seq) > (w.tx, w.job_id collate "C", w.seq))
  into v_removed, v_lost from gone g;
  update {{ .schema }}.jobs j set events_removed_to = j.event_seq
  where j.client_id = v_client and j.id = any (v_jobs)
    and (v_removed < v_most or not exists (
      select from {{ .schema }}.job_events e where e.client_id = v_client and e.job_id = j.id));
  get diagnostics v_done = row_count;
  if v_lost > 0 then
    update {{ .schema }}.event_publishers set lost = lost + v_lost where client_id = v_client;
  end if;
  return jsonb_build_object('jobs', v_done, 'events', v_removed, 'lost', v_lost,
    'more', cardinality(v_jobs) = v_limit or v_removed = v_most);
end $$;

-- aw_expire_deliveries removes deliveries that were done p.keep_ms ago, at most p.limit. One that is still to be sent
-- stays, however old it is. One that was tried again may have been given up as late as its last attempt, and one that
-- waited for its receiver at the end of the wait.
create or replace function {{ .schema }}.aw_expire_deliveries(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_limit integer := least(greatest((p ->> 'limit')::int, 1), 1000);
  v_before timestamptz := clock_timestamp() - {{ .schema }}.aw_interval(p -> 'keep_ms');
  v_removed integer;
begin
  with old as materialized (
    select d.id from {{ .schema }}.webhook_deliveries d
    where d.client_id = v_client and d.status <> 'pending' and d.created_at <= v_before
      and coalesce(d.delivered_at, greatest(d.created_at, d.waits_since)) <= v_before - case
        when d.status = 'failed' and (d.attempts > 1 or d.waits_since is not null)
        then {{ .schema }}.aw_webhook_max_wait() else '0' end
    order by d.created_at limit v_limit for update skip locked)
  delete from {{ .schema }}.webhook_deliveries d using old where d.client_id = v_client and d.id = old.id;
  get diagnostics v_removed = row_count;
  return jsonb_build_object('removed', v_removed);
end $$;

-- aw_job_needed reports whether something that stays needs the row of an ended job:
--   a webhook that is still to be sent;
--   a dead letter that was not replayed: a replay takes the webhook's address from the job, and its id from the job's;
--   a job that it submitted, or a replay of it, that has not ended;
--   the active version of a document, whose warnings are in the job's result;
--   a message that starts it again later.
-- A job that a schedule names is ended, and not needed: a missing one counts as ended.
create or replace function {{ .schema }}.aw_job_needed(j {{ .schema }}.jobs) returns boolean
language sql stable set search_path = {{ .path }} as $$
  select exists (select from {{ .schema }}.webhook_deliveries d
                 where d.client_id = j.client_id and d.job_id = j.id and d.status = 'pending')
    or exists (select from {{ .schema }}.dead_letters l
               where l.client_id = j.client_id and l.job_id = j.id and l.series is not null and l.replayed_at is null)
    or exists (select from {{ .schema }}.jobs c
               where c.client_id = j.client_id and c.parent_job_id = j.id and c.completed_at is null)
    or exists (select from {{ .schema }}.document_versions v
               where v.client_id = j.client_id and v.job_id = j.id and v.status = 'active')
    or j.message is not null and j.sent_at is null
$$;

-- aw_expire_jobs removes jobs that ended p.keep_ms ago, have no events any more, and are not needed. It looks at p.limit
-- jobs in the order of their end, from p.after (at, id) on. next is the last that it looked at, null if there are no
-- more: what is needed is not looked at again and again in one round.
create or replace function {{ .schema }}.aw_expire_jobs(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_limit integer := least(greatest((p ->> 'limit')::int, 1), 1000);
  v_at timestamptz := coalesce((p #>> '{after,at}')::timestamptz, '-infinity');
  v_id text := coalesce(p #>> '{after,id}', '');
  v_seen jsonb;
  v_jobs text[];
  v_removed integer;
begin
  select jsonb_agg(jsonb_build_object('at', x.completed_at, 'id', x.id) order by x.completed_at, x.id) into v_seen
  from (select j.completed_at, j.id from {{ .schema }}.jobs j
        where j.client_id = v_client and j.completed_at is not null and j.events_removed_to >= j.event_seq
          and j.completed_at <= clock_timestamp() - {{ .schema }}.aw_interval(p -> 'keep_ms')
          and (j.completed_at, j.id) > (v_at, v_id)
        order by j.completed_at, j.id limit v_limit) x;
  -- Under the lock nobody starts the job again, nor submits a child or replays it: there it is asked once more. The jobs
  -- of all active documents are looked at in each round, and a lock writes to the row.
  select array_agg(x.id) into v_jobs from (
    select j.id from {{ .schema }}.jobs j
    where j.client_id = v_client and j.id in (select s ->> 'id' from jsonb_array_elements(v_seen) s)
      and j.completed_at <= clock_timestamp() - {{ .schema }}.aw_interval(p -> 'keep_ms')
      and j.events_removed_to >= j.event_seq and not {{ .schema }}.aw_job_needed(j)
    for update skip locked) x;
  delete from {{ .schema }}.jobs j
  where j.client_id = v_client and j.id = any (v_jobs) and not {{ .schema }}.aw_job_needed(j);
  get diagnostics v_removed = row_count;
  -- Its letters stay, of no job: another one of that id begins with series 1 again (I6).
  update {{ .schema }}.dead_letters l set series = null
  where l.client_id = v_client and l.job_id = any (v_jobs) and l.series is not null
    and not exists (select from {{ .schema }}.jobs j where j.client_id = v_client and j.id = l.job_id);
  return jsonb_build_object('removed', v_removed,
    'next', case when jsonb_array_length(v_seen) = v_limit then v_seen -> -1 end);
end $$;
