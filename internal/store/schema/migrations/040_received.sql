-- The message of a queue as it came, for who looks at its job (aw_job_context). Of a task that another program sent it is the
-- only place, once the message is deleted; the dead letters have their own.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.jobs add column received text; -- null: none has come, or it came before this was recorded
