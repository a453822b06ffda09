-- Documents, their versions, and the chunks that search finds.
set local search_path = {{ .schema }}, extensions, public;

-- pgvector goes beside the other extensions on Supabase, else into public; where it is already, it stays.
do $$
declare
  installed text := (select extversion from pg_extension where extname = 'vector');
begin
  if installed is null then
    if exists (select from pg_namespace where nspname = 'extensions') then
      create extension vector with schema extensions;
    else
      create extension vector with schema public;
    end if;
  elsif (string_to_array(split_part(installed, '-', 1), '.')::int[]) < array[0, 7] then
    raise exception 'pgvector % has no halfvec', installed
      using hint = 'install pgvector 0.7 or newer, then: alter extension vector update';
  end if;
end $$;

create table documents (
  client_id      text        not null,
  id             uuid        not null default gen_random_uuid(),
  document_set   text        not null,
  filename       text        not null,
  blob           text        not null,
  source_etag    text,
  content_sha256 text,       -- of the active version's bytes; written only by the commit that activates it
  active_version integer,    -- null: no version is complete yet, and no reader sees the document
  pages          integer,
  title          text,
  metadata       jsonb       not null default '{}',
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (id, client_id),
  unique (filename, document_set, client_id)
);

create table document_versions (
  client_id      text        not null,
  document_id    uuid        not null,
  version        integer     not null check (version >= 1),
  status         text        not null check (status in ('staged', 'active', 'superseded')),
  job_id         text        not null, -- that made it
  content_sha256 text,
  pipeline       text,
  pages          integer,
  chunks         integer,
  characters     integer,
  extractor      text,
  created_at     timestamptz not null default now(),
  activated_at   timestamptz,
  superseded_at  timestamptz,
  primary key (document_id, client_id, version),
  foreign key (client_id, document_id) references documents (client_id, id) on delete cascade
);

create unique index document_versions_one_active on document_versions (document_id, client_id) where status = 'active';
create unique index document_versions_one_staged on document_versions (document_id, client_id) where status = 'staged';
create index document_versions_staged_by_job on document_versions (job_id, client_id) where status = 'staged';

-- What full-text search looks at: the headings weigh more than the text. 'simple' does not stem: the
-- documents' languages are many, and the vectors find what is only similar. array_to_string is not marked
-- immutable because of types whose text depends on settings; text is none of them.
create function aw_fulltext(heading_path text[], content text) returns tsvector
language sql immutable parallel safe
return setweight(to_tsvector('pg_catalog.simple'::regconfig, array_to_string(heading_path, ' ')), 'A')
    || setweight(to_tsvector('pg_catalog.simple'::regconfig, content), 'B');

create table document_chunks (
  client_id    text     not null,
  id           uuid     not null default gen_random_uuid(),
  document_id  uuid     not null,
  version      integer  not null,
  position     integer  not null check (position >= 0),
  content      text     not null,
  heading_path text[]   not null default '{}',
  pages        integer[] not null default '{}',
  kind         text     not null default 'text',
  tokens       integer  not null default 0,
  chunk_key    text     not null, -- hash of the embedded text, model, dimensions and chunker
  boxes        jsonb    not null default '[]',
  model        text     not null, -- that made the embedding
  embedding    halfvec({{ .dimensions }}) not null,
  search       tsvector generated always as (aw_fulltext(heading_path, content)) stored,
  primary key (id, client_id),
  unique (document_id, version, position, client_id),
  foreign key (client_id, document_id, version)
    references document_versions (client_id, document_id, version) on delete cascade
);

create index document_chunks_by_key on document_chunks (chunk_key, client_id);
create index document_chunks_search on document_chunks using gin (search);
create index document_chunks_embedding on document_chunks using hnsw (embedding halfvec_cosine_ops);

-- What the two search functions of the frontend return.
create type document_chunk_hit as (
  id           uuid,
  document_id  uuid,
  document_set text,
  filename     text,
  version      integer,
  content      text,
  heading_path text[],
  pages        integer[],
  boxes        jsonb,
  kind         text,
  similarity   double precision, -- cosine, -1 to 1; 0 when only the text matched
  score        double precision  -- what the rows are ordered by, higher is better
);
