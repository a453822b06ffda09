-- When a job's message was sent, as its queue tells it: jobs on one document work in that order (aw_stage_document). sent_at
-- can't tell it, as it says whether the message that the row keeps was sent. Null: created_at, when the job was enqueued, or
-- a row from before.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.jobs add column queued_at timestamptz;
