-- What people and frontends read with a tenant's key, as tables. A view over a security definer function has no
-- statistics: whatever the filter, the planner estimates the same, which reveals nothing about other tenants' rows.
-- The functions return all rows of the session's client; to find one job among many, call aw_job with its id. Add a
-- column at the end of function and view. A function can't be replaced by one with more columns, so the old view
-- selects from nothing during this transaction; it is not dropped, as other objects may depend on it.

do $$
begin
  if exists (
    select from pg_proc
    where oid = to_regproc('{{ .schema }}.aw_own_jobs') and not 'error_type' = any (proargnames)) then
    create or replace view {{ .schema }}.own_jobs as
      select null::text as client_id, null::text as id, null::text as type, null::text as status, null::text as stage,
             null::integer as progress, null::integer as attempts, null::integer as max_attempts,
             null::text as priority, null::jsonb as payload, null::jsonb as hints, null::text as error_class,
             null::text as error_code, null::text as error_message, null::jsonb as result, null::text as requested_by,
             null::text as parent_job_id,
             null::timestamptz as created_at, null::timestamptz as updated_at, null::timestamptz as started_at,
             null::timestamptz as completed_at
      where false;
    drop function {{ .schema }}.aw_own_jobs();
  end if;
end $$;

create or replace function {{ .schema }}.aw_own_jobs()
returns table (client_id text, id text, type text, status text, stage text, progress integer, attempts integer,
  max_attempts integer, priority text, payload jsonb, hints jsonb, error_class text, error_code text,
  error_message text, result jsonb, requested_by text, parent_job_id text, created_at timestamptz,
  updated_at timestamptz, started_at timestamptz, completed_at timestamptz,
  error_type text, retry_count integer, processing_time_ms bigint, worker_id text, cancel_requested boolean)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select j.client_id, j.id, j.type, j.status, j.stage, j.progress, j.attempts, j.max_attempts, j.priority, j.payload,
         j.hints, j.error_class, j.error_code, j.error_message, j.result, j.requested_by, j.parent_job_id,
         j.created_at, j.updated_at, j.started_at, j.completed_at,
         coalesce(j.error_type,
                  case when j.error_class is not null then {{ .schema }}.aw_error_type(j.error_class) end),
         coalesce(j.retry_count, greatest(j.attempts - 1, 0)), j.processing_time_ms, coalesce(j.worker_id, j.worker),
         j.cancel_requested_at is not null
  from {{ .schema }}.jobs j where j.client_id = (select {{ .schema }}.aw_bound())
$$;

create or replace function {{ .schema }}.aw_own_job_events()
returns table (client_id text, id uuid, seq bigint, job_id text, at timestamptz, stage text, progress integer,
  attempt integer, message text, metadata jsonb)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select e.client_id, e.id, e.seq, e.job_id, e.at, e.stage, e.progress, e.attempt, e.message, e.metadata
  from {{ .schema }}.job_events e where e.client_id = (select {{ .schema }}.aw_bound())
$$;

create or replace function {{ .schema }}.aw_own_documents()
returns table (client_id text, id uuid, document_set text, filename text, blob text, content_sha256 text,
  active_version integer, pages integer, title text, language text, outline jsonb, properties jsonb, metadata jsonb,
  created_at timestamptz, updated_at timestamptz)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select d.client_id, d.id, d.document_set, d.filename, d.blob, d.content_sha256, d.active_version, d.pages, d.title,
         d.language, d.outline, d.properties, d.metadata, d.created_at, d.updated_at
  from {{ .schema }}.documents d where d.client_id = (select {{ .schema }}.aw_bound()) and d.active_version is not null
$$;

create or replace function {{ .schema }}.aw_own_summaries()
returns table (client_id text, id uuid, job_id text, filename text, summary text, key_points jsonb, model text,
  created_at timestamptz, blob text, style text, language text, unverified jsonb, left_out jsonb)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select s.client_id, s.id, s.job_id, s.filename, s.summary, s.key_points, s.model, s.created_at, s.blob, s.style,
         s.language, s.unverified, s.left_out
  from {{ .schema }}.summaries s where s.client_id = (select {{ .schema }}.aw_bound())
$$;

create or replace function {{ .schema }}.aw_own_agent_runs()
returns table (client_id text, id uuid, job_id text, prompt text, answer text, citations jsonb, steps jsonb,
  model text, created_at timestamptz, document_set text, requested_by text)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select a.client_id, a.id, a.job_id, a.prompt, a.answer, a.citations, a.steps, a.model, a.created_at, a.document_set,
         a.requested_by
  from {{ .schema }}.agent_runs a where a.client_id = (select {{ .schema }}.aw_bound())
$$;

create or replace function {{ .schema }}.aw_own_derived_contents()
returns table (client_id text, id uuid, job_id text, source_filename text, blob text, format text, engine text,
  page_count integer, created_at timestamptz, version integer)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select d.client_id, d.id, d.job_id, d.source_filename, d.blob, d.format, d.engine, d.page_count, d.created_at,
         d.version
  from {{ .schema }}.derived_contents d where d.client_id = (select {{ .schema }}.aw_bound())
$$;

create or replace function {{ .schema }}.aw_own_llm_checks()
returns table (client_id text, id uuid, job_id text, confidence real, verdict text, findings jsonb, model text,
  created_at timestamptz)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select c.client_id, c.id, c.job_id, c.confidence, c.verdict, c.findings, c.model, c.created_at
  from {{ .schema }}.llm_checks c where c.client_id = (select {{ .schema }}.aw_bound())
$$;

-- aw_sees_webhooks reports whether the caller is a worker. A reader sees no address of a webhook, which may have a
-- token in it, and so no message.
create or replace function {{ .schema }}.aw_sees_webhooks() returns boolean
language sql stable
return pg_has_role({{ .schema }}.aw_caller()::name, 'async_worker', 'member');

create or replace function {{ .schema }}.aw_own_dead_letters()
returns table (client_id text, id uuid, job_id text, task_type text, reason text, error_class text, error_code text,
  error_message text, attempts integer, original_message text, created_at timestamptz, replayed_at timestamptz,
  replayed_as text, error_type text, retry_count integer, processing_time_ms bigint, worker_id text,
  source_queue text, replayed_by text, replays integer)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select d.client_id, d.id, d.job_id, d.task_type, d.reason, d.error_class, d.error_code, d.error_message, d.attempts,
         case when (select {{ .schema }}.aw_sees_webhooks()) then d.original_message end, d.created_at, d.replayed_at,
         d.replayed_as, coalesce(d.error_type, {{ .schema }}.aw_error_type(d.error_class)),
         coalesce(d.retry_count, greatest(d.attempts - 1, 0)), d.processing_time_ms, d.worker_id, d.source_queue,
         d.replayed_by, d.replays
  from {{ .schema }}.dead_letters d where d.client_id = (select {{ .schema }}.aw_bound())
$$;

create or replace function {{ .schema }}.aw_own_webhook_deliveries()
returns table (client_id text, id text, job_id text, event text, url text, status text, attempts integer,
  next_attempt_at timestamptz, response_status integer, created_at timestamptz, delivered_at timestamptz)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select w.client_id, w.id, w.job_id, w.event, case when (select {{ .schema }}.aw_sees_webhooks()) then w.url end,
         w.status, w.attempts, w.next_attempt_at, w.response_status, w.created_at, w.delivered_at
  from {{ .schema }}.webhook_deliveries w where w.client_id = (select {{ .schema }}.aw_bound())
$$;

create or replace function {{ .schema }}.aw_own_decks()
returns table (client_id text, id uuid, job_id text, source_filename text, title text, slides integer, blob text,
  created_at timestamptz, preview_blob text)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select d.client_id, d.id, d.job_id, d.source_filename, d.title, d.slides, d.blob, d.created_at, d.preview_blob
  from {{ .schema }}.decks d where d.client_id = (select {{ .schema }}.aw_bound())
$$;

create or replace function {{ .schema }}.aw_own_schedules()
returns table (client_id text, id text, cron text, time_zone text, task jsonb, overlap text, catch_up integer,
  paused boolean, next_at timestamptz, last_job_id text, jitter_ms bigint, last_at timestamptz, fired bigint,
  skipped bigint, missed bigint, problem text, created_at timestamptz, updated_at timestamptz)
language sql stable rows 1000 set search_path = {{ .path }} as $$
  select s.client_id, s.id, s.cron, s.time_zone,
         case when (select {{ .schema }}.aw_sees_webhooks()) then s.task else s.task - 'webhook_url' end, s.overlap,
         s.catch_up, s.paused, s.next_at, s.last_job_id, s.jitter_ms, s.last_at, s.fired, s.skipped, s.missed,
         s.problem, s.created_at, s.updated_at
  from {{ .schema }}.schedules s where s.client_id = (select {{ .schema }}.aw_bound())
$$;

do $$
declare
  v text;
  r text;
begin
  foreach v in array array['jobs', 'job_events', 'documents', 'summaries', 'agent_runs', 'derived_contents',
                           'llm_checks', 'dead_letters', 'webhook_deliveries', 'decks', 'schedules'] loop
    execute format('create or replace view {{ .schema }}.own_%1$s as select * from {{ .schema }}.aw_own_%1$s()', v);
    foreach r in array array['anon', 'authenticated', 'service_role'] loop
      if exists (select from pg_roles where rolname = r) then
        execute format('revoke all on {{ .schema }}.own_%s from %I', v, r); -- service_role has the tables
      end if;
    end loop;
    execute format('revoke all on {{ .schema }}.own_%s from public', v);
    execute format('grant select on {{ .schema }}.own_%s to async_worker, async_worker_reader', v);
  end loop;
end $$;
