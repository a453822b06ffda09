-- Decks that convert made, and the limit of jobs that work on one document at once.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create table {{ .schema }}.decks (
  client_id       text        not null,
  id              uuid        not null,
  job_id          text        not null,
  source_filename text        not null,
  source_sha256   text,                 -- of the source's bytes, in hex
  title           text        not null,
  slides          integer     not null check (slides >= 0),
  blob            text        not null, -- with the deck's JSON
  preview_blob    text,                 -- a picture of all slides; null: there is none
  created_at      timestamptz not null default clock_timestamp(),
  primary key (client_id, id)
);
create index decks_by_job on {{ .schema }}.decks (job_id, client_id);

-- The fence under which the job works on its document: it holds it while that is its fence, and its lease has not ended.
alter table {{ .schema }}.jobs add column document_fence bigint;

do $$
declare
  r text;
begin
  alter table {{ .schema }}.decks enable row level security;
  alter table {{ .schema }}.decks force row level security;
  create policy tenant on {{ .schema }}.decks using (client_id = (select {{ .schema }}.aw_client()))
    with check (client_id = (select {{ .schema }}.aw_client()));
  revoke all on {{ .schema }}.decks from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on {{ .schema }}.decks from %I', r);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on {{ .schema }}.decks to service_role;
  end if;
end $$;
