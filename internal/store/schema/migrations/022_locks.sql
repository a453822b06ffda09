-- The lock of a tenant's outages of webhooks: a row, which only who may call the functions for this tenant can lock.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create table {{ .schema }}.webhook_locks (
  client_id text not null primary key
);

do $$
declare
  r text;
begin
  alter table {{ .schema }}.webhook_locks enable row level security;
  alter table {{ .schema }}.webhook_locks force row level security;
  create policy tenant on {{ .schema }}.webhook_locks using (client_id = (select {{ .schema }}.aw_client()))
    with check (client_id = (select {{ .schema }}.aw_client()));
  revoke all on {{ .schema }}.webhook_locks from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on {{ .schema }}.webhook_locks from %I', r);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on {{ .schema }}.webhook_locks to service_role;
  end if;
end $$;
