-- What OCR read of a page, for the next attempt; and how each page of a version was read.
set local search_path = {{ .schema }}, extensions, public;

create table page_results (
  client_id  text        not null,
  source     text        not null check (length(source) <= 128),   -- hash of the document's bytes
  reader     text        not null check (length(reader) <= 1024),  -- the engine with its version and options
  page       integer     not null check (page >= 1),
  reading    bytea       not null check (octet_length(reading) <= 262144), -- the worker's, compressed
  created_at timestamptz not null default now(),
  primary key (source, reader, page, client_id)
);

create index page_results_by_age on page_results (created_at, client_id);
alter table page_results alter column reading set storage external; -- it is compressed already

do $$
declare
  r text;
begin
  alter table page_results enable row level security;
  alter table page_results force row level security;
  create policy tenant on page_results using (client_id = (select aw_client()))
    with check (client_id = (select aw_client()));
  revoke all on page_results from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on page_results from %I', r);
    end if;
  end loop;
  grant select, insert, update, delete on page_results to async_worker;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on page_results to service_role;
  end if;
end $$;

-- Ranges of pages as {first, last, method, confidence, reason}; null: the format has no pages.
alter table document_versions add column page_log jsonb;
