-- Which jobs have to do with what OCR read of a source, and which file a model's answers are about: so that a cancel and a
-- delete find what is theirs.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create table {{ .schema }}.page_result_jobs (
  client_id  text        not null,
  job_id     text        not null,
  source     text        not null check (length(source) <= 128), -- as in page_results
  filename   text,       -- as the job's payload has them
  blob       text,
  created_at timestamptz not null default now(),
  primary key (job_id, source, client_id)
);

create index page_result_jobs_by_source on {{ .schema }}.page_result_jobs (source, client_id);
create index page_result_jobs_by_file on {{ .schema }}.page_result_jobs (filename, client_id);
create index page_result_jobs_by_age on {{ .schema }}.page_result_jobs (created_at, client_id);

alter table {{ .schema }}.page_result_jobs enable row level security;
alter table {{ .schema }}.page_result_jobs force row level security;
create policy tenant on {{ .schema }}.page_result_jobs using (client_id = (select {{ .schema }}.aw_client())) with check (client_id = (select {{ .schema }}.aw_client()));
do $$
declare
  r text;
begin
  revoke all on {{ .schema }}.page_result_jobs from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop -- Supabase grants them all by default
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on {{ .schema }}.page_result_jobs from %I', r);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on {{ .schema }}.page_result_jobs to service_role;
  end if;
end $$;

alter table {{ .schema }}.partials add column filename text, add column blob text; -- as the payload of the job that paid for it has them
update {{ .schema }}.partials p set filename = j.payload ->> 'filename', blob = coalesce(nullif(j.payload ->> 'blob', ''), j.payload ->> 'filename')
from {{ .schema }}.jobs j where j.client_id = p.client_id and j.id = p.job_id;
create index partials_by_file on {{ .schema }}.partials (filename, client_id);

-- A delete and a cancel look for them by the bytes that they are of.
create index document_versions_by_content on {{ .schema }}.document_versions (content_sha256, client_id);
create index derived_contents_by_content on {{ .schema }}.derived_contents (source_sha256, client_id);
create index summaries_by_content on {{ .schema }}.summaries (source_sha256, client_id);
