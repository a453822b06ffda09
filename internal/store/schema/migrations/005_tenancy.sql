-- Who may touch what (I10): a role that can do nothing else, and row-level security on every table.
set local search_path = {{ .schema }}, extensions, public;

do $$
begin
  if not exists (select from pg_roles where rolname = 'async_worker') then
    create role async_worker nologin;
  end if;
exception when duplicate_object or unique_violation then
  null; -- another migration of this cluster was quicker
end $$;

do $$
declare
  vector_schema text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace
                         where e.extname = 'vector');
begin
  -- So that a direct login can SET ROLE, and PostgREST too.
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant async_worker to %I', current_user);
  end if;
  if exists (select from pg_roles where rolname = 'authenticator')
     and not pg_has_role('authenticator', 'async_worker', 'member') then
    grant async_worker to authenticator;
  end if;
  execute format('grant usage on schema %I to async_worker', '{{ .schema }}');
  if exists (select from pg_roles where rolname = 'service_role') then
    execute format('grant usage on schema %I to service_role', '{{ .schema }}');
  end if;
  begin
    execute format('grant usage on schema %I to async_worker', vector_schema);
  exception when insufficient_privilege then
    raise notice 'could not grant usage on schema % to async_worker; everybody may have it already', vector_schema;
  end;
end $$;

-- A batch of chunks takes longer than the few seconds that Supabase gives its web roles.
do $$
begin
  if (select rolconfig from pg_roles where rolname = 'async_worker') is null then
    alter role async_worker set statement_timeout = '60s';
  end if;
exception when insufficient_privilege then
  raise notice 'could not set the statement timeout of async_worker';
end $$;

-- The subselect makes the planner ask once a query and not once a row. Nobody gets TRUNCATE: row-level
-- security does not hold there. The story of a job is only added to.
do $$
declare
  t record;
  r text;
begin
  for t in select * from (values
    ('jobs', 'select, insert, update'),
    ('job_events', 'select, insert'),
    ('dead_letters', 'select, insert, update'),
    ('webhook_deliveries', 'select, insert, update'),
    ('documents', 'select, insert, update, delete'),
    ('document_versions', 'select, insert, update, delete'),
    ('document_chunks', 'select, insert, update, delete'),
    ('summaries', 'select, insert'),
    ('agent_runs', 'select, insert'),
    ('derived_contents', 'select, insert')) as v(name, privileges) loop
    execute format('alter table %I enable row level security', t.name);
    execute format('alter table %I force row level security', t.name);
    execute format('create policy tenant on %I using (client_id = (select aw_client()))
                    with check (client_id = (select aw_client()))', t.name);
    -- Supabase grants everything in public to its web roles by default.
    foreach r in array array['anon', 'authenticated', 'service_role'] loop
      if exists (select from pg_roles where rolname = r) then
        execute format('revoke all on %I from %I', t.name, r);
      end if;
    end loop;
    execute format('revoke all on %I from public', t.name);
    execute format('grant %s on %I to async_worker', t.privileges, t.name);
    if exists (select from pg_roles where rolname = 'service_role') then
      execute format('grant select, insert, update, delete on %I to service_role', t.name);
    end if;
  end loop;
end $$;

-- The version is everybody's who works here, to read.
alter table aw_schema_version enable row level security;
create policy everybody on aw_schema_version for select using (true);
do $$
declare
  r text;
begin
  revoke all on aw_schema_version from public;
  foreach r in array array['anon', 'authenticated', 'service_role', 'async_worker'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on aw_schema_version from %I', r);
    end if;
  end loop;
  grant select on aw_schema_version to async_worker;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select on aw_schema_version to service_role;
  end if;
end $$;
