-- The order of aw_feed. It is a migration of its own, because its transaction locks out writers alone while the table is
-- read once; that of 024 locks out readers, too, for a moment. client_id may come first: no query but aw_feed's implies
-- "tx is not null", so no other query uses this index. The collation is that of Go's strings.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create index job_events_by_tx on {{ .schema }}.job_events (client_id, tx, job_id collate "C", seq)
  where tx is not null;
