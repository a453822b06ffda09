-- Who may touch what, from here on (I10): the functions run as a role of their own, behind the policies, and a tenant's
-- keys and logins reach functions and views, and no table. Who may select from a table is told the planner's estimates,
-- by EXPLAIN and by PostgREST, and these come from the statistics of all tenants. What each role gets is in 95_rights.sql.
set local search_path = pg_catalog, pg_temp;

do $$
declare
  r text;
  vector_schema text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector');
begin
  foreach r in array array['aw_owner', 'async_worker_reader'] loop
    begin
      if not exists (select from pg_roles where rolname = r) then
        execute format('create role %I nologin', r);
      end if;
    exception when duplicate_object or unique_violation then
      null; -- another migration of this cluster was quicker
    end;
    if not (select rolsuper from pg_roles where rolname = current_user) then
      execute format('grant %I to %I', r, current_user); -- so that it can own what the migration makes
    end if;
    execute format('grant usage on schema {{ .schema }} to %I', r);
    begin
      execute format('grant usage on schema %I to %I', vector_schema, r);
    exception when insufficient_privilege then
      raise notice 'could not grant usage on schema % to %; everybody may have it already', vector_schema, r;
    end;
  end loop;
  if exists (select from pg_roles where rolname = 'authenticator')
     and not pg_has_role('authenticator', 'async_worker_reader', 'member') then
    grant async_worker_reader to authenticator; -- so that PostgREST can take it
  end if;
end $$;

-- What is signed is the id, a dot, the time, a dot and the body: an id with a dot could stand for another one with
-- another time. A row that is there already and has such an id is sent no more.
update {{ .schema }}.webhook_deliveries set status = 'refused', next_attempt_at = null, lease_expires_at = null,
  last_error = 'its id can not be signed'
where status = 'pending' and not (length(id) <= 128 and id ~ '^[A-Za-z0-9_-]+$');
alter table {{ .schema }}.webhook_deliveries
  drop constraint if exists webhook_deliveries_id_check,
  add constraint webhook_deliveries_id_check check (length(id) <= 128 and id ~ '^[A-Za-z0-9_-]+$') not valid;
