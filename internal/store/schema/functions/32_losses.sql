-- What it means that a job's worker was lost. One of the worker's jobs may have ended the process, as it will each time it
-- runs. The others must not end with it: a loss that many jobs share counts against the one that was suspect before, and
-- jobs that were lost together twice begin one at a time, so that the next loss tells which of them it is. After the first
-- loss, which a kill or a power failure may be, all begin at once.

-- aw_loss_counts reports whether the loss of j's worker, under its expired lease, counts as an attempt. j.worker is the
-- name of one process. Lost with it are its jobs whose leases have ended or were not renewed for half of their time. A job
-- is a suspect when it has lost a worker before. The loss counts
--   if no other job was lost with it;
--   if it has lost two before, and is the only suspect among them: not at the second loss, as one that was spared may soon
--   meet another job of this kind, which is no suspect yet;
--   after five losses, so that every job ends (I6).
-- The first of them to come notes in all of them whether they are spared (lost_fence): others may lose the next worker, or
-- end, before they come.
create or replace function {{ .schema }}.aw_loss_counts(j {{ .schema }}.jobs, p jsonb) returns boolean
language plpgsql set search_path = {{ .path }} as $$
declare
  v_dead timestamptz := clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms') / 2;
  v_repeated boolean := coalesce(cardinality(j.lost_before), 0) > 0;
  v_others integer;
  v_suspects integer;
begin
  if cardinality(j.lost_before) >= 4 then
    return true;
  elsif j.lost_fence = j.fence then
    return false;
  end if;
  select count(*), count(*) filter (where case when o.lost_worker = j.worker then cardinality(o.lost_before) > 0
                                               else o.lost_worker is not null end)
  into v_others, v_suspects
  from {{ .schema }}.jobs o
  where o.client_id = j.client_id and o.status = 'running' and o.id <> j.id
    and (o.lost_worker = j.worker or o.worker = j.worker and o.lease_expires_at <= v_dead);
  if v_others = 0 then
    return true;
  end if;
  v_suspects := v_suspects + case when j.lost_worker is not null then 1 else 0 end;
  update {{ .schema }}.jobs u set lost_fence = u.fence from (
    select o.id from {{ .schema }}.jobs o
    where o.client_id = j.client_id and o.status = 'running' and o.worker = j.worker and o.lease_expires_at <= v_dead
      and not (coalesce(cardinality(o.lost_before), 0) > 0 and v_suspects = 1)
    for no key update skip locked) l
  where u.client_id = j.client_id and u.id = l.id;
  return v_repeated and v_suspects = 1;
end $$;

-- aw_shares_loss reports whether o is another unfinished job that was ever lost with j, by one of the workers that j lost.
create or replace function {{ .schema }}.aw_shares_loss(o {{ .schema }}.jobs, j {{ .schema }}.jobs, workers text[]) returns boolean
language sql immutable
return o.client_id = j.client_id and o.status = 'running' and o.id <> j.id
  and (o.worker = any (workers) or o.lost_worker = any (workers) or o.lost_before && workers);

-- aw_suspect_waits reports whether a job that lost two workers has to wait because another one that was ever lost with it is
-- under way. It waits for 16 minutes at most, whatever the others do, after the third loss for 32, and never for more than
-- 64: long tasks get the time to end. Of those that are being begun at once the first by id goes on: it holds its row, and
-- with skip locked the rows of those that wait to be begun. So two never miss each other, and none waits for the other's
-- lock.
create or replace function {{ .schema }}.aw_suspect_waits(j {{ .schema }}.jobs, p jsonb) returns boolean
language plpgsql set search_path = {{ .path }} as $$
declare
  v_workers text[] := array_remove(j.lost_before || array[j.lost_worker, j.worker], null);
  v_dead timestamptz := clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms') / 2;
  v_locked text[];
begin
  if cardinality(v_workers) < 2
     or clock_timestamp() >= j.lease_expires_at + interval '8 minutes' * 2 ^ least(cardinality(v_workers) - 1, 3) then
    return false;
  elsif exists ( -- one that is visibly under way decides: then no row is locked
    select from {{ .schema }}.jobs o
    where {{ .schema }}.aw_shares_loss(o, j, v_workers) and o.worker <> j.worker and o.lease_expires_at > clock_timestamp()) then
    return true;
  end if;
  select coalesce(array_agg(l.id), '{}') into v_locked from (
    select o.id from {{ .schema }}.jobs o
    where {{ .schema }}.aw_shares_loss(o, j, v_workers) and o.lease_expires_at <= v_dead
    for no key update skip locked) l;
  return exists (
    select from {{ .schema }}.jobs o
    where {{ .schema }}.aw_shares_loss(o, j, v_workers)
      and (o.worker <> j.worker and o.lease_expires_at > clock_timestamp()
           or o.lease_expires_at <= v_dead and o.id < j.id and o.id <> all (v_locked)));
end $$;

-- aw_begin_lost decides about a job whose worker was lost, which the caller has locked: it begins its next attempt, waits,
-- or has failed.
create or replace function {{ .schema }}.aw_begin_lost(j {{ .schema }}.jobs, p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_counts boolean := {{ .schema }}.aw_loss_counts(j, p);
  v_spent boolean := v_counts and j.attempts >= j.max_attempts;
  v_error jsonb;
  v_events jsonb;
begin
  if not v_spent and {{ .schema }}.aw_suspect_waits(j, p) then
    -- Its message is there, and no sweep needs to send it: noted seldom, as a row is copied with each change.
    update {{ .schema }}.jobs u set sent_at = case when u.message is null then clock_timestamp() end
    where u.client_id = j.client_id and u.id = j.id and coalesce(u.sent_at, u.updated_at)
            <= greatest(j.lease_expires_at, clock_timestamp() - interval '10 minutes');
    return {{ .schema }}.aw_begin_answer('waiting', j, jsonb_build_object('wait_ms', 1000,
      'ran', {{ .schema }}.aw_had_message(j, p)));
  end if;
  update {{ .schema }}.jobs u set
    lost_worker = j.worker, lost_before = array_remove(j.lost_before || j.lost_worker, null)
  where u.client_id = j.client_id and u.id = j.id;
  if v_spent then
    v_error := jsonb_build_object('type', 'WorkerLost', 'class', 'worker_lost',
      'code', upper(j.type) || '_WORKER_LOST', 'retryable', true,
      'message', format('the worker was lost in attempt %s of %s', j.attempts, j.max_attempts));
    return {{ .schema }}.aw_begin_answer('spent', j, jsonb_build_object('state', 'failed') || (
      {{ .schema }}.aw_end(j, 'failed', null::jsonb, v_error, null::jsonb,
             p || jsonb_build_object('reason', 'worker_lost')) - 'state'));
  end if;
  v_events := jsonb_build_array({{ .schema }}.aw_event('worker_lost', 0,
    format('worker %s was lost in attempt %s', coalesce(j.worker, '?'), j.attempts), null::jsonb));
  if not v_counts then -- I9
    j.attempts := j.attempts - 1;
    v_events := v_events || {{ .schema }}.aw_event('released', 0,
      'other jobs were lost with it; the attempt is not counted', null::jsonb);
  end if;
  return {{ .schema }}.aw_start_attempt(j, p, v_events);
end $$;
