-- The rules that hold whoever writes: the state machine and the fence.
set local search_path = {{ .schema }}, extensions, public;

-- Mirrors internal/job's Transitions; a test holds one against the other.
create function aw_guard_job() returns trigger
language plpgsql set search_path = {{ .schema }}, pg_temp as $$
begin
  if new.fence < old.fence then -- I4
    raise exception 'the fence of job % would fall from % to %', old.id, old.fence, new.fence using errcode = 'AW011';
  end if;
  if new.status <> old.status then -- I3
    if (old.status = 'pending' and new.status in ('running', 'failed', 'canceled'))
       or (old.status = 'running' and new.status in ('pending', 'succeeded', 'failed', 'canceled')) then
      null;
    -- Only a forced message leaves a terminal state, and only into another series under a new fence.
    elsif old.status in ('succeeded', 'failed', 'canceled') and new.status = 'running'
       and new.series = old.series + 1 and new.fence = old.fence + 1 then
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

create trigger jobs_guard before update on jobs for each row execute function aw_guard_job();

create function aw_guard_delivery() returns trigger
language plpgsql set search_path = {{ .schema }}, pg_temp as $$
begin
  if new.fence < old.fence or (old.status <> 'pending' and new.status <> old.status) then
    raise exception 'delivery % is over, or its fence would fall', old.id using errcode = 'AW011';
  end if;
  return new;
end $$;

create trigger webhook_deliveries_guard before update on webhook_deliveries
  for each row execute function aw_guard_delivery();
