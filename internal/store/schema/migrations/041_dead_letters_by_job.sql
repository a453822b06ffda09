-- The dead letters of a job, for its page.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create index dead_letters_by_job on {{ .schema }}.dead_letters (job_id, created_at desc, client_id) where job_id is not null;
