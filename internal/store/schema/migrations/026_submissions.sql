-- Submissions over HTTP: keys that make a repeated request harmless, jobs that wait for their time, and the document that
-- a job works on.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- Without a value for the rows that are there, as in 017.
alter table {{ .schema }}.jobs add column run_at timestamptz; -- its message is not sent before
-- See aw_document_key; null: none, or a row from before. A function's result, as a policy keeps indexes on expressions
-- from being used.
alter table {{ .schema }}.jobs add column document text;
create index jobs_active_by_document on {{ .schema }}.jobs (document, client_id)
  where document is not null and status in ('pending', 'running');

create table {{ .schema }}.idempotency_keys (
  client_id   text        not null,
  key         text        not null check (length(key) <= 64), -- a hash of whose key it is and of the key
  fingerprint text        not null,                           -- of the request
  job_id      text        not null,
  answer      jsonb,                                          -- the job, as it was answered first
  created_at  timestamptz not null default clock_timestamp(),
  primary key (key, client_id)
);
create index idempotency_keys_by_age on {{ .schema }}.idempotency_keys (created_at, client_id);

do $$
declare
  r text;
begin
  alter table {{ .schema }}.idempotency_keys enable row level security;
  alter table {{ .schema }}.idempotency_keys force row level security;
  create policy tenant on {{ .schema }}.idempotency_keys using (client_id = (select {{ .schema }}.aw_client()))
    with check (client_id = (select {{ .schema }}.aw_client()));
  revoke all on {{ .schema }}.idempotency_keys from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on {{ .schema }}.idempotency_keys from %I', r);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on {{ .schema }}.idempotency_keys to service_role;
  end if;
end $$;
