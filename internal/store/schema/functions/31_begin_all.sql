-- aw_begin_all begins many jobs at once.

-- aw_begin_pending begins those jobs of p.begins that wait for their first attempt, or were given back, and no other.
-- Each entry is what aw_begin takes; n in an answer is the entry's number, from 1. One statement begins all of them. It
-- skips a job that is locked, so it never waits for another call, and the order of its locks does not matter.
create or replace function {{ .schema }}.aw_begin_pending(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_locked text[];
  v_answers jsonb;
begin
  -- A statement of its own: the next one sees all that was committed before the locks.
  with requested as materialized (
    select distinct m ->> 'job_id' as job_id from {{ .schema }}.aw_elements(p -> 'begins'))
  select array_agg(j.id) into v_locked
  from requested r cross join lateral (
    select o.id, o.status from {{ .schema }}.jobs o where o.client_id = v_client and o.id = r.job_id
    offset 0 for no key update skip locked) j
  where j.status = 'pending';
  if v_locked is null then
    return '[]';
  end if;

  with requested as materialized (
    select distinct on (m ->> 'job_id') m ->> 'job_id' as job_id, m, n
    from {{ .schema }}.aw_elements(p -> 'begins') order by m ->> 'job_id', n
  ), due as materialized (
    select j.row as was, j.place, r.m, r.n, {{ .schema }}.aw_message_key(r.m -> 'source') as message,
           (j.row).attempts + 1 as attempt, greatest(o.at, clock_timestamp()) as at,
           greatest(o.tx, pg_current_xact_id()) as tx, -- as in aw_append_events
           case when (j.row).fingerprint = '' then (r.m ->> 'max_attempts')::int
                else (j.row).max_attempts end as most
    from requested r
    cross join lateral (
      select x as row, x.ctid as place from {{ .schema }}.jobs x
      where x.client_id = v_client and x.id = r.job_id offset 0) j
    left join lateral (
      select e.at, e.tx from {{ .schema }}.job_events e
      where e.client_id = v_client and e.job_id = r.job_id and e.seq = (j.row).event_seq offset 0) o on true
    where r.job_id = any (v_locked) and (j.row).status = 'pending' and (j.row).cancel_requested_at is null -- I7
      and not (j.row).placeholder and not {{ .schema }}.aw_is_other(j.row, r.m) -- I5
      and not ((j.row).message is not null -- it starts later, or has another run: aw_begin decides
               and ((j.row).series_started_at is not null or coalesce((j.row).run_at > clock_timestamp(), false)))
  ), begun as (
    update {{ .schema }}.jobs u set
      status = 'running', attempts = d.attempt, max_attempts = d.most, fence = u.fence + 1, -- I4
      worker = d.m ->> 'worker', fingerprint = coalesce(nullif(u.fingerprint, ''), d.m ->> 'fingerprint'),
      begin_id = d.m ->> 'begin_id', stage = 'started', event_seq = u.event_seq + 1,
      lease_expires_at = clock_timestamp() + {{ .schema }}.aw_interval(d.m -> 'lease_ms'), not_before = null,
      started_at = coalesce(u.started_at, clock_timestamp()),
      series_started_at = coalesce(u.series_started_at, clock_timestamp()),
      queued_at = case when (d.was).series_started_at is null and (d.m ->> 'run_at' is not null or u.run_at is not null)
        then {{ .schema }}.aw_place(coalesce(u.queued_at, u.created_at), d.m, u.run_at) else u.queued_at end,
      sent_at = coalesce(u.sent_at, clock_timestamp()), message = null, -- it arrived: no sweep needs to send it
      message_ids = {{ .schema }}.aw_remember_message(u.message_ids, d.message),
      received = case when (d.was).series_started_at is null
                      then coalesce(nullif(d.m ->> 'original_message', ''), u.received) else u.received end
    from due d where u.client_id = v_client and u.ctid = d.place -- the row is locked, so it stays there
    returning u as job, d.n, (d.was).series_started_at is null as first
  ), written as (
    insert into {{ .schema }}.job_events (
      client_id, job_id, seq, id, series, at, stage, progress, attempt, message, metadata, tx)
    select v_client, (d.was).id, (d.was).event_seq + 1, gen_random_uuid(), (d.was).series, d.at, 'started',
           (d.was).progress, d.attempt, format('attempt %s of %s started', d.attempt, d.most),
           jsonb_build_object('worker', d.m -> 'worker'), d.tx
    from due d
  )
  select jsonb_agg({{ .schema }}.aw_begin_answer('run', b.job, jsonb_build_object('n', b.n, 'first', b.first,
    'deliveries', case when b.first and (b.job).webhook_events is not null then
      {{ .schema }}.aw_webhook_once(b.job, 'started', (b.job).attempts, 0::bigint, null::jsonb) else 0 end)))
  into v_answers from begun b;
  return coalesce(v_answers, '[]');
end $$;

-- aw_begin_all begins those jobs of p.begins that can be begun together: those that aw_begin_pending and aw_begin_new
-- begin. What is not in the answer has to be sent to aw_begin.
create or replace function {{ .schema }}.aw_begin_all(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_begun jsonb := {{ .schema }}.aw_begin_pending(p);
begin
  -- An insert of a job that exists costs more than a look, so the pending ones come first: often they are all.
  if jsonb_array_length(v_begun) < jsonb_array_length(p -> 'begins') then
    v_begun := v_begun || {{ .schema }}.aw_begin_new(p);
  end if;
  return v_begun;
end $$;
