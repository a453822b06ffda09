-- Replays of dead letters, retries of failed jobs, and the purge.
set local search_path = {{ .schema }}, extensions, public;

-- A table can't be rewritten while a function with a parsed body takes its rows. All functions are made anew
-- after the migrations; every migration that adds a column with a default needs this.
do $$
declare
  f regprocedure;
begin
  for f in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = '{{ .schema }}'::regnamespace and p.proname like 'aw\_%' and p.prosqlbody is not null
      and exists (select from unnest(p.proargtypes) t join pg_class c on c.reltype = t and c.relkind = 'r')
  loop
    execute format('drop function %s', f);
  end loop;
end $$;

-- The how-manieth of the replays that began with one job it is; 0: it is no replay.
alter table jobs add column replay integer not null default 0 check (replay >= 0);

alter table dead_letters
  add column replayed_by text,
  add column replays     integer not null default 0; -- how often it was replayed, retries of its job included

grant delete on dead_letters to async_worker;

-- As in 004, and a failed job may also be queued again, as another series: by hand, see aw_requeue.
create or replace function aw_guard_job() returns trigger
language plpgsql set search_path = {{ .schema }}, pg_temp as $$
begin
  if new.fence < old.fence then -- I4
    raise exception 'the fence of job % would fall from % to %', old.id, old.fence, new.fence using errcode = 'AW011';
  end if;
  if new.status <> old.status then -- I3
    if (old.status = 'pending' and new.status in ('running', 'failed', 'canceled'))
       or (old.status = 'running' and new.status in ('pending', 'succeeded', 'failed', 'canceled')) then
      null;
    -- A forced message leaves a terminal state, only into another series under a new fence.
    elsif old.status in ('succeeded', 'failed', 'canceled') and new.status = 'running'
       and new.series = old.series + 1 and new.fence = old.fence + 1 then
      null;
    -- A retry by hand leaves failed, only into another series that nobody holds.
    elsif old.status = 'failed' and new.status = 'pending'
       and new.series = old.series + 1 and new.fence = old.fence then
      null;
    else
      raise exception 'job % can not go from % to %', old.id, old.status, new.status using errcode = 'AW010';
    end if;
  end if;
  if new.progress < old.progress and new.series = old.series then -- I8
    raise exception 'the progress of job % would fall from % to %', old.id, old.progress, new.progress
      using errcode = 'AW011';
  end if;
  new.updated_at := clock_timestamp();
  return new;
end $$;
