-- The sweep reads neither past messages that wait for their time, of which there may be thousands, nor past others to those
-- whose time has come (functions/52_sweep.sql). Their number is bounded by the same index (functions/51_submissions.sql). The
-- index jobs_unsent is dropped in functions/99_retired.sql, for the reasons given there.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create index jobs_unsent_now on {{ .schema }}.jobs (client_id, created_at)
  where message is not null and sent_at is null and run_at is null;
create index jobs_unsent_later on {{ .schema }}.jobs (client_id, run_at)
  where message is not null and sent_at is null and run_at is not null;
