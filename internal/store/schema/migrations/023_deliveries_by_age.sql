-- The order in which aw_list_deliveries lists. The version also tells a worker that the functions include
-- aw_release_unanswered, which it calls.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create index if not exists webhook_deliveries_by_age on {{ .schema }}.webhook_deliveries
  (created_at desc, id desc, client_id);
