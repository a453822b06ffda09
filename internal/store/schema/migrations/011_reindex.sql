-- What re-indexing is decided by, what it reused, and what the upkeep looks for.
set local search_path = {{ .schema }}, extensions, public;

-- As in 006: a table can't be rewritten while a function with a parsed body takes its rows.
do $$
declare
  f regprocedure;
begin
  for f in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = '{{ .schema }}'::regnamespace and p.proname like 'aw\_%' and p.prosqlbody is not null
      and exists (select from unnest(p.proargtypes) t join pg_class c on c.reltype = t and c.relkind = 'r')
  loop
    execute format('drop function %s', f);
  end loop;
end $$;

alter table document_versions
  add column if not exists text_sha256 text, -- of what was extracted: text, structure and where it stands
  add column if not exists format      text; -- as it was detected: it chooses the extractor

-- A chunk whose vector was not made for its version: the tenant had it.
alter table document_chunks add column if not exists reused boolean not null default false;

create index if not exists document_versions_superseded on document_versions (superseded_at, client_id)
  where status = 'superseded';
create index if not exists document_versions_staged_by_age on document_versions (created_at, client_id)
  where status = 'staged';
create index if not exists documents_without_version on documents (created_at, client_id) where active_version is null;
