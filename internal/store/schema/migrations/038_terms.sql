-- The words of chunks for BM25 (functions/61_terms.sql): each chunk's terms, and in how many chunks a term is. Nothing of
-- document_chunks is rewritten: its rows are in the index of vectors, which is dear to update. What was indexed before is
-- filled by aw_index_terms; until then searches rank by presence of words, as before.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- The chunks of active versions, and no others.
create table {{ .schema }}.chunk_terms (
  client_id   text     not null,
  chunk_id    uuid     not null,
  document_id uuid     not null,
  language    text     not null, -- whose stemmer made the terms, ISO 639-1; empty: undetermined
  words       integer  not null, -- the length, for BM25
  terms       tsvector not null,
  primary key (chunk_id, client_id)
);
-- Searches read the terms of thousands of rows: uncompressed they are read in place.
alter table {{ .schema }}.chunk_terms set (toast_tuple_target = 8160);

-- The version whose chunks are in chunk_terms; null: none.
alter table {{ .schema }}.documents add column terms_version integer;
create index documents_without_terms on {{ .schema }}.documents (client_id, id)
  where active_version is not null and terms_version is distinct from active_version;

-- The counts are kept in parts, so that no two transactions wait for each other: a transaction locks a part that is free,
-- or makes one. A count is the sum over the parts; that of one part may be negative.
create table {{ .schema }}.term_parts (
  client_id text    not null,
  part      integer not null,
  primary key (part, client_id)
);
create table {{ .schema }}.term_counts (
  client_id text    not null,
  term      text    not null,
  part      integer not null,
  chunks    bigint  not null, -- that have the term
  primary key (term, client_id, part)
) with (fillfactor = 80);
create table {{ .schema }}.term_totals (
  client_id text    not null,
  language  text    not null,
  part      integer not null,
  chunks    bigint  not null,
  words     bigint  not null, -- the sum of their lengths
  primary key (language, client_id, part)
) with (fillfactor = 50);

do $$
declare
  t text;
  r text;
begin
  if exists (select from pg_extension where extname = 'btree_gin') then
    create index chunk_terms_by_term on {{ .schema }}.chunk_terms using gin (terms, client_id);
  else
    create index chunk_terms_by_term on {{ .schema }}.chunk_terms using gin (terms);
  end if;
  foreach t in array array['chunk_terms', 'term_parts', 'term_counts', 'term_totals'] loop
    execute format('alter table {{ .schema }}.%I enable row level security', t);
    execute format('alter table {{ .schema }}.%I force row level security', t);
    execute format('create policy tenant on {{ .schema }}.%I using (client_id = (select {{ .schema }}.aw_client()))
      with check (client_id = (select {{ .schema }}.aw_client()))', t);
    execute format('revoke all on {{ .schema }}.%I from public', t);
    foreach r in array array['anon', 'authenticated', 'service_role'] loop
      if exists (select from pg_roles where rolname = r) then
        execute format('revoke all on {{ .schema }}.%I from %I', t, r);
      end if;
    end loop;
    if exists (select from pg_roles where rolname = 'service_role') then
      execute format('grant select, insert, update, delete on {{ .schema }}.%I to service_role', t);
    end if;
  end loop;
  -- For the same reason as documents and document_chunks: see 012_search.sql.
  foreach t in array array['chunk_terms', 'term_counts', 'term_totals'] loop
    execute format('grant select on {{ .schema }}.%I to aw_searcher', t);
    execute format('create policy search on {{ .schema }}.%I for select to aw_searcher using (true)', t);
  end loop;
end $$;
