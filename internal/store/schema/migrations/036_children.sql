-- The jobs that a job has submitted, the newest first: aw_jobs and aw_job_context list them, and most have ended, which
-- jobs_by_parent leaves out.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create index if not exists jobs_children on {{ .schema }}.jobs (parent_job_id, created_at, id, client_id)
  where parent_job_id is not null;
