-- What a summary was asked for and cost, and the answers that it is made of, for the next attempt or version.
set local search_path = {{ .schema }}, extensions, public;

alter table summaries
  add column blob              text,
  add column source_sha256     text,    -- of the document's bytes, in hex
  add column style             text,    -- brief, detailed, bullets
  add column language          text,    -- of the summary: a BCP 47 tag; und: it can't be told
  add column max_words         integer, -- null: none was asked for
  add column extractive        boolean, -- sentences of the document, chosen without a model
  add column unverified        jsonb,   -- [{kind, text, in_document}]: what of the summary is not in the text it cites
  add column left_out          jsonb,   -- [{heading, pages, reason}]: what of the document is not in the summary
  add column prompt_tokens     bigint,  -- as the model's service counts them, of all attempts of the task
  add column completion_tokens bigint,
  add column requested_by      text;

create index summaries_by_file on summaries (filename, created_at, client_id);

-- A model's answer to one call of a task that takes many, under the hash of all that it depends on.
create table partials (
  client_id         text        not null,
  key               text        not null check (length(key) <= 128),
  answer            jsonb       not null check (octet_length(answer::text) <= 262144),
  prompt_tokens     bigint      not null check (prompt_tokens >= 0),
  completion_tokens bigint      not null check (completion_tokens >= 0),
  job_id            text        not null, -- who paid for it, in which of its series
  series            integer     not null,
  created_at        timestamptz not null default now(),
  primary key (key, client_id)
);

create index partials_by_age on partials (created_at, client_id);

do $$
declare
  r text;
begin
  alter table partials enable row level security;
  alter table partials force row level security;
  create policy tenant on partials using (client_id = (select aw_client()))
    with check (client_id = (select aw_client()));
  revoke all on partials from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on partials from %I', r);
    end if;
  end loop;
  grant select, insert, update, delete on partials to async_worker;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on partials to service_role;
  end if;
end $$;
