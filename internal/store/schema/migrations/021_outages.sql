-- Receivers of webhooks that are down, and which deliveries wait for them.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

alter table {{ .schema }}.webhook_deliveries add column waits_for text; -- a receiver in webhook_outages; null: the schedule counts
create index webhook_deliveries_waiting on {{ .schema }}.webhook_deliveries (waits_for, client_id) where waits_for is not null;

create table {{ .schema }}.webhook_outages (
  client_id text        not null,
  receiver  text        not null, -- a host, or a host and the hash of a path: see aw_receivers
  since     timestamptz not null,
  probe_at  timestamptz not null, -- when one delivery is tried, for all that wait
  primary key (receiver, client_id)
);

do $$
declare
  r text;
begin
  alter table {{ .schema }}.webhook_outages enable row level security;
  alter table {{ .schema }}.webhook_outages force row level security;
  create policy tenant on {{ .schema }}.webhook_outages using (client_id = (select {{ .schema }}.aw_client()))
    with check (client_id = (select {{ .schema }}.aw_client()));
  revoke all on {{ .schema }}.webhook_outages from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on {{ .schema }}.webhook_outages from %I', r);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on {{ .schema }}.webhook_outages to service_role;
  end if;
end $$;
