-- What is missing in a version, and why, as the result of its ingest said: a later ingest that finds the document unchanged
-- says it again. A JSON array of sentences; null: nothing, or a version from before.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.document_versions add column warnings jsonb;
