-- OCR results of single pages, kept under the hash of the document's bytes: any attempt, job or worker that reads the
-- same bytes with the same reader takes them from here.

-- aw_link_job_to_source records that a job uses the page results of a source. False: the job is canceled, so nothing
-- is kept for it. The end of the job waits for this transaction, or came before it.
create or replace function {{ .schema }}.aw_link_job_to_source(
  client text, job text, of_source text
) returns boolean
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs x where x.client_id = client and x.id = job for key share;
  if not found then
    return true;
  elsif j.status = 'canceled' then
    return false;
  end if;
  insert into {{ .schema }}.page_result_jobs (client_id, job_id, source, filename, blob)
  select client, job, of_source, f.filename, f.blob from {{ .schema }}.aw_file_of(j) f
  on conflict (job_id, source, client_id) do nothing;
  return true;
end $$;

-- aw_drop_readings removes the page results that only a canceled job used: no other job uses them, and no document,
-- summary or derived document is made of those bytes.
create or replace function {{ .schema }}.aw_drop_readings(client text, job text) returns void
language plpgsql set search_path = {{ .path }} as $$
declare
  v_sources text[];
begin
  with own as (
    delete from {{ .schema }}.page_result_jobs r where r.client_id = client and r.job_id = job returning r.source)
  select array_agg(own.source) into v_sources from own;
  if v_sources is not null then
    delete from {{ .schema }}.page_results r
    where r.client_id = client and r.source = any (v_sources)
      and not exists (select from {{ .schema }}.page_result_jobs o where o.client_id = client and o.source = r.source)
      and not exists (
        select from {{ .schema }}.document_versions o where o.client_id = client and o.content_sha256 = r.source)
      and not exists (select from {{ .schema }}.summaries o where o.client_id = client and o.source_sha256 = r.source)
      and not exists (
        select from {{ .schema }}.derived_contents o where o.client_id = client and o.source_sha256 = r.source);
  end if;
end $$;

-- aw_page_results_get returns page results of a source. p.job_id, if given, is linked to what it finds.
create or replace function {{ .schema }}.aw_page_results_get(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_source text := p ->> 'source';
  v_reader text := p ->> 'reader';
  v_first integer := (p ->> 'first')::int;
  v_count integer := least((p ->> 'count')::int, 64);
  v_found jsonb;
begin
  v_found := coalesce((
    select jsonb_agg(jsonb_build_object('page', r.page, 'reading', encode(r.reading, 'base64')) order by r.page)
    from {{ .schema }}.page_results r
    where r.client_id = v_client and r.source = v_source and r.reader = v_reader
      and r.page >= v_first and r.page < v_first + v_count), '[]');
  if v_found <> '[]' and p ->> 'job_id' is not null then
    perform {{ .schema }}.aw_link_job_to_source(v_client, p ->> 'job_id', v_source);
  end if;
  return v_found;
end $$;

-- aw_page_results_put stores page results, and replaces those that exist. It stores none for a canceled job.
create or replace function {{ .schema }}.aw_page_results_put(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_written integer;
begin
  if p ->> 'job_id' is not null
     and not {{ .schema }}.aw_link_job_to_source(v_client, p ->> 'job_id', p ->> 'source') then
    return '{"written": 0}';
  end if;
  insert into {{ .schema }}.page_results (client_id, source, reader, page, reading)
  select v_client, p ->> 'source', p ->> 'reader', r.page, decode(r.reading, 'base64')
  from (select distinct on (x.page) x.page, x.reading
        from jsonb_to_recordset(p -> 'pages') as x(page integer, reading text) order by x.page) r
  on conflict (source, reader, page, client_id)
    do update set reading = excluded.reading, created_at = clock_timestamp();
  get diagnostics v_written = row_count;
  return jsonb_build_object('written', v_written);
end $$;

-- aw_expire_page_results removes page results older than older_than_ms, the oldest first, at most limit of them, and as many
-- links of jobs to sources without page results. removed is the greater number: below limit, no more are left.
create or replace function {{ .schema }}.aw_expire_page_results(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_before timestamptz := clock_timestamp() - {{ .schema }}.aw_interval(p -> 'older_than_ms');
  v_limit integer := least((p ->> 'limit')::int, 10000);
  v_removed integer;
  v_links integer;
begin
  -- materialized: a join may run a subquery for each row, and each run would take as many.
  with old as materialized (
    select o.source, o.reader, o.page from {{ .schema }}.page_results o
    where o.client_id = v_client and o.created_at < v_before
    order by o.created_at limit v_limit for update skip locked)
  delete from {{ .schema }}.page_results r using old
  where r.client_id = v_client and r.source = old.source and r.reader = old.reader and r.page = old.page;
  get diagnostics v_removed = row_count;
  with old as materialized (
    select o.job_id, o.source from {{ .schema }}.page_result_jobs o
    where o.client_id = v_client and o.created_at < v_before
      and not exists (select from {{ .schema }}.page_results x where x.client_id = v_client and x.source = o.source)
    order by o.created_at limit v_limit for update skip locked)
  delete from {{ .schema }}.page_result_jobs r using old
  where r.client_id = v_client and r.job_id = old.job_id and r.source = old.source;
  get diagnostics v_links = row_count;
  return jsonb_build_object('removed', greatest(v_removed, v_links));
end $$;
