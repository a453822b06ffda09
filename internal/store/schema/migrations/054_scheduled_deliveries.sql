-- When a delivery that waits for a receiver that is down would be tried by its own schedule. It failed before, perhaps for a
-- reason of its own, and the end of an outage must not cost it an attempt (functions/70_claims.sql).
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.webhook_deliveries add column scheduled_at timestamptz; -- null: at once
