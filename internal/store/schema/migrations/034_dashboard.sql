-- Indexes of the dashboard's questions (functions/89_overview.sql). Each is bounded: none reads more rows than it says.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- Outcomes and durations of the last hour, day and week, from the index alone. That
-- progress is 0 or more is always true, and a condition of no other query: none can take this index for its own.
create index jobs_by_end on {{ .schema }}.jobs (completed_at, client_id) include (status, series_started_at)
  where completed_at is not null and progress >= 0;
-- How many jobs of each priority wait, and since when.
create index jobs_waiting on {{ .schema }}.jobs (priority, created_at, client_id) include (run_at)
  where status = 'pending';
-- The letters that nobody has replayed, by reason.
create index dead_letters_open on {{ .schema }}.dead_letters (created_at, client_id)
  include (reason, error_class, task_type) where replayed_at is null;
