-- The outbox of documents for Cognee (functions/72_cognee.sql). A tenant that has no row in cognee_targets does not use
-- Cognee, and nothing is written for it.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create table {{ .schema }}.cognee_targets (
  client_id  text        not null primary key,
  since      timestamptz not null default clock_timestamp(),
  -- The circuit breaker. failing: the documents that failed since Cognee last answered.
  failing    text[]      not null default '{}',
  down_since timestamptz, -- null: it is not known to be down
  probe_at   timestamptz, -- while it is down, when the next request may be sent
  last_error text
);

-- One row per document, not per version: what waits is always the version that is active when it is sent.
create table {{ .schema }}.cognee_documents (
  client_id        text        not null,
  document_id      uuid        not null,
  document_set     text        not null,
  wanted           integer,              -- the version that Cognee is to have; null: none, it is to be forgotten
  status           text        not null check (status in ('pending', 'sent', 'refused', 'failed')),
  sent             integer,              -- the version that Cognee has; null: none, or it is not known
  data_id          text,                 -- Cognee's name for the document
  dataset_id       text,                 -- and for the dataset that it is in
  change           bigint,               -- of cognee_datasets.changes, that sent it
  fence            bigint      not null default 0, -- rises with every claim
  worker           text,
  lease_expires_at timestamptz,          -- null: nobody is sending it
  attempts         integer     not null default 0, -- that failed since the last success
  next_attempt_at  timestamptz not null default clock_timestamp(),
  queued_at        timestamptz not null default clock_timestamp(), -- since when it waits
  sent_at          timestamptz,
  response_status  integer,
  last_error       text,
  primary key (document_id, client_id)
);
create index cognee_documents_due on {{ .schema }}.cognee_documents (next_attempt_at, client_id)
  where status = 'pending';
create index cognee_documents_by_set on {{ .schema }}.cognee_documents (document_set, client_id)
  where status = 'pending';
create index cognee_documents_troubled on {{ .schema }}.cognee_documents (status, client_id)
  where status in ('refused', 'failed');

-- What Cognee is asked to make of the documents of a set (cognify). Changes are counted: those up to done are in its
-- graph, those up to covered are in the run that was asked for last.
create table {{ .schema }}.cognee_datasets (
  client_id        text        not null,
  document_set     text        not null,
  dataset_id       text        not null,
  state            text        not null default 'idle' check (state in ('idle', 'running', 'failed')),
  changes          bigint      not null default 0,
  covered          bigint      not null default 0,
  done             bigint      not null default 0,
  first_change_at  timestamptz, -- the first change that no run covers; null: there is none
  changed_at       timestamptz,
  asked_at         timestamptz,
  finished_at      timestamptz,
  fence            bigint      not null default 0,
  worker           text,
  lease_expires_at timestamptz,
  attempts         integer     not null default 0, -- that failed since the last success
  next_attempt_at  timestamptz not null default clock_timestamp(),
  last_error       text,
  primary key (document_set, client_id)
);

do $$
declare
  r text;
  t text;
begin
  foreach t in array array['cognee_targets', 'cognee_documents', 'cognee_datasets'] loop
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
end $$;
