-- What search needs to stay quick among many chunks of many tenants.
set local search_path = {{ .schema }}, extensions, public;

create index if not exists documents_by_set on documents (document_set, client_id);

-- With the client beside the words the index gives this client's chunks, and not first everybody's that have a
-- frequent word. btree_gin is part of PostgreSQL, though it may not be installed.
do $$
begin
  if exists (select from pg_available_extensions where name = 'btree_gin')
     and not exists (select from pg_extension where extname = 'btree_gin') then
    if exists (select from pg_namespace where nspname = 'extensions') then
      create extension btree_gin with schema extensions;
    else
      create extension btree_gin with schema public;
    end if;
  end if;
exception when insufficient_privilege then
  raise notice 'could not install btree_gin; search for words will be slower when many clients share the database';
end $$;
do $$
begin
  if exists (select from pg_extension where extname = 'btree_gin') then
    create index if not exists document_chunks_words on document_chunks using gin (search, client_id);
    drop index if exists document_chunks_search;
  end if;
end $$;

-- Behind row-level security the index of words is of no use: @@ is not leakproof, so that the policy has to be
-- evaluated first, on each of the tenant's chunks. So one function that only ever looks for the session's own client,
-- aw_matching_own, runs as a role that may read these two tables and nothing else, and there every row.
do $$
begin
  if not exists (select from pg_roles where rolname = 'aw_searcher') then
    create role aw_searcher nologin;
  end if;
exception when duplicate_object or unique_violation then
  null; -- another migration of this cluster was quicker
end $$;
do $$
declare
  vector_schema text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace
                         where e.extname = 'vector');
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant aw_searcher to %I', current_user); -- so that it can own what the migration makes
  end if;
  execute format('grant usage on schema %I to aw_searcher', '{{ .schema }}');
  begin
    execute format('grant usage on schema %I to aw_searcher', vector_schema);
  exception when insufficient_privilege then
    raise notice 'could not grant usage on schema % to aw_searcher; everybody may have it already', vector_schema;
  end;
end $$;
grant select on documents, document_chunks to aw_searcher;
drop policy if exists search on documents;
drop policy if exists search on document_chunks;
create policy search on documents for select to aw_searcher using (true);
create policy search on document_chunks for select to aw_searcher using (true);
