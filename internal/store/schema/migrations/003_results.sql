-- What the handlers other than ingest leave behind.
set local search_path = {{ .schema }}, extensions, public;

create table summaries (
  client_id  text        not null,
  id         uuid        not null default gen_random_uuid(),
  job_id     text        not null,
  filename   text        not null,
  summary    text        not null,
  key_points jsonb       not null default '[]',
  model      text        not null,
  created_at timestamptz not null default now(),
  primary key (id, client_id)
);
create index summaries_by_job on summaries (job_id, client_id);

create table agent_runs (
  client_id  text        not null,
  id         uuid        not null default gen_random_uuid(),
  job_id     text        not null,
  prompt     text        not null,
  answer     text        not null,
  citations  jsonb       not null default '[]',
  steps      jsonb       not null default '[]',
  model      text        not null,
  created_at timestamptz not null default now(),
  primary key (id, client_id)
);
create index agent_runs_by_job on agent_runs (job_id, client_id);

create table derived_contents (
  client_id       text        not null,
  id              uuid        not null default gen_random_uuid(),
  job_id          text        not null,
  source_filename text        not null,
  blob            text        not null,
  format          text        not null,
  engine          text        not null,
  page_count      integer,
  created_at      timestamptz not null default now(),
  primary key (id, client_id)
);
create index derived_contents_by_job on derived_contents (job_id, client_id);
