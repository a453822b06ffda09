-- Decks: their blobs are uploaded first, their rows are effects. A document is converted by one job at a time, and
-- exported by two.

-- aw_hold_document lets a running job work on its document, if fewer than p.most others of its type do; AW007 if not.
-- It lasts until the job ends, gets another fence, or loses its lease. decks is how many decks the job has made.
create or replace function {{ .schema }}.aw_hold_document(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  v_holder {{ .schema }}.jobs;
begin
  if j.document is not null then
    -- Those who ask for one document follow each other, also those who submit over HTTP: the row is their lock.
    insert into {{ .schema }}.idempotency_keys as o (client_id, key, fingerprint, job_id)
    values (j.client_id, j.document, '', j.id)
    on conflict (key, client_id) do update set created_at = clock_timestamp();
    select * into v_holder from {{ .schema }}.jobs o
    where o.client_id = j.client_id and o.document = j.document and o.id <> j.id and o.status = 'running'
      and o.document_fence = o.fence and o.lease_expires_at > clock_timestamp()
    order by o.lease_expires_at desc, o.id offset greatest((p ->> 'most')::int, 1) - 1 limit 1;
    if found then
      raise exception '%', jsonb_build_object(
        'job_id', v_holder.id, 'retry_after_ms', {{ .schema }}.aw_ms_until(v_holder.lease_expires_at))
        using errcode = 'AW007';
    end if;
    update {{ .schema }}.jobs set document_fence = fence where client_id = j.client_id and id = j.id;
  end if;
  return jsonb_build_object('decks', (
    select count(*) from {{ .schema }}.decks d where d.client_id = j.client_id and d.job_id = j.id));
end $$;

-- The effect record_deck. The id is the worker's: the deck's blobs are named after it.
create or replace function {{ .schema }}.aw_effect_record_deck(client text, job text, fence bigint, args jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
begin
  insert into {{ .schema }}.decks (
    client_id, id, job_id, source_filename, source_sha256, title, slides, blob, preview_blob)
  values (client, (args ->> 'id')::uuid, job, args ->> 'source_filename', args ->> 'source_sha256', args ->> 'title',
          (args ->> 'slides')::int, args ->> 'blob', nullif(args ->> 'preview_blob', ''))
  on conflict (client_id, id) do nothing;
  if not found then
    raise exception 'deck % was recorded before', args ->> 'id' using errcode = 'AW028';
  end if;
  return jsonb_build_object('deck_id', args ->> 'id', 'result_path', args ->> 'blob');
end $$;
