-- The sentence that a model wrote in front of a chunk (CONTEXT_MODE=model): part of what is embedded and of the terms,
-- never of the content. Columns without a default: no row is rewritten.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.document_chunks
  add column context    text,  -- null: none
  add column context_by text;  -- the model and the version of its prompt

-- How many of the version's chunks have one; null: it was made before this was recorded.
alter table {{ .schema }}.document_versions add column contexts integer;
