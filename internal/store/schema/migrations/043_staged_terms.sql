-- The terms of a long document are made before its version becomes active, in steps (functions/61_terms.sql): all of them
-- in the transaction that activates it took longer than a commit may. Columns without a default: no row is rewritten.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- Tables in the order in which a commit locks them: neither waits for the other.

-- Chunks of this staged version may have terms; null: none has.
alter table {{ .schema }}.document_versions add column terms_staged boolean;

-- The version that has the chunk. Searches find it only while that is the active one; null: it is.
alter table {{ .schema }}.chunk_terms add column version integer;
