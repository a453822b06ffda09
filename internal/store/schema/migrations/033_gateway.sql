-- What the gateway answered, for everybody who asks the same (functions/63_gateway.sql), and the checks of its answers by
-- a model.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- A row is one question: the bytes of a file with all that decides the answer. A job claims it, asks, and keeps the
-- answer; another one waits or takes what is kept.
create table {{ .schema }}.gateway_answers (
  client_id     text        not null,
  key           text        not null check (length(key) between 1 and 128), -- a hash of the question
  source_sha256 text        not null,           -- of the file, in hex
  mapping       text        not null,
  mode          text        not null,           -- direct, checked; or the step of a checked one
  fence         bigint      not null default 0, -- rises with every claim
  job_id        text,                           -- who asks; null: nobody
  job_fence     bigint,                         -- under which fence of its own
  blob          text,                           -- the answer that is kept; null: none
  sha256        text,                           -- of the answer, in hex
  bytes         bigint,
  http_status   integer,
  gateway_ms    bigint,
  details       jsonb,                          -- what the handler adds, e.g. the check by a model
  kept_by       text,                           -- the job that paid, in which of its series
  kept_series   integer,
  expiring      boolean     not null default false, -- its blob is being removed
  used_at       timestamptz not null default clock_timestamp(), -- when it was claimed or kept last
  created_at    timestamptz not null default clock_timestamp(),
  primary key (key, client_id)
);
create index gateway_answers_by_age on {{ .schema }}.gateway_answers (used_at, client_id);

create table {{ .schema }}.llm_checks (
  client_id  text        not null,
  id         uuid        not null default gen_random_uuid(),
  job_id     text        not null,
  confidence real        not null check (confidence between 0 and 1),
  verdict    text        not null,               -- agrees, differs, unsure
  findings   jsonb       not null default '[]',  -- [{path, value, page, problem, pages}]
  model      text        not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (id, client_id)
);
create index llm_checks_by_job on {{ .schema }}.llm_checks (job_id, client_id);

do $$
declare
  t text;
  r text;
begin
  foreach t in array array['gateway_answers', 'llm_checks'] loop
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
