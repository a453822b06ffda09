-- The task that last made a document what it is, or found it unchanged: one whose message was sent before, and that tries again
-- later, must not replace or remove it (functions/60_document_order.sql). Null: a row from before.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- When the message of a task was sent that a person has done again since: what it makes is as old as that. Null: it was not.
alter table {{ .schema }}.jobs add column first_queued_at timestamptz;
alter table {{ .schema }}.documents
  add column task_sent_at timestamptz, -- when its message was sent, or from when on it was to start
  add column task_job_id  text;
