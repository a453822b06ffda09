-- The transaction that wrote an event. It orders the events of all jobs of a tenant, see aw_feed: a serial number would
-- not do, because a transaction that commits late has lower numbers than those that were read before.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- First the column and then its default: adding both at once would rewrite the table. A row from before has none.
alter table {{ .schema }}.job_events add column tx xid8;
alter table {{ .schema }}.job_events alter column tx set default pg_current_xact_id();
