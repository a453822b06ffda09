-- How many attempts were made before a delivery was last sent again by hand: attempts counts all of them, its schedule
-- those after. null: it never was.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.webhook_deliveries add column attempts_before integer;
