-- What the agent's tools read: active versions only, of one document set or (null) of all sets of the client. The set
-- is part of each query here, so that no argument from a model can widen it. Values from p are read into variables
-- first: behind row-level security an expression over p can't use an index.

-- aw_uuids are the valid uuids among some texts.
create or replace function {{ .schema }}.aw_uuids(ids jsonb, most integer) returns uuid[]
language sql immutable set search_path = {{ .path }} as $$
  select coalesce(array_agg(t::uuid), '{}') from (
    select distinct t from jsonb_array_elements_text(ids) t
    where length(t) = 36 and t ~* '^[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+$'
      and t ~ '^.{8}-.{4}-.{4}-.{4}-.{12}$'
    limit most) x
$$;

-- aw_documents lists documents by name, those after p.after {filename, document_set}, at most p.limit. p.filter: name
-- or title contains it, in any case. p.details: also the warnings of the job that made the version, and whether
-- another job is replacing it.
create or replace function {{ .schema }}.aw_documents(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_set text := nullif(p ->> 'document_set', '');
  v_filter text := lower(coalesce(p ->> 'filter', ''));
  v_name text := coalesce(p #>> '{after,filename}', '');
  v_of text := coalesce(p #>> '{after,document_set}', '');
  v_limit integer := least(greatest(coalesce((p ->> 'limit')::int, 100), 1), 1000);
  v_details boolean := coalesce((p ->> 'details')::boolean, false);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('document_id', x.id, 'document_set', x.document_set, 'filename', x.filename,
        'title', x.title, 'language', x.language, 'pages', x.pages, 'version', x.active_version, 'chunks', v.chunks,
        'updated_at', x.updated_at) || case when v_details then jsonb_build_object('job_id', v.job_id,
          'state', case when exists (
              select from {{ .schema }}.document_versions s
              join {{ .schema }}.jobs w
                on w.client_id = s.client_id and w.id = s.job_id and w.status in ('pending', 'running')
              where s.client_id = x.client_id and s.document_id = x.id and s.status = 'staged')
            then 'replacing' else 'active' end,
          'warnings', (select case when jsonb_typeof(j.result -> 'warnings') = 'array' then j.result -> 'warnings' end
                       from {{ .schema }}.jobs j where j.client_id = x.client_id and j.id = v.job_id)) else '{}' end
        order by x.filename, x.document_set)
    from (select d.* from {{ .schema }}.documents d
          where d.client_id = v_client and d.active_version is not null
            and (v_set is null or d.document_set = v_set)
            and (v_filter = '' or strpos(lower(d.filename), v_filter) > 0
                 or strpos(lower(coalesce(d.title, '')), v_filter) > 0)
            and (d.filename, d.document_set) > (v_name, v_of)
          order by d.filename, d.document_set limit v_limit) x
    join {{ .schema }}.document_versions v
      on v.client_id = x.client_id and v.document_id = x.id and v.version = x.active_version), '[]');
end $$;

-- aw_find_document are the active documents that a name identifies: an id, or a filename, which two sets may share.
create or replace function {{ .schema }}.aw_find_document(
  client text, in_set text, named text
) returns setof {{ .schema }}.documents
language plpgsql stable rows 1 set search_path = {{ .path }} as $$
declare
  v_ids uuid[] := {{ .schema }}.aw_uuids(jsonb_build_array(named), 1);
begin
  return query select d.* from {{ .schema }}.documents d
    where d.client_id = aw_find_document.client and d.id = any (v_ids) and d.active_version is not null
      and (aw_find_document.in_set is null or d.document_set = aw_find_document.in_set);
  if not found then
    return query select d.* from {{ .schema }}.documents d
      where d.client_id = aw_find_document.client and d.filename = named and d.active_version is not null
        and (aw_find_document.in_set is null or d.document_set = aw_find_document.in_set)
      order by d.document_set limit 20;
  end if;
end $$;

-- aw_passage is a chunk as tools show and cite it.
create or replace function {{ .schema }}.aw_passage(
  c {{ .schema }}.document_chunks, d {{ .schema }}.documents
) returns jsonb
language sql stable set search_path = {{ .path }} as $$
  select jsonb_build_object('chunk_id', c.id, 'document_id', d.id, 'document_set', d.document_set,
    'filename', d.filename, 'version', c.version, 'position', c.position, 'content', c.content,
    'heading_path', c.heading_path, 'pages', c.pages, 'kind', c.kind)
$$;

-- aw_passages are chunks by their ids, with p.around neighbours of each on both sides, ordered by document and
-- position, each once; at most p.limit.
create or replace function {{ .schema }}.aw_passages(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_set text := nullif(p ->> 'document_set', '');
  v_ids uuid[] := {{ .schema }}.aw_uuids(p -> 'ids', 200);
  v_around integer := least(greatest(coalesce((p ->> 'around')::int, 0), 0), 10);
  v_limit integer := least(greatest(coalesce((p ->> 'limit')::int, 100), 1), 1000);
begin
  return coalesce((
    select jsonb_agg(x.passage order by x.filename, x.document_set, x.position)
    from (select {{ .schema }}.aw_passage(c, d) as passage, d.filename, d.document_set, c.position
          from (select distinct o.document_id, o.version, o.position + n.by as position
                from {{ .schema }}.document_chunks o, generate_series(-v_around, v_around) n(by)
                where o.client_id = v_client and o.id = any (v_ids)) near
          join {{ .schema }}.document_chunks c
            on c.client_id = v_client and c.document_id = near.document_id and c.version = near.version
              and c.position = near.position
          join {{ .schema }}.documents d
            on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
          where v_set is null or d.document_set = v_set
          order by d.filename, d.document_set, c.position limit v_limit) x), '[]');
end $$;

-- aw_document_passages are the chunks of a document's active version from position p.from on, at most p.limit; with
-- p.page those of that page, with their boxes. The document is identified by its id.
create or replace function {{ .schema }}.aw_document_passages(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_set text := nullif(p ->> 'document_set', '');
  v_ids uuid[] := {{ .schema }}.aw_uuids(jsonb_build_array(p ->> 'document_id'), 1);
  v_from integer := coalesce((p ->> 'from')::int, 0);
  v_limit integer := least(greatest(coalesce((p ->> 'limit')::int, 100), 1), 1000);
  v_page integer := (p ->> 'page')::int;
begin
  return coalesce((
    select jsonb_agg(x.passage order by x.position)
    from (select {{ .schema }}.aw_passage(c, d)
                   || case when v_page is null then '{}' else jsonb_build_object('boxes', c.boxes) end as passage, c.position
          from {{ .schema }}.documents d
          join {{ .schema }}.document_chunks c
            on c.client_id = d.client_id and c.document_id = d.id and c.version = d.active_version
              and c.position >= v_from
              and (v_page = any (c.pages) or v_page is null and c.position < v_from + v_limit)
          where d.client_id = v_client and d.id = any (v_ids) and (v_set is null or d.document_set = v_set)
          order by c.position limit v_limit) x), '[]');
end $$;

-- aw_outlines are the documents that a name identifies, each with its headings and the chunks in which they begin. A
-- document without a stored outline gets the headings of its chunks.
create or replace function {{ .schema }}.aw_outlines(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_set text := nullif(p ->> 'document_set', '');
  v_named text := p ->> 'document';
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('document_id', d.id, 'document_set', d.document_set, 'filename', d.filename,
        'title', d.title, 'language', d.language, 'pages', d.pages, 'version', d.active_version,
        'blob', d.blob, 'content_sha256', d.content_sha256,
        'chunks', (select v.chunks from {{ .schema }}.document_versions v
                   where v.client_id = d.client_id and v.document_id = d.id and v.version = d.active_version),
        'headings', coalesce(case when jsonb_array_length(d.outline) > 0 then (
            select jsonb_agg(h || jsonb_build_object('chunk_id', (
                select c.id from {{ .schema }}.document_chunks c
                where c.client_id = d.client_id and c.document_id = d.id and c.version = d.active_version
                  and c.position = o.chunk)) order by n)
            from (select h, n, (h ->> 'chunk')::int as chunk
                  from jsonb_array_elements(d.outline) with ordinality e(h, n)
                  where n <= 1000 offset 0) o)
          else (
            select jsonb_agg(jsonb_build_object(
                'level', cardinality(x.heading_path), 'text', x.heading_path[cardinality(x.heading_path)],
                'page', x.pages[1], 'chunk', x.position, 'chunk_id', x.id) order by x.position)
            from (select distinct on (c.heading_path) c.* from {{ .schema }}.document_chunks c
                  where c.client_id = d.client_id and c.document_id = d.id and c.version = d.active_version
                    and cardinality(c.heading_path) > 0
                  order by c.heading_path, c.position limit 1000) x)
          end, '[]')) order by d.document_set)
    from {{ .schema }}.aw_find_document(v_client, v_set, v_named) d), '[]');
end $$;

-- The effect save_agent_run: an answer, its citations and what it cost.
create or replace function {{ .schema }}.aw_effect_save_agent_run(
  client text, job text, fence bigint, args jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_requested_by text := (select j.requested_by from {{ .schema }}.jobs j where j.client_id = client and j.id = job);
  v_run uuid;
begin
  insert into {{ .schema }}.agent_runs (
    client_id, job_id, task_type, document_set, requested_by, prompt, answer, citations, steps, model, prompt_tokens,
    completion_tokens, retrieval_only, details)
  values (client, job, args ->> 'task_type', args ->> 'document_set', v_requested_by, args ->> 'prompt',
          args ->> 'answer', coalesce(args -> 'citations', '[]'), coalesce(args -> 'steps', '[]'), args ->> 'model',
          (args ->> 'prompt_tokens')::bigint, (args ->> 'completion_tokens')::bigint,
          (args ->> 'retrieval_only')::boolean, args -> 'details')
  returning id into v_run;
  return jsonb_build_object('run_id', v_run);
end $$;
