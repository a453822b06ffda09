-- Which workers a job has lost in its series: aw_begin tells by it which job ends the process that runs it, and which ones
-- only ran beside it (functions/32_losses.sql). Null: none, or a row from before.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.jobs add column lost_worker text;   -- the last one
alter table {{ .schema }}.jobs add column lost_before text[]; -- those before it
alter table {{ .schema }}.jobs add column lost_fence bigint;  -- under which a loss that it shares does not count
