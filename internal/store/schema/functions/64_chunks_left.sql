-- Chunks that nobody reads any more: of replaced versions, of staged ones that were given up, of deleted documents. With
-- their words they cost some tenths of a millisecond each, so a commit removes no more than aw_chunks_at_once of a version.
-- More are left: the version is superseded, its document is marked with chunks_left, and aw_remove_left removes them in
-- steps. Until then every reader leaves them out, because their version isn't the active one. Lock order: document,
-- version, chunks.

-- aw_chunks_at_once is how many chunks of a version a commit removes.
create or replace function {{ .schema }}.aw_chunks_at_once() returns integer
language sql immutable parallel safe
return 1000;

-- aw_drop_chunks removes the chunks of a version, or leaves them if they are many, and reports whether it removed them.
-- The caller has locked the document. The version is locked first: a worker whose lease has ended may still write chunks
-- and terms of a staged one, and terms that come after the chunks were removed would stay.
create or replace function {{ .schema }}.aw_drop_chunks(client text, document uuid, number integer) returns boolean
language plpgsql set search_path = {{ .path }} as $$
declare
  v_most constant integer := {{ .schema }}.aw_chunks_at_once();
begin
  perform from {{ .schema }}.document_versions v
    where v.client_id = client and v.document_id = document and v.version = number for update;
  if (select count(*) from (
        select from {{ .schema }}.document_chunks c
        where c.client_id = client and c.document_id = document and c.version = number limit v_most + 1) x) > v_most then
    update {{ .schema }}.documents d set chunks_left = true where d.client_id = client and d.id = document;
    return false;
  end if;
  delete from {{ .schema }}.document_chunks c
    where c.client_id = client and c.document_id = document and c.version = number;
  return true;
end $$;

-- aw_drop_version removes a version that isn't active, with its chunks. If these are many, the version is superseded
-- instead, and goes with them; superseded versions that were never active are no history. The caller has locked the
-- document.
create or replace function {{ .schema }}.aw_drop_version(client text, document uuid, number integer) returns void
language plpgsql set search_path = {{ .path }} as $$
begin
  if {{ .schema }}.aw_drop_chunks(client, document, number) then
    delete from {{ .schema }}.document_versions v
      where v.client_id = client and v.document_id = document and v.version = number;
  else
    update {{ .schema }}.document_versions v set status = 'superseded', superseded_at = clock_timestamp()
      where v.client_id = client and v.document_id = document and v.version = number;
  end if;
end $$;

-- aw_drop_document removes a document with all of its versions. If one of them has many chunks, the row stays for them
-- under a name that nobody can know, without anything that says what the document was.
create or replace function {{ .schema }}.aw_drop_document(d {{ .schema }}.documents) returns void
language plpgsql set search_path = {{ .path }} as $$
declare
  v_all boolean := true;
  v_version integer;
begin
  for v_version in select v.version from {{ .schema }}.document_versions v
                   where v.client_id = d.client_id and v.document_id = d.id loop
    v_all := {{ .schema }}.aw_drop_chunks(d.client_id, d.id, v_version) and v_all;
  end loop;
  if v_all then
    delete from {{ .schema }}.documents x where x.client_id = d.client_id and x.id = d.id;
    return;
  end if;
  update {{ .schema }}.document_versions v set
    status = 'superseded', superseded_at = coalesce(v.superseded_at, clock_timestamp()),
    content_sha256 = null, text_sha256 = null, page_log = null, changes = null, warnings = null
    where v.client_id = d.client_id and v.document_id = d.id;
  update {{ .schema }}.documents x set
    active_version = null, terms_version = null, terms_renewed = null, task_sent_at = null, task_job_id = null,
    filename = 'deleted ' || gen_random_uuid(), blob = '', source_etag = null,
    source_modified = null, content_sha256 = null, pages = null, title = null, language = null, outline = null,
    properties = null, personal_data = null, metadata = '{}', updated_at = clock_timestamp()
    where x.client_id = d.client_id and x.id = d.id;
end $$;

-- aw_remove_left removes chunks that were left, at most "most", and returns how many it removed: fewer than "most" if no
-- more are left. With the last chunks of a document go its versions that were never active, and the document itself, if it
-- was deleted. Documents that others have locked are left to the next call.
create or replace function {{ .schema }}.aw_remove_left(client text, most integer) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_document uuid;
  v_count integer := 0;
  v_gone integer;
begin
  loop
    select d.id into v_document from {{ .schema }}.documents d
      where d.client_id = client and d.chunks_left order by d.id limit 1 for update skip locked;
    exit when not found;
    with old as materialized (
      select c.id from {{ .schema }}.document_versions v
      join {{ .schema }}.document_chunks c
        on c.client_id = v.client_id and c.document_id = v.document_id and c.version = v.version
      where v.client_id = client and v.document_id = v_document and v.status = 'superseded'
      limit most - v_count)
    delete from {{ .schema }}.document_chunks c using old where c.client_id = client and c.id = old.id;
    get diagnostics v_gone = row_count;
    v_count := v_count + v_gone;
    exit when v_count >= most;
    delete from {{ .schema }}.document_versions v
      where v.client_id = client and v.document_id = v_document and v.status = 'superseded' and v.activated_at is null;
    update {{ .schema }}.documents d set chunks_left = null where d.client_id = client and d.id = v_document;
    delete from {{ .schema }}.documents d
      where d.client_id = client and d.id = v_document and d.active_version is null
        and not exists (select from {{ .schema }}.document_versions v
                        where v.client_id = client and v.document_id = d.id and v.status <> 'superseded');
  end loop;
  return v_count;
end $$;

-- aw_remove_chunks does a step of at most p.limit chunks.
create or replace function {{ .schema }}.aw_remove_chunks(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_limit integer := least(greatest((p ->> 'limit')::int, 1), {{ .schema }}.aw_chunks_at_once());
  v_removed integer := {{ .schema }}.aw_remove_left({{ .schema }}.aw_tenant(p), v_limit);
begin
  return jsonb_build_object('removed', v_removed, 'more', v_removed >= v_limit);
end $$;
