-- Ingest: a version is staged beside the active one and becomes active in the transaction that completes the job. Lock
-- order: own job, document, version.
--
-- All statements here find few rows by the same keys, whatever the values are. Without force_generic_plan a connection
-- plans each of them for its first five calls, which costs more than they do.

-- aw_stage_document makes a staged version, or returns the one of an earlier attempt of this job. AW007 while another job
-- holds the document, or one that was sent before this one is ahead, so that an older version does not replace a newer one.
-- Ahead is who runs and has not staged yet, or was released, as the document was in other hands or the worker stopped. A
-- removal also waits for who tries again after a failure, or after a crash: it would undo the removal. Of jobs whose payload
-- has an address and no name those count that have the address of the document, or of the job that staged it last. Who waits
-- for a service that is down is not ahead, nor who did not come back in two minutes. The advised wait is half of how long others
-- have worked, and a second for each job that is ahead: the next one comes soon after the holder's end, and a long queue
-- asks seldom.
--   p.may_be_superseded: the caller knows the answer superseded_by, a job: see aw_superseded. Nothing is staged then, and the
--     version is 0. Workers of before take the document in any case.
create or replace function {{ .schema }}.aw_stage_document(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set plan_cache_mode = force_generic_plan as $$
declare
  v_now constant timestamptz := clock_timestamp();
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  d {{ .schema }}.documents;
  v_staged {{ .schema }}.document_versions;
  v_holder {{ .schema }}.jobs;
  v_keys text[] := array[j.document];
  v_ahead record;
  v_version integer;
begin
  loop -- until the document is there: the end of another job may remove one without a version
    insert into {{ .schema }}.documents (client_id, document_set, filename, blob)
    values (j.client_id, p ->> 'document_set', p ->> 'filename', p ->> 'blob')
    on conflict (client_id, document_set, filename) do nothing;
    select * into d from {{ .schema }}.documents
      where client_id = j.client_id and document_set = p ->> 'document_set' and filename = p ->> 'filename' for update;
    exit when found;
  end loop;
  if coalesce((p ->> 'may_be_superseded')::boolean, false) and {{ .schema }}.aw_superseded(d, j) then
    return jsonb_build_object('document_id', d.id, 'version', 0, 'active', {{ .schema }}.aw_active_version(d),
      'superseded_by', d.task_job_id);
  end if;

  select * into v_staged from {{ .schema }}.document_versions
    where client_id = j.client_id and document_id = d.id and status = 'staged';
  if found and v_staged.job_id <> j.id then
    v_keys := v_keys || (select o.document from {{ .schema }}.jobs o where o.client_id = j.client_id and o.id = v_staged.job_id);
    select * into v_holder from {{ .schema }}.jobs
      where client_id = j.client_id and id = v_staged.job_id and status = 'running' and lease_expires_at > v_now;
    if v_holder.id is null then
      -- Left behind by a job that has ended, or that nobody holds: the latter stages again when it continues.
      perform {{ .schema }}.aw_drop_version(j.client_id, d.id, v_staged.version);
      v_staged := null;
    end if;
  end if;
  if v_staged.job_id is distinct from j.id then
    if d.blob ~ '^https?://' then
      v_keys := v_keys || {{ .schema }}.aw_document_key('ingest', jsonb_build_object(
        'document_set', d.document_set, 'source_uri', d.blob));
    end if;
    select coalesce(v_holder.id, (array_agg(o.id order by coalesce(o.queued_at, o.created_at), o.id))[1]) as job,
           least(interval '30 seconds', greatest(count(*) * interval '1 second',
             (v_now - v_staged.created_at) / 2, max(o.not_before) - v_now)) as wait
      into v_ahead from (select distinct u.key from unnest(v_keys) u(key)) k
      cross join lateral ( -- by the index, also in a plan that was made while there were few jobs
        select * from {{ .schema }}.jobs x
        where x.client_id = j.client_id and x.document = k.key and x.status in ('pending', 'running') offset 0) o
      where (coalesce(o.queued_at, o.created_at), o.id) < (coalesce(j.queued_at, j.created_at), j.id)
        and (o.waiting_since is null or o.lease_expires_at > v_now) and o.id is distinct from v_holder.id
        and (o.status = 'pending' and o.not_before > v_now - interval '2 minutes' or o.lease_expires_at > v_now
             or j.payload -> 'delete' = 'true' and coalesce(o.lease_expires_at, o.not_before) > v_now - interval '2 minutes');
    if v_ahead.job is not null then
      raise exception '%', jsonb_build_object('job_id', v_ahead.job, 'retry_after_ms',
        {{ .schema }}.aw_ms_until(clock_timestamp() + v_ahead.wait)) using errcode = 'AW007';
    end if;
    select coalesce(max(version), 0) + 1 into v_version from {{ .schema }}.document_versions
      where client_id = j.client_id and document_id = d.id;
    insert into {{ .schema }}.document_versions (client_id, document_id, version, status, job_id)
    values (j.client_id, d.id, v_version, 'staged', j.id)
    returning * into v_staged;
  end if;

  return jsonb_build_object('document_id', d.id, 'version', v_staged.version,
    'active', {{ .schema }}.aw_active_version(d),
    'staged_keys', (select jsonb_object_agg(c.position, c.chunk_key) from {{ .schema }}.document_chunks c
                    where c.client_id = j.client_id and c.document_id = d.id and c.version = v_staged.version));
end $$;

-- aw_version_keys are the chunk keys of one version of a document, by position.
create or replace function {{ .schema }}.aw_version_keys(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_document uuid := p ->> 'document_id';
  v_version integer := p ->> 'version';
begin
  return coalesce((select jsonb_agg(c.chunk_key order by c.position) from {{ .schema }}.document_chunks c
                   where c.client_id = v_client and c.document_id = v_document and c.version = v_version), '[]');
end $$;

-- aw_version_contexts are the contexts of the chunks of one version of a document, by their keys; of equal chunks that of
-- the first one, whatever the order of the rows: of equal keys jsonb keeps the last.
create or replace function {{ .schema }}.aw_version_contexts(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_document uuid := p ->> 'document_id';
  v_version integer := p ->> 'version';
begin
  return coalesce((select jsonb_object_agg(c.chunk_key, jsonb_build_object('text', c.context, 'by', c.context_by)
                     order by c.position desc)
                   from {{ .schema }}.document_chunks c
                   where c.client_id = v_client and c.document_id = v_document and c.version = v_version
                     and c.context is not null), '{}');
end $$;

-- aw_known_chunks are those of the keys that the tenant has a chunk for.
create or replace function {{ .schema }}.aw_known_chunks(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_keys text[] := array(select jsonb_array_elements_text(p -> 'keys'));
begin
  return coalesce((select jsonb_agg(distinct c.chunk_key) from {{ .schema }}.document_chunks c
                   where c.client_id = v_client and c.chunk_key = any (v_keys)), '[]');
end $$;

-- aw_lock_staged_version locks a staged version of a job: for share (writers of chunks) or exclusively (its end). If
-- the version is gone, because the job's lease had expired and another job took the document, the job counts as
-- fenced. So no later task can have ended since this one staged (aw_superseded): it would have removed this version.
create or replace function {{ .schema }}.aw_lock_staged_version(
  j {{ .schema }}.jobs, document uuid, number integer, exclusive boolean
) returns {{ .schema }}.document_versions
language plpgsql set search_path = {{ .path }} as $$
declare
  v {{ .schema }}.document_versions;
begin
  if exclusive then
    select * into v from {{ .schema }}.document_versions s
      where s.client_id = j.client_id and s.document_id = document and s.version = number and s.job_id = j.id
        and s.status = 'staged' for update;
  else
    select * into v from {{ .schema }}.document_versions s
      where s.client_id = j.client_id and s.document_id = document and s.version = number and s.job_id = j.id
        and s.status = 'staged' for share;
  end if;
  if not found then
    raise exception 'job % has no staged version % of document %', j.id, number, document using errcode = 'AW001';
  end if;
  return v;
end $$;

-- aw_stage_vectors writes chunks of a staged version. A chunk's embedding is, in this order: the one at its place in
-- vectors; its own field, as text; one that the tenant has for the same key and context, and then the chunk counts as
-- reused. Keys without any are returned. A chunk that an earlier attempt has staged unchanged is not written again, and
-- counts as it did.
create or replace function {{ .schema }}.aw_stage_vectors(p jsonb, vectors {{ .vector }}.halfvec[]) returns jsonb
language plpgsql set search_path = {{ .path }} set plan_cache_mode = force_generic_plan as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  v {{ .schema }}.document_versions :=
    {{ .schema }}.aw_lock_staged_version(j, (p ->> 'document_id')::uuid, (p ->> 'version')::int, false);
  v_model text := p ->> 'model';
  v_missing jsonb;
begin
  with incoming as materialized (
    select c.*, coalesce(vectors[c.n], c.embedding::{{ .vector }}.halfvec, (
      select k.embedding from {{ .schema }}.document_chunks k
      where k.client_id = j.client_id and k.chunk_key = c.chunk_key and k.model = v_model
        and k.context is not distinct from c.context limit 1)) as vector
    from rows from (jsonb_to_recordset(p -> 'chunks') as (
      position integer, content text, heading_path text[], pages integer[], kind text, tokens integer,
      chunk_key text, boxes jsonb, language text, embedding text, reused boolean, context text, context_by text))
      with ordinality as c(position, content, heading_path, pages, kind, tokens, chunk_key, boxes, language, embedding,
                           reused, context, context_by, n)
  ), written as (
    insert into {{ .schema }}.document_chunks as o (
      client_id, document_id, version, position, content, heading_path, pages, kind, tokens, chunk_key, boxes,
      language, model, embedding, reused, context, context_by)
    select j.client_id, v.document_id, v.version, i.position, i.content, coalesce(i.heading_path, '{}'),
           coalesce(i.pages, '{}'), coalesce(nullif(i.kind, ''), 'text'), coalesce(i.tokens, 0), i.chunk_key,
           coalesce(nullif(i.boxes, 'null'), '[]'), nullif(i.language, ''), v_model, i.vector,
           vectors[i.n] is null and i.embedding is null or coalesce(i.reused, false), i.context, i.context_by
    from incoming i where i.vector is not null
    on conflict (client_id, document_id, version, position) do update set
      content = excluded.content, heading_path = excluded.heading_path, pages = excluded.pages, kind = excluded.kind,
      tokens = excluded.tokens, chunk_key = excluded.chunk_key, boxes = excluded.boxes, language = excluded.language,
      model = excluded.model, embedding = excluded.embedding, context = excluded.context,
      context_by = excluded.context_by,
      reused = case when (o.chunk_key, o.model, o.context)
                           is not distinct from (excluded.chunk_key, excluded.model, excluded.context) then o.reused
                    else excluded.reused end
    where (o.chunk_key, o.model, o.content, o.heading_path, o.pages, o.kind, o.tokens, o.boxes, o.language, o.context,
           o.context_by)
      is distinct from (excluded.chunk_key, excluded.model, excluded.content, excluded.heading_path, excluded.pages,
       excluded.kind, excluded.tokens, excluded.boxes, excluded.language, excluded.context, excluded.context_by)
  )
  select jsonb_agg(distinct i.chunk_key) into v_missing from incoming i where i.vector is null;
  return jsonb_build_object('missing', coalesce(v_missing, '[]'));
end $$;

-- aw_stage_chunks is aw_stage_vectors for a caller that can send only JSON.
create or replace function {{ .schema }}.aw_stage_chunks(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
begin
  return {{ .schema }}.aw_stage_vectors(p, '{}'::{{ .vector }}.halfvec[]);
end $$;

-- aw_document_result is the result of an ingest task: the active version of a document.
create or replace function {{ .schema }}.aw_document_result(
  d {{ .schema }}.documents, v {{ .schema }}.document_versions, unchanged boolean
) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
begin
  return jsonb_build_object('document_id', d.id, 'document_set', d.document_set, 'filename', d.filename,
  'title', d.title, 'language', d.language, 'version', v.version, 'pages', v.pages, 'chunks', v.chunks,
  'characters', v.characters, 'extractor', v.extractor, 'content_sha256', v.content_sha256, 'unchanged', unchanged,
  'chunks_with_context', coalesce(v.contexts, 0),
  'ocr_pages', coalesce((
    select sum((x ->> 'last')::int - (x ->> 'first')::int + 1) from jsonb_array_elements(v.page_log) x
    where x ->> 'method' in ('ocr', 'mixed')), 0));
end $$;

-- aw_record_reading records what was read of a version's source; args are the fields of a store.Reading.
create or replace function {{ .schema }}.aw_record_reading(
  d {{ .schema }}.documents, number integer, args jsonb
) returns {{ .schema }}.document_versions
language plpgsql set search_path = {{ .path }} as $$
declare
  v {{ .schema }}.document_versions;
begin
  update {{ .schema }}.document_versions n set
    content_sha256 = args ->> 'content_sha256', text_sha256 = args ->> 'text_sha256', format = args ->> 'format',
    pipeline = args ->> 'pipeline', pages = (args ->> 'pages')::int, characters = (args ->> 'characters')::int,
    extractor = args ->> 'extractor', page_log = nullif(args -> 'page_log', 'null'),
    warnings = nullif(args -> 'warnings', 'null')
    where n.client_id = d.client_id and n.document_id = d.id and n.version = number
    returning * into v;
  update {{ .schema }}.documents u set
    content_sha256 = v.content_sha256, pages = v.pages, title = nullif(args ->> 'title', ''),
    language = nullif(args ->> 'language', ''), outline = nullif(args -> 'outline', 'null'),
    properties = nullif(args -> 'properties', 'null'), personal_data = nullif(args -> 'personal_data', 'null')
    where u.client_id = d.client_id and u.id = d.id;
  return v;
end $$;

-- aw_record_source records the blob of a document's active version and its sender's metadata, and returns the
-- document as it is now.
create or replace function {{ .schema }}.aw_record_source(
  d {{ .schema }}.documents, args jsonb
) returns {{ .schema }}.documents
language plpgsql set search_path = {{ .path }} as $$
declare
  v {{ .schema }}.documents;
begin
  update {{ .schema }}.documents u set
    blob = args ->> 'blob', source_etag = nullif(args ->> 'source_etag', ''),
    source_modified = nullif(args ->> 'source_modified', ''),
    metadata = coalesce(nullif(args -> 'metadata', 'null'), u.metadata), updated_at = clock_timestamp()
    where u.client_id = d.client_id and u.id = d.id
    returning * into v;
  return v;
end $$;

-- aw_version_changes is what a version changed: how many chunks it added, removed and kept, by their keys, and at which
-- positions it added them, as ranges [first, last], at most 100. It has no text.
create or replace function {{ .schema }}.aw_version_changes(
  client text, document uuid, old integer, new integer
) returns jsonb
language sql stable set search_path = {{ .path }} as $$
  with numbered as materialized ( -- a key may be there more than once
    select c.version, c.position, c.chunk_key,
           row_number() over (partition by c.version, c.chunk_key order by c.position) as nth
    from {{ .schema }}.document_chunks c
    where c.client_id = client and c.document_id = document and c.version in (old, new)
  ), paired as (
    select n.position as added, o.position as removed
    from (select * from numbered where version = new) n
    full join (select * from numbered where version = old) o on (o.chunk_key, o.nth) = (n.chunk_key, n.nth)
  )
  select jsonb_build_object(
    'added', count(*) filter (where p.removed is null), 'removed', count(*) filter (where p.added is null),
    'kept', count(p.added + p.removed),
    'at', coalesce((
      select jsonb_agg(jsonb_build_array(lower(x.r), upper(x.r) - 1) order by x.r)
      from (select r from unnest((select range_agg(int4range(q.added, q.added + 1)) from paired q
                                  where q.removed is null)) r order by r limit 100) x), '[]'))
  from paired p
$$;

-- The effect activate_document: readers see the old version until this commits, and the new one after it.
create or replace function {{ .schema }}.aw_effect_activate_document(
  client text, job text, fence bigint, args jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} set plan_cache_mode = force_generic_plan as $$
declare
  j {{ .schema }}.jobs;
  d {{ .schema }}.documents;
  v {{ .schema }}.document_versions;
  v_old integer;
  v_chunks integer := args ->> 'chunks';
  v_count integer;
  v_surplus integer;
  v_reused integer;
  v_contexts integer;
  v_tokens bigint;
  v_reused_tokens bigint;
begin
  select * into strict j from {{ .schema }}.jobs where client_id = client and id = job;
  select * into d from {{ .schema }}.documents
    where client_id = client and id = (args ->> 'document_id')::uuid for update;
  v := {{ .schema }}.aw_lock_staged_version(j, (args ->> 'document_id')::uuid, (args ->> 'version')::int, true);

  select count(*) filter (where c.position < v_chunks), count(*) filter (where c.position >= v_chunks),
         count(*) filter (where c.reused and c.position < v_chunks),
         count(c.context) filter (where c.position < v_chunks),
         coalesce(sum(c.tokens) filter (where c.position < v_chunks), 0),
         coalesce(sum(c.tokens) filter (where c.reused and c.position < v_chunks), 0)
    into v_count, v_surplus, v_reused, v_contexts, v_tokens, v_reused_tokens
    from {{ .schema }}.document_chunks c
    where c.client_id = client and c.document_id = d.id and c.version = v.version;
  if v_surplus > 0 then -- an earlier attempt has chunked the document differently
    delete from {{ .schema }}.document_chunks c
      where c.client_id = client and c.document_id = d.id and c.version = v.version and c.position >= v_chunks;
  end if;
  if v_count is distinct from v_chunks then
    raise exception 'version % of document % has % of % chunks', v.version, d.id, v_count, v_chunks
      using errcode = 'AW008';
  end if;

  update {{ .schema }}.document_versions o set status = 'superseded', superseded_at = clock_timestamp()
    where o.client_id = client and o.document_id = d.id and o.status = 'active'
    returning o.version into v_old;
  if v_old is not null then
    update {{ .schema }}.document_versions n
      set changes = {{ .schema }}.aw_version_changes(client, d.id, v_old, v.version)
      where n.client_id = client and n.document_id = d.id and n.version = v.version;
    -- Chunks of a version that nobody reads would only slow every vector search.
    perform {{ .schema }}.aw_drop_chunks(client, d.id, v_old);
  end if;
  update {{ .schema }}.document_versions n
    set status = 'active', activated_at = clock_timestamp(), chunks = v_count, tokens = v_tokens,
        contexts = v_contexts
    where n.client_id = client and n.document_id = d.id and n.version = v.version;
  update {{ .schema }}.documents u set active_version = v.version where u.client_id = client and u.id = d.id;
  perform {{ .schema }}.aw_note_task(d, j);
  v := {{ .schema }}.aw_record_reading(d, v.version, args);
  d := {{ .schema }}.aw_record_source(d, args);
  if coalesce((args ->> 'terms_staged')::boolean, false) then
    perform {{ .schema }}.aw_take_staged_terms(d, v.version, v_chunks);
  else
    perform {{ .schema }}.aw_index_terms(client, d.id);
  end if;
  perform {{ .schema }}.aw_cognee_changed(client, d.id, d.document_set, v.version);
  return {{ .schema }}.aw_document_result(d, v, false)
    || jsonb_build_object('chunks_embedded', v_count - v_reused, 'chunks_reused', v_reused,
      'tokens_embedded', v_tokens - v_reused_tokens, 'tokens_reused', v_reused_tokens);
end $$;

-- The effect keep_document: the staged version is removed, as it would be the same as the active one. args.reading, if
-- present, is what has changed about the active version's source; args.again, that its bytes were read again, with less in
-- them.
create or replace function {{ .schema }}.aw_effect_keep_document(
  client text, job text, fence bigint, args jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs;
  d {{ .schema }}.documents;
  v {{ .schema }}.document_versions;
begin
  select * into strict j from {{ .schema }}.jobs where client_id = client and id = job;
  select * into d from {{ .schema }}.documents
    where client_id = client and id = (args ->> 'document_id')::uuid for update;
  v := {{ .schema }}.aw_lock_staged_version(j, (args ->> 'document_id')::uuid, (args ->> 'version')::int, true);
  perform {{ .schema }}.aw_drop_version(client, d.id, v.version);
  select * into v from {{ .schema }}.document_versions s
    where s.client_id = client and s.document_id = d.id and s.status = 'active';
  if not found then
    raise exception 'document % has no version to keep', d.id using errcode = 'AW008';
  end if;
  if jsonb_typeof(args -> 'reading') = 'object' then
    v := {{ .schema }}.aw_record_reading(d, v.version, args -> 'reading');
  elsif jsonb_typeof(args -> 'again') = 'object' then
    update {{ .schema }}.document_versions n
      set pipeline = args #>> '{again,pipeline}', warnings = nullif(args #> '{again,warnings}', 'null')
      where n.client_id = client and n.document_id = d.id and n.version = v.version
      returning * into v;
  end if;
  perform {{ .schema }}.aw_note_task(d, j);
  d := {{ .schema }}.aw_record_source(d, args);
  return {{ .schema }}.aw_document_result(d, v, true)
    || jsonb_build_object('chunks_embedded', 0, 'chunks_reused', v.chunks, 'tokens_embedded', 0, 'tokens_reused',
      coalesce(v.tokens, (select sum(c.tokens) from {{ .schema }}.document_chunks c
                          where c.client_id = client and c.document_id = d.id and c.version = v.version), 0));
end $$;
