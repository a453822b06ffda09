-- How a delivery ended each time before it was sent again by hand, newest first: see aw_resend_delivery. null: it never
-- was.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.webhook_deliveries add column earlier jsonb;
