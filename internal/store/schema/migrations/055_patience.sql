-- Whoever holds a reader's key, as a browser may, can ask what takes long. Supabase gives PostgREST's login 8 s; PostgREST
-- takes the setting of the role that a key names before that of its login, so it is the same here. A login in the role does
-- not inherit it: docs/database.md.
set local search_path = pg_catalog, pg_temp;

do $$
begin
  if not exists (select from pg_roles where rolname = 'async_worker_reader'
      and array_to_string(rolconfig, ' ') ~ 'statement_timeout=') then
    alter role async_worker_reader set statement_timeout = '8s';
    notify pgrst, 'reload config';
  end if;
exception when insufficient_privilege then
  raise notice 'could not set the statement timeout of async_worker_reader';
end $$;
