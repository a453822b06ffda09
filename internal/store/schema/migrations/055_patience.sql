-- Whoever holds a reader's key, as a browser may, can ask what takes long. Supabase ends that after 8 s; PostgREST elsewhere
-- takes the setting of the role that a key names. A login in the role does not inherit it: docs/database.md.
set local search_path = pg_catalog, pg_temp;

do $$
begin
  if (select rolconfig from pg_roles where rolname = 'async_worker_reader') is null then
    alter role async_worker_reader set statement_timeout = '30s';
  end if;
exception when insufficient_privilege then
  raise notice 'could not set the statement timeout of async_worker_reader';
end $$;
