-- The upkeep removes what is no longer needed, in small steps. Each function removes at most p.limit rows, skips
-- locked ones, and reports whether there may be more.

-- aw_source_is_used reports whether something that a task made of a file is there: a document's removal finds it by the
-- hash of the bytes, which only the row of their version knows.
create or replace function {{ .schema }}.aw_source_is_used(v {{ .schema }}.document_versions) returns boolean
language sql stable set search_path = {{ .path }} as $$
  select exists (select from {{ .schema }}.summaries m
                 where m.source_sha256 = v.content_sha256 and m.client_id = v.client_id)
    or exists (select from {{ .schema }}.derived_contents c
               where c.source_sha256 = v.content_sha256 and c.client_id = v.client_id)
    or exists (select from {{ .schema }}.page_result_jobs r
               where r.source = v.content_sha256 and r.client_id = v.client_id)
    or exists (select from {{ .schema }}.decks k where k.client_id = v.client_id and k.source_sha256 = v.content_sha256)
$$;

-- aw_forget_superseded removes versions that were superseded long ago and have no chunks any more. The rows are only the
-- history of the document, unless something is made of their bytes.
create or replace function {{ .schema }}.aw_forget_superseded(client text, most integer, age interval) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_count integer;
begin
  with old as materialized ( -- else a join might evaluate it several times, with another result each time
    select o.document_id, o.version from {{ .schema }}.document_versions o
    where o.client_id = client and o.status = 'superseded' and o.superseded_at <= clock_timestamp() - age
      and not exists (select from {{ .schema }}.document_chunks c
                      where c.client_id = client and c.document_id = o.document_id and c.version = o.version)
      and not {{ .schema }}.aw_source_is_used(o)
    order by o.superseded_at limit most for update skip locked)
  delete from {{ .schema }}.document_versions v using old
  where v.client_id = client and v.document_id = old.document_id and v.version = old.version;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- aw_abandoned reports whether nobody will continue what a job has staged: the job has ended, doesn't exist, or has
-- not been held for the given time.
create or replace function {{ .schema }}.aw_abandoned(client text, job text, age interval) returns boolean
language plpgsql volatile set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = client and id = job;
  return not found or j.status in ('succeeded', 'failed', 'canceled')
    or coalesce(j.lease_expires_at, j.updated_at) <= clock_timestamp() - age;
end $$;

-- aw_forget_staged removes abandoned staged versions. Like staging it locks the document first: a job that stages
-- meanwhile either did so before the second check, and holds the job, or finds the staged version gone and starts
-- again.
create or replace function {{ .schema }}.aw_forget_staged(client text, most integer, age interval) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v {{ .schema }}.document_versions;
  v_count integer := 0;
begin
  for v in select s.* from {{ .schema }}.document_versions s
           where s.client_id = client and s.status = 'staged'
             and s.created_at <= clock_timestamp() - least(age, interval '1 hour')
             and {{ .schema }}.aw_abandoned(client, s.job_id, age)
           order by s.created_at limit most loop
    perform from {{ .schema }}.documents d
      where d.client_id = client and d.id = v.document_id for update skip locked;
    if found and {{ .schema }}.aw_abandoned(client, v.job_id, age) then
      perform {{ .schema }}.aw_drop_version(client, s.document_id, s.version)
        from {{ .schema }}.document_versions s
        where s.client_id = client and s.document_id = v.document_id and s.version = v.version
          and s.status = 'staged' and s.job_id = v.job_id;
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end $$;

-- aw_forget_empty removes documents that have no version.
create or replace function {{ .schema }}.aw_forget_empty(client text, most integer, age interval) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_document uuid;
  v_count integer := 0;
begin
  for v_document in select d.id from {{ .schema }}.documents d where d.client_id = client and d.active_version is null and d.chunks_left is null
                      and d.created_at <= clock_timestamp() - least(age, interval '1 hour')
                    order by d.created_at limit most for update skip locked loop
    -- Checked again under the lock: a job may have staged a version in between.
    delete from {{ .schema }}.documents d
      where d.client_id = client and d.id = v_document and d.active_version is null
      and not exists (
        select from {{ .schema }}.document_versions v where v.client_id = client and v.document_id = d.id);
    if found then
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end $$;

-- aw_collect does one step of each, of filling and renewing the terms of an index from an earlier version, and of removing chunks that
-- were left.
create or replace function {{ .schema }}.aw_collect(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_limit integer := (p ->> 'limit')::int;
  v_superseded integer :=
    {{ .schema }}.aw_forget_superseded(v_client, v_limit, {{ .schema }}.aw_interval(p -> 'superseded_for_ms'));
  v_staged integer :=
    {{ .schema }}.aw_forget_staged(v_client, v_limit, {{ .schema }}.aw_interval(p -> 'abandoned_for_ms'));
  v_documents integer :=
    {{ .schema }}.aw_forget_empty(v_client, v_limit, {{ .schema }}.aw_interval(p -> 'abandoned_for_ms'));
  v_terms integer := {{ .schema }}.aw_fill_terms(v_client, v_limit);
  v_renewed integer := {{ .schema }}.aw_renew_terms(v_client, v_limit);
  v_left integer := {{ .schema }}.aw_remove_left(v_client, v_limit);
begin
  return jsonb_build_object('superseded', v_superseded, 'staged', v_staged, 'documents', v_documents,
    'terms', v_terms, 'chunks', v_left,
    'more', greatest(v_superseded, v_staged, v_documents, v_terms, v_renewed, v_left) >= v_limit);
end $$;
