-- aw_check tells a worker whether it can work with this schema under its key.
create or replace function {{ .schema }}.aw_check(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_bypass boolean := (select rolsuper or rolbypassrls from pg_roles where rolname = current_user);
begin
  if {{ .schema }}.aw_client() is null and not v_bypass then
    raise exception 'this key names no client: it needs the claim client_id' using errcode = 'AW004';
  end if;
  perform from {{ .schema }}.jobs where client_id = v_client limit 1;
  return jsonb_build_object('version', (select version from {{ .schema }}.aw_schema_version), 
    'dimensions', (select atttypmod from pg_attribute where attrelid = '{{ .schema }}.document_chunks'::regclass and attname = 'embedding'),
    'role', current_user, 'bound_to', {{ .schema }}.aw_client(), 'every_tenant', v_bypass and {{ .schema }}.aw_client() is null);
end $$;

-- The one function that runs as its owner gets an owner that may do next to nothing: see 012_search.sql. Without it,
-- it runs as the owner of the schema, and finds the same; if policies hold for that one, more slowly.
do $$
declare
  f constant regprocedure := (select oid from pg_proc where pronamespace = '{{ .schema }}'::regnamespace and proname = 'aw_matching_own');
begin
  if (select proowner <> 'aw_searcher'::regrole from pg_proc where oid = f) then
    grant create on schema {{ .schema }} to aw_searcher; -- an owner needs it at this moment
    execute format('alter function %s owner to aw_searcher', f);
    revoke create on schema {{ .schema }} from aw_searcher;
  end if;
exception when insufficient_privilege then
  raise notice 'could not make aw_searcher the owner of %', f;
end $$;

-- Who may call: the worker's role and the service key. Nobody else, whatever the defaults of this database are.
do $$
declare
  f regprocedure;
  r text;
begin
  for f in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = '{{ .schema }}'::regnamespace
      and (p.proname like 'aw\_%' or p.proname in ('match_document_chunks', 'hybrid_search'))
  loop
    execute format('revoke all on function %s from public', f);
    foreach r in array array['anon', 'authenticated'] loop
      if exists (select from pg_roles where rolname = r) then
        execute format('revoke all on function %s from %I', f, r);
      end if;
    end loop;
    foreach r in array array['async_worker', 'service_role'] loop
      if exists (select from pg_roles where rolname = r) then
        execute format('grant execute on function %s to %I', f, r);
      end if;
    end loop;
    if f::oid in (select oid from pg_proc where proname in ('aw_client', 'aw_matching')) then
      execute format('grant execute on function %s to aw_searcher', f); -- what aw_matching_own calls
    end if;
  end loop;
end $$;

notify pgrst, 'reload schema';
