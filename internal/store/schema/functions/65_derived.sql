-- Documents derived from documents: their blobs are uploaded first, their rows are effects.

-- aw_derived returns the newest content that the same recipe made of the same bytes, with the warnings of the job that
-- made it, and how many the job has already, in which blobs.
create or replace function {{ .schema }}.aw_derived(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_filename text := p ->> 'source_filename';
  v_job text := p ->> 'job_id';
begin
  return jsonb_build_object(
    'of_job', (
      select count(*) from {{ .schema }}.derived_contents d where d.client_id = v_client and d.job_id = v_job),
    'blobs', (
      select jsonb_agg(d.blob) from {{ .schema }}.derived_contents d where d.client_id = v_client and d.job_id = v_job),
    'same', (select jsonb_build_object('id', d.id, 'blob', d.blob, 'version', d.version, 'format', d.format,
               'engine', d.engine, 'page_count', d.page_count, 'mean_confidence', d.mean_confidence,
               'unread_pages', d.unread_pages, 'warnings', (
                 select j.result -> 'warnings' from {{ .schema }}.jobs j
                 where j.client_id = v_client and j.id = d.job_id and j.result ->> 'derived_content_id' = d.id::text))
             from {{ .schema }}.derived_contents d
             where d.client_id = v_client and d.source_filename = v_filename
               and d.source_sha256 = p ->> 'source_sha256' and d.recipe = p ->> 'recipe'
             order by d.version desc limit 1));
end $$;

-- The effect record_derived_content: the next version of what is derived from a source. Two that record the same
-- source at once want the same number; the unique index makes the second wait, and look for the next number. An
-- advisory lock would not do: any role can take and keep it.
create or replace function {{ .schema }}.aw_effect_record_derived_content(
  client text, job text, fence bigint, args jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_filename text := args ->> 'source_filename';
  d {{ .schema }}.derived_contents;
begin
  loop
    insert into {{ .schema }}.derived_contents (
      client_id, job_id, source_filename, source_blob, source_sha256, recipe, blob, format, engine, page_count,
      mean_confidence, unread_pages, version)
    values (client, job, v_filename, args ->> 'source_blob', args ->> 'source_sha256', args ->> 'recipe',
            args ->> 'blob', args ->> 'format', args ->> 'engine', (args ->> 'page_count')::int,
            (args ->> 'mean_confidence')::real,
            coalesce((select array_agg(n::int order by n::int)
                      from jsonb_array_elements_text(nullif(args -> 'unread_pages', 'null')) n), '{}'),
            (select coalesce(max(o.version), 0) + 1 from {{ .schema }}.derived_contents o
             where o.client_id = client and o.source_filename = v_filename))
    on conflict (source_filename, version, client_id) do nothing
    returning * into d;
    exit when found;
  end loop;
  return jsonb_build_object('derived_content_id', d.id, 'derived_blob', d.blob, 'version', d.version);
end $$;
