-- What a failure says beside its class, the wait before the last retry, and the word for a message whose id belongs
-- to another task.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.jobs
  add column error_type         text,    -- validation, transient, permanent or timeout
  add column retry_count        integer, -- attempts after the first
  add column processing_time_ms bigint,  -- of the attempt that ended the job
  add column worker_id          text,    -- who ended it, or was lost with it
  add column retry_wait_ms      bigint;  -- before the last retry: the next wait grows from it

alter table {{ .schema }}.dead_letters
  add column error_type         text,
  add column retry_count        integer,
  add column processing_time_ms bigint,
  add column worker_id          text;

alter table {{ .schema }}.webhook_deliveries
  drop constraint webhook_deliveries_event_check,
  add constraint webhook_deliveries_event_check
    check (event in ('task.completed', 'task.failed', 'task.canceled', 'task.rejected'));
