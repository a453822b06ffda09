-- The view processing_jobs, for those who know such a table: insert a row to enqueue a job, select it to see what
-- became of it. aw_processing_job is a job in its words, but for last_attempt_at: with a subquery in it the whole row would
-- be read. It has a parsed body, and is put in place of its call.
create or replace function {{ .schema }}.aw_processing_job(j {{ .schema }}.jobs)
returns table (client_id text, id text, type text, source_uri text, payload jsonb, hints jsonb, priority text,
  status text, progress integer, retry_count integer, max_retries integer, error_code text, error_message text,
  result jsonb, result_path text, leased_by text, lease_expires_at timestamptz, created_at timestamptz,
  updated_at timestamptz, started_at timestamptz, completed_at timestamptz, failed_at timestamptz)
language sql stable rows 1
begin atomic
  select j.client_id, j.id, j.type, j.payload ->> 'source_uri', j.payload, j.hints, j.priority,
         case j.status when 'running' then 'processing' when 'succeeded' then 'completed' else j.status end,
         j.progress, coalesce(j.retry_count, greatest(j.attempts - 1, 0)),
         case when j.fingerprint <> '' then j.max_attempts - 1 end, j.error_code, j.error_message, j.result,
         coalesce(j.result ->> 'result_path', j.result ->> 'derived_blob'),
         case when j.lease_expires_at is not null then j.worker end, j.lease_expires_at, j.created_at, j.updated_at,
         j.started_at, case when j.status = 'succeeded' then j.completed_at end,
         case when j.status = 'failed' then j.completed_at end;
end;

-- aw_ended_attempt is about when the last attempt of an ended job began, by its row: the events are removed some days after
-- the end; null if it had no attempt.
create or replace function {{ .schema }}.aw_ended_attempt(j {{ .schema }}.jobs) returns timestamptz
language sql stable
return case when j.started_at is not null
  then greatest(j.started_at, j.completed_at - j.processing_time_ms * interval '1 millisecond') end;

create or replace function {{ .schema }}.aw_own_processing_jobs()
returns table (client_id text, id text, type text, source_uri text, payload jsonb, hints jsonb, priority text,
  status text, progress integer, retry_count integer, max_retries integer, error_code text, error_message text,
  result jsonb, result_path text, leased_by text, lease_expires_at timestamptz, created_at timestamptz,
  updated_at timestamptz, started_at timestamptz, completed_at timestamptz, failed_at timestamptz,
  last_attempt_at timestamptz)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select x.*, coalesce((select max(e.at) from {{ .schema }}.job_events e
                        where e.job_id = j.id and e.client_id = j.client_id and e.stage = 'started'),
                       {{ .schema }}.aw_ended_attempt(j))
  from {{ .schema }}.jobs j, {{ .schema }}.aw_processing_job(j) x
  where j.client_id = (select {{ .schema }}.aw_bound())
$$;

-- aw_processing_jobs are all jobs for a caller who may act for every tenant and is bound to none, as in hybrid_search:
-- it reads the tables as himself. Others get their own. A frontend's login may have no right on the functions that the
-- rest needs, so its role is looked at first.
create or replace function {{ .schema }}.aw_processing_jobs()
returns table (client_id text, id text, type text, source_uri text, payload jsonb, hints jsonb, priority text,
  status text, progress integer, retry_count integer, max_retries integer, error_code text, error_message text,
  result jsonb, result_path text, leased_by text, lease_expires_at timestamptz, created_at timestamptz,
  updated_at timestamptz, started_at timestamptz, completed_at timestamptz, failed_at timestamptz,
  last_attempt_at timestamptz)
language plpgsql stable rows 1000 set search_path = {{ .path }} as $$
#variable_conflict use_column
begin
  if exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolbypassrls)) then
    if {{ .schema }}.aw_unbound() then
      return query
        select x.*, coalesce((select max(e.at) from {{ .schema }}.job_events e
                              where e.job_id = j.id and e.client_id = j.client_id and e.stage = 'started'),
                             {{ .schema }}.aw_ended_attempt(j))
        from {{ .schema }}.jobs j, {{ .schema }}.aw_processing_job(j) x;
      return;
    end if;
  end if;
  return query select x.* from {{ .schema }}.aw_own_processing_jobs() x;
end $$;

-- A login with a grant on what the view selected from before keeps the view.
do $$
declare
  r text;
begin
  revoke all on function {{ .schema }}.aw_processing_jobs() from public;
  for r in
    select o.rolname from pg_proc p, aclexplode(p.proacl) a join pg_roles o on o.oid = a.grantee
    where p.oid = '{{ .schema }}.aw_own_processing_jobs()'::regprocedure and a.grantee <> p.proowner
      and not has_function_privilege(o.oid, '{{ .schema }}.aw_processing_jobs()', 'execute')
  loop
    execute format('grant execute on function {{ .schema }}.aw_processing_jobs() to %I', r);
  end loop;
end $$;

-- aw_insert_processing_job enqueues an inserted row. A row whose task is there already inserts nothing.
create or replace function {{ .schema }}.aw_insert_processing_job() returns trigger
language plpgsql set search_path = {{ .path }} as $$
declare
  v_answer jsonb;
begin
  if coalesce(new.status, 'pending') not in ('created', 'pending', 'queued') then
    raise exception 'a new job is created, pending or queued, and not %', new.status using errcode = 'AW006';
  end if;
  v_answer := {{ .schema }}.aw_enqueue(jsonb_strip_nulls(jsonb_build_object('client_id', new.client_id,
      'task_id', new.id, 'task_type', new.type, 'priority', new.priority, 'hints', new.hints))
    || jsonb_build_object('payload', coalesce(new.payload, '{}')
         || case when new.source_uri is null then '{}' else jsonb_build_object('source_uri', new.source_uri) end
         || case when new.source_uri like 'blob:%' and not coalesce(new.payload, '{}') ? 'filename'
                 then jsonb_build_object('filename', substr(new.source_uri, 6)) else '{}' end));
  new.id := v_answer ->> 'job_id';
  new.status := 'pending';
  new.created_at := now();
  return case when (v_answer ->> 'created')::boolean then new end;
end $$;

create or replace view {{ .schema }}.processing_jobs as select * from {{ .schema }}.aw_processing_jobs();
create or replace trigger aw_insert instead of insert on {{ .schema }}.processing_jobs
  for each row execute function {{ .schema }}.aw_insert_processing_job();
do $$
declare
  r text;
begin
  revoke all on {{ .schema }}.processing_jobs from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on {{ .schema }}.processing_jobs from %I', r);
    end if;
  end loop;
  grant select, insert on {{ .schema }}.processing_jobs to async_worker;
  grant select on {{ .schema }}.processing_jobs to async_worker_reader;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert on {{ .schema }}.processing_jobs to service_role;
  end if;
end $$;
