-- Deleting a document, with all rows that were made of its text. What other tasks made of its file (derived documents,
-- summaries) has the file's name, but no document set.

-- aw_belongs_to_document reports whether what was made of a file belongs to document d alone: it has d's name, and d's
-- blob or the bytes of one of d's versions; and no other document of that name (in another set) has that blob or
-- those bytes.
create or replace function {{ .schema }}.aw_belongs_to_document(
  d {{ .schema }}.documents, filename text, blob text, sha256 text
) returns boolean
language sql stable set search_path = {{ .path }} as $$
  select aw_belongs_to_document.filename = d.filename
    and (aw_belongs_to_document.blob is null or aw_belongs_to_document.blob = d.blob or exists (
      select from {{ .schema }}.document_versions v
      where v.client_id = d.client_id and v.document_id = d.id
        and v.content_sha256 = aw_belongs_to_document.sha256))
    and not exists (
      select from {{ .schema }}.documents o
      where o.client_id = d.client_id and o.filename = d.filename and o.id <> d.id and o.active_version is not null
        and (o.blob = aw_belongs_to_document.blob or exists (
          select from {{ .schema }}.document_versions v
          where v.client_id = o.client_id and v.document_id = o.id
            and v.content_sha256 = aw_belongs_to_document.sha256)))
$$;

-- aw_decks_of are the decks that were made of a document, as far as they belong to it alone. Which blob a deck is of, its
-- job says, as long as it is kept.
create or replace function {{ .schema }}.aw_decks_of(d {{ .schema }}.documents) returns setof {{ .schema }}.decks
language sql stable rows 1 set search_path = {{ .path }} as $$
  select k.* from {{ .schema }}.decks k
  where k.client_id = d.client_id and k.source_filename = d.filename
    and {{ .schema }}.aw_belongs_to_document(d, k.source_filename, coalesce((
      select {{ .schema }}.aw_payload_blob(j.payload) from {{ .schema }}.jobs j
      where j.client_id = k.client_id and j.id = k.job_id), ''), k.source_sha256)
$$;

-- aw_places_of is where a document is, as jobs may have it: its blob, or its address with the hash of its query
-- (source.Place.Key) and as aw_payload_blob has it; the latter only if no other document has it. A job whose payload has
-- no name has it for the name, too.
create or replace function {{ .schema }}.aw_places_of(d {{ .schema }}.documents) returns text[]
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_address text := substring(d.blob from '^(https?://.*)[?][0-9a-f]{24}$');
begin
  if v_address is null or exists (
    select from {{ .schema }}.documents o where o.client_id = d.client_id and o.id <> d.id and o.active_version is not null
      and (o.blob = v_address or starts_with(o.blob, v_address || '?'))) then
    return array[d.blob];
  end if;
  return array[d.blob, v_address];
end $$;

-- aw_sources_of are the hashes of the bytes that a document has or had, or that a task has read under its name or from its
-- place, without those that another document, or something made of another file, also has. A task that gave no more than
-- an address is not about another file: what it made has the name that it found there.
create or replace function {{ .schema }}.aw_sources_of(d {{ .schema }}.documents) returns text[]
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_places text[] := {{ .schema }}.aw_places_of(d); -- once: it may read all documents of the client
  v_names text[] := d.filename || v_places;
begin
  return array(
    select s.sha256 from (
      select v.content_sha256 as sha256 from {{ .schema }}.document_versions v
        where v.client_id = d.client_id and v.document_id = d.id
      union select c.source_sha256 from {{ .schema }}.derived_contents c
        where c.client_id = d.client_id and c.source_filename = d.filename
          and {{ .schema }}.aw_belongs_to_document(d, c.source_filename, c.source_blob, c.source_sha256)
      union select m.source_sha256 from {{ .schema }}.summaries m
        where m.client_id = d.client_id and m.filename = d.filename
          and {{ .schema }}.aw_belongs_to_document(d, m.filename, m.blob, m.source_sha256)
      union select r.source from {{ .schema }}.page_result_jobs r
        where r.client_id = d.client_id and r.filename = any (v_names) and r.blob = any (v_places)) s
    where s.sha256 is not null
      and not exists (select from {{ .schema }}.document_versions o
        where o.client_id = d.client_id and o.content_sha256 = s.sha256 and o.document_id <> d.id)
      and not exists (select from {{ .schema }}.derived_contents o
        where o.client_id = d.client_id and o.source_sha256 = s.sha256
          and not {{ .schema }}.aw_belongs_to_document(d, o.source_filename, o.source_blob, o.source_sha256))
      and not exists (select from {{ .schema }}.summaries o
        where o.client_id = d.client_id and o.source_sha256 = s.sha256
          and not {{ .schema }}.aw_belongs_to_document(d, o.filename, o.blob, o.source_sha256))
      and not exists (select from {{ .schema }}.page_result_jobs o
        where o.client_id = d.client_id and o.source = s.sha256 and o.filename is distinct from d.filename
          and coalesce(o.filename, '') !~* '^https?://' and o.filename is distinct from d.blob
          and not exists (select from {{ .schema }}.document_versions v
            where v.client_id = d.client_id and v.document_id = d.id and v.job_id = o.job_id)));
end $$;

-- aw_made_of returns what a deletion of a document needs: the blobs that were derived from it alone; those of the decks
-- that were made of it alone, whose pictures are beside them; and the hashes of bytes that it alone has, under which other
-- blobs may be kept.
create or replace function {{ .schema }}.aw_made_of(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_document uuid := p ->> 'document_id';
  d {{ .schema }}.documents;
begin
  select * into d from {{ .schema }}.documents x where x.client_id = v_client and x.id = v_document;
  return jsonb_build_object('sources', to_jsonb({{ .schema }}.aw_sources_of(d)), 'decks', coalesce((
    select jsonb_agg(k.blob) from {{ .schema }}.aw_decks_of(d) k), '[]'), 'blobs', coalesce((
    select jsonb_agg(distinct c.blob) from {{ .schema }}.derived_contents c
    where c.client_id = v_client and c.source_filename = d.filename
      and {{ .schema }}.aw_belongs_to_document(d, c.source_filename, c.source_blob, c.source_sha256)), '[]'));
end $$;

-- The effect delete_document removes the document with all of its versions and chunks, and what belongs to it alone:
-- page results, summaries and their notes, rows of derived documents, with a model's checks of them, and of decks.
-- args.purged, if present, names the blobs that are removed already, and only their rows are removed: what was
-- recorded since then keeps row and blob. The gateway's answers don't count any more, and upkeep removes them with
-- their blobs. The job has staged a version, as for an ingest. So no other job is working on the document, and if it
-- didn't exist nothing is left of it either. The result counts what is kept: blobs, answers that quote the document,
-- results of tasks.
create or replace function {{ .schema }}.aw_effect_delete_document(
  client text, job text, fence bigint, args jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs;
  d {{ .schema }}.documents;
  v {{ .schema }}.document_versions;
  v_purge boolean := jsonb_typeof(args -> 'purged') is not distinct from 'array';
  v_there boolean;
  v_places text[];
  v_names text[];
  v_sources text[];
  v_jobs text[];
  v_runs text[]; -- jobs
  v_blobs text[];
  v_deck_blobs text[];
  v_deck_jobs text[];
  v_decks integer;
  v_answers integer;
  v_chunks integer;
  v_readings integer;
  v_notes integer;
  v_summaries integer;
  v_derived integer;
begin
  select * into strict j from {{ .schema }}.jobs x where x.client_id = client and x.id = job;
  select * into d from {{ .schema }}.documents x
    where x.client_id = client and x.id = (args ->> 'document_id')::uuid for update;
  v := {{ .schema }}.aw_lock_staged_version(j, (args ->> 'document_id')::uuid, (args ->> 'version')::int, true);
  v_there := d.active_version is not null;
  select count(*) into v_chunks from {{ .schema }}.document_chunks c
    where c.client_id = client and c.document_id = d.id and c.version = d.active_version;

  v_sources := {{ .schema }}.aw_sources_of(d);
  v_places := {{ .schema }}.aw_places_of(d);
  -- What no other document shares: of its name, or made of the same blob by a job that gave no name.
  v_names := array(select d.filename where not exists (
      select from {{ .schema }}.documents o where o.client_id = client and o.filename = d.filename
        and o.id <> d.id and o.active_version is not null and o.blob = d.blob))
    || array(select unnest(v_places) where not exists (
      select from {{ .schema }}.documents o where o.client_id = client and o.blob = d.blob
        and o.id <> d.id and o.active_version is not null));
  delete from {{ .schema }}.page_results r where r.client_id = client and r.source = any (v_sources);
  get diagnostics v_readings = row_count;
  delete from {{ .schema }}.page_result_jobs r where r.client_id = client
    and (r.source = any (v_sources) or r.filename = any (v_names) and r.blob = any (v_places));
  with gone as (
    delete from {{ .schema }}.summaries x where x.client_id = client and x.filename = d.filename
      and {{ .schema }}.aw_belongs_to_document(d, x.filename, x.blob, x.source_sha256) returning x.job_id)
  select count(*), coalesce(array_agg(distinct gone.job_id), '{}') into v_summaries, v_jobs from gone;
  -- Those of an ingest are about its document alone, whose name the payload may not have; of a summary or of a check, whose
  -- file may have been another blob then, or at another query of its address.
  delete from {{ .schema }}.partials x
    where x.client_id = client and (x.filename = any (v_names) and x.blob = any (v_places)
      or x.job_id = any (v_jobs) or x.job_id = any (array(
        select o.job_id from {{ .schema }}.document_versions o where o.client_id = client and o.document_id = d.id
        union all
        select c.job_id from {{ .schema }}.derived_contents c where c.client_id = client and c.source_filename = d.filename
          and {{ .schema }}.aw_belongs_to_document(d, c.source_filename, c.source_blob, c.source_sha256))));
  get diagnostics v_notes = row_count;
  with gone as (
    delete from {{ .schema }}.derived_contents x where x.client_id = client and x.source_filename = d.filename
      and {{ .schema }}.aw_belongs_to_document(d, x.source_filename, x.source_blob, x.source_sha256)
      and (not v_purge or x.blob in (select b from jsonb_array_elements_text(args -> 'purged') b))
    returning x.blob, x.job_id), checks as (
    delete from {{ .schema }}.llm_checks c where c.client_id = client and c.job_id in (select gone.job_id from gone))
  select count(*), coalesce(array_agg(distinct gone.blob), '{}') into v_derived, v_blobs from gone;
  if v_purge then
    v_blobs := array(select x.blob from {{ .schema }}.derived_contents x
      where x.client_id = client and x.source_filename = d.filename
        and {{ .schema }}.aw_belongs_to_document(d, x.source_filename, x.source_blob, x.source_sha256));
  end if;
  with gone as (
    delete from {{ .schema }}.decks x
    where x.client_id = client and x.id = any (array(select k.id from {{ .schema }}.aw_decks_of(d) k))
      and (not v_purge or x.blob in (select b from jsonb_array_elements_text(args -> 'purged') b))
    returning x.blob, x.job_id)
  select count(*), coalesce(array_agg(gone.blob), '{}'), coalesce(array_agg(distinct gone.job_id), '{}')
    into v_decks, v_deck_blobs, v_deck_jobs from gone;
  update {{ .schema }}.gateway_answers x set expiring = true, used_at = to_timestamp(0)
  where x.client_id = client and x.source_sha256 = any (v_sources) and not x.expiring;
  get diagnostics v_answers = row_count;
  v_blobs := v_blobs || case when v_purge then array(select k.blob from {{ .schema }}.aw_decks_of(d) k)
                             else v_deck_blobs end;
  v_runs := array(select x.job_id from {{ .schema }}.agent_runs x
    where x.client_id = client and x.citations <> '[]' -- a condition of agent_runs_citing
      and x.citations @> jsonb_build_array(jsonb_build_object('document_id', d.id)));
  v_jobs := v_jobs || v_deck_jobs || v_runs;
  perform {{ .schema }}.aw_drop_document(d);
  if v_there then
    perform {{ .schema }}.aw_cognee_changed(client, d.id, d.document_set, null::integer);
  end if;

  return jsonb_build_object('document_id', case when v_there then d.id end, 'document_set', d.document_set,
    'filename', d.filename, 'deleted', v_there, 'chunks_deleted', v_chunks,
    'removed', jsonb_build_object('page_readings', v_readings, 'summaries', v_summaries, 'summary_notes', v_notes,
      'derived_contents', v_derived, 'decks', v_decks, 'gateway_answers', v_answers,
      'derived_blobs', coalesce((args ->> 'blobs_removed')::int, 0)),
    'kept', jsonb_build_object('derived_blobs', cardinality(v_blobs),
      'agent_runs', cardinality(v_runs),
      'task_results', (select count(*) from {{ .schema }}.jobs x
        where x.client_id = client and x.id = any (v_jobs) and x.result is not null)),
    'kept_blobs', to_jsonb(v_blobs[:100]));
end $$;
