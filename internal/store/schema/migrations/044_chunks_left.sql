-- The chunks of a long version that nobody reads any more are removed after the commit that ends it, in steps
-- (functions/64_chunks_left.sql). A column without a default: no row is rewritten.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- Superseded versions of the document have chunks that are to be removed; null: none has.
alter table {{ .schema }}.documents add column chunks_left boolean;
create index documents_with_chunks_left on {{ .schema }}.documents (client_id, id) where chunks_left;
