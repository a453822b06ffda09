-- The host of a delivery's receiver, so that a claim finds the due deliveries of one host without reading those of
-- others (functions/70_claims.sql). A column without a default: no row is rewritten, except those that are pending. The
-- trigger fills it, whoever inserts.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.webhook_deliveries add column host text collate "C"; -- lower case; empty: the URL has none

create function {{ .schema }}.aw_set_delivery_host() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.host := coalesce(lower(substring(new.url from '^[^:]+://([^/?#]+)')), '');
  return new;
end $$;
create trigger webhook_deliveries_host before insert or update of url on {{ .schema }}.webhook_deliveries
  for each row execute function {{ .schema }}.aw_set_delivery_host();
update {{ .schema }}.webhook_deliveries set host = coalesce(lower(substring(url from '^[^:]+://([^/?#]+)')), '')
where status = 'pending';

create index webhook_deliveries_by_host on {{ .schema }}.webhook_deliveries (client_id, host, next_attempt_at)
  where status = 'pending';
-- The tenant first: those of others are not read.
drop index if exists {{ .schema }}.webhook_deliveries_due;
create index webhook_deliveries_due on {{ .schema }}.webhook_deliveries (client_id, next_attempt_at)
  where status = 'pending';
-- In the order of probes.
drop index if exists {{ .schema }}.webhook_deliveries_waiting;
create index webhook_deliveries_waiting on {{ .schema }}.webhook_deliveries (client_id, waits_for, fence, created_at, id)
  where waits_for is not null and status = 'pending';
