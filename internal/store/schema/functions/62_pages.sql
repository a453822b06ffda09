-- What OCR read of single pages. It is kept under the hash of the document's bytes: whichever attempt, job or
-- worker meets the same bytes with the same reader takes it from here.

create or replace function {{ .schema }}.aw_page_results_get(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_source text := p ->> 'source';
  v_reader text := p ->> 'reader';
  v_first integer := (p ->> 'first')::int;
  v_count integer := least((p ->> 'count')::int, 64);
begin
  return coalesce((select jsonb_agg(jsonb_build_object('page', r.page, 'reading', encode(r.reading, 'base64')) order by r.page)
                   from {{ .schema }}.page_results r
                   where r.client_id = v_client and r.source = v_source and r.reader = v_reader
                     and r.page >= v_first and r.page < v_first + v_count), '[]');
end $$;

-- aw_page_results_put keeps readings; one that is there already is renewed.
create or replace function {{ .schema }}.aw_page_results_put(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_written integer;
begin
  insert into {{ .schema }}.page_results (client_id, source, reader, page, reading)
  select v_client, p ->> 'source', p ->> 'reader', r.page, decode(r.reading, 'base64')
  from (select distinct on (x.page) x.page, x.reading
        from jsonb_to_recordset(p -> 'pages') as x(page integer, reading text) order by x.page) r
  on conflict (source, reader, page, client_id) do update set reading = excluded.reading, created_at = clock_timestamp();
  get diagnostics v_written = row_count;
  return jsonb_build_object('written', v_written);
end $$;

-- aw_expire_page_results removes the oldest readings of those older than older_than_ms, at most limit of them.
create or replace function {{ .schema }}.aw_expire_page_results(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_before timestamptz := clock_timestamp() - {{ .schema }}.aw_span(p -> 'older_than_ms');
  v_limit integer := least((p ->> 'limit')::int, 10000);
  v_removed integer;
begin
  delete from {{ .schema }}.page_results r using (
    select o.source, o.reader, o.page from {{ .schema }}.page_results o
    where o.client_id = v_client and o.created_at < v_before
    order by o.created_at limit v_limit for update skip locked) old
  where r.client_id = v_client and r.source = old.source and r.reader = old.reader and r.page = old.page;
  get diagnostics v_removed = row_count;
  return jsonb_build_object('removed', v_removed);
end $$;
