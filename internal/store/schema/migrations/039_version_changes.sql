-- What a version holds and what it changed, for the page of a document: the chunks of a superseded version are removed,
-- so it is recorded when the next one becomes active (functions/60_documents.sql).
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.document_versions
  add column tokens  bigint, -- of its chunks; null: it was made before this was recorded
  add column changes jsonb;  -- aw_version_changes; null: it is the first version, or as above
