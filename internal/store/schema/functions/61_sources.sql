-- Where documents come from: addresses of the web, and the blobs of a prefix, each of which becomes a job of its own.

-- aw_payload_name is the name of the document that a payload is about, as far as it says: of an address it has neither
-- login nor query.
create or replace function {{ .schema }}.aw_payload_name(payload jsonb) returns text
language sql immutable
return coalesce(nullif(payload ->> 'filename', ''), nullif(payload ->> 'blob', ''),
  case when payload ->> 'source_uri' like 'blob:%' then substr(payload ->> 'source_uri', 6)
       else regexp_replace(regexp_replace(payload ->> 'source_uri', '[?#].*$', ''), '^([^:/]+://)[^/]*@', '\1') end,
  payload ->> 'prefix');

-- aw_payload_blob is the blob that a payload is about, or its address as aw_payload_name has it.
create or replace function {{ .schema }}.aw_payload_blob(payload jsonb) returns text
language sql immutable
return coalesce(nullif(payload ->> 'blob', ''), case when nullif(payload ->> 'source_uri', '') is not null
    then {{ .schema }}.aw_payload_name(jsonb_build_object('source_uri', payload -> 'source_uri')) end,
  payload ->> 'filename');

-- aw_file_of is the name and the blob of the file that a job is about: as its payload has them; of an ingest of an address
-- without a name, those of the document that it has staged, whose deletion finds by them what was made of the file.
create or replace function {{ .schema }}.aw_file_of(j {{ .schema }}.jobs, out filename text, out blob text)
language plpgsql stable set search_path = {{ .path }} as $$
begin
  if nullif(j.payload ->> 'filename', '') is null and j.payload ->> 'source_uri' ~* '^https?://' then
    select d.filename, d.blob into filename, blob
    from {{ .schema }}.document_versions v
    join {{ .schema }}.documents d on d.client_id = v.client_id and d.id = v.document_id
    where v.client_id = j.client_id and v.job_id = j.id and v.status = 'staged' limit 1;
  end if;
  filename := coalesce(filename, {{ .schema }}.aw_payload_name(j.payload));
  blob := coalesce(blob, {{ .schema }}.aw_payload_blob(j.payload));
end $$;

-- aw_document_at is the name of the document of a set that was made of p.blob last; null: there is none.
create or replace function {{ .schema }}.aw_document_at(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  return jsonb_build_object('filename', (
    select d.filename from {{ .schema }}.documents d
    where d.client_id = v_client and d.blob = p ->> 'blob' and d.document_set = p ->> 'document_set'
      and d.active_version is not null
    order by d.updated_at desc limit 1));
end $$;

-- aw_child_id_in is the id of the job that a job submits for a thing at a version: the same in each of its attempts, and
-- another one in its next series. aw_child_id is that of its series now.
create or replace function {{ .schema }}.aw_child_id_in(id text, series integer, thing text, version text) returns text
language sql immutable
return left(id, 90) || '.' || md5(jsonb_build_array(id, series, thing, version)::text);

create or replace function {{ .schema }}.aw_child_id(j {{ .schema }}.jobs, thing text, version text) returns text
language sql immutable
return {{ .schema }}.aw_child_id_in(j.id, j.series, thing, version);

-- aw_child is what is known of the job that j submits for a thing: its id; whether it is submitted; and its queue, its
-- message and since, as in aw_sweep, if that was not sent.
create or replace function {{ .schema }}.aw_child(j {{ .schema }}.jobs, thing text, version text) returns jsonb
language sql stable
return (
  select jsonb_build_object('id', i.id, 'submitted', c.id is not null)
    || case when c.message is not null and c.sent_at is null
            then jsonb_build_object('queue', c.queue, 'message', c.message, 'since', coalesce(c.run_at, c.updated_at))
            else '{}' end
  from (select {{ .schema }}.aw_child_id(j, thing, version) as id) i
  left join {{ .schema }}.jobs c on c.client_id = j.client_id and c.id = i.id);

-- aw_child_pending reports whether a child of any job, for a thing at a version, has not ended and is not being canceled.
-- The thing is a document of the set, or becomes one. The key and the parent are subqueries: a key that is inlined is not
-- looked up in the index under row-level security, and a join may begin with each job that could be the parent.
create or replace function {{ .schema }}.aw_child_pending(client text, document_set text, filename text, thing text,
  version text) returns boolean
language sql stable
return exists (
  select from {{ .schema }}.jobs c
  where c.client_id = client and c.status in ('pending', 'running') and c.cancel_requested_at is null
    and c.document = (select {{ .schema }}.aw_document_key('ingest', jsonb_build_object(
      'document_set', document_set, 'filename', filename)))
    and c.id = (select {{ .schema }}.aw_child_id(o, thing, version) from {{ .schema }}.jobs o
      where o.client_id = c.client_id and o.id = c.parent_job_id));

-- aw_compare_blobs says of each of p.blobs (name, etag, modified_at), for the job that the caller holds: the child that
-- the job submits for it; the document that p.document_set has of it, with the ETag that it was made of, how often in a
-- row its bytes were read provisionally, and how long ago it was ingested; pending: see aw_child_pending; and failed: an
-- ingest of it into the set, begun after it was changed, failed for good, and its dead letter was not replayed. What a child
-- failed with was of its version: a file may come with an older time, by rsync or mv. One whose
-- attempts, time, workers or wait are used up may succeed another time: it is failed for 1 hour, then 6 hours, 1 day, and
-- 4 days each time. A minute is for the storage's clock.
create or replace function {{ .schema }}.aw_compare_blobs(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  v_set text := p ->> 'document_set';
begin
  return coalesce((
    with given as materialized (
      select x.* from rows from (jsonb_to_recordset(p -> 'blobs') as (name text, etag text, modified_at timestamptz))
        with ordinality as x(name, etag, modified_at, n)),
    failed as materialized (
      select x.n, bool_or(l.reason = 'permanent') or clock_timestamp() - max(l.created_at)
               < (array['1 hour', '6 hours', '1 day', '4 days']::interval[])[least(count(*), 4)] as failed
      from {{ .schema }}.dead_letters l
      join {{ .schema }}.jobs f on f.client_id = l.client_id and f.id = l.job_id
      join given x on x.name = {{ .schema }}.aw_payload_blob(f.payload) and x.modified_at + interval '1 minute' < f.created_at
        and not exists (select from {{ .schema }}.jobs o where o.client_id = f.client_id and o.id = f.parent_job_id
          and f.id <> all (array(select {{ .schema }}.aw_child_id_in(o.id, n, x.name, x.etag) from generate_series(0, o.series) n)))
      where l.client_id = j.client_id and l.reason in ('permanent', 'timeout', 'worker_lost', 'exhausted')
        and l.series is not null and l.replayed_at is null
        and f.type = 'ingest' and f.payload ->> 'document_set' = v_set and not f.payload ? 'delete'
      group by x.n)
    select jsonb_agg({{ .schema }}.aw_child(j, x.name, x.etag)
      || jsonb_build_object('filename', d.filename, 'etag', d.source_etag,
           'readings', coalesce(d.readings, 0), 'read_ago_ms', coalesce(d.read_ago_ms, 0),
           'pending', {{ .schema }}.aw_child_pending(j.client_id, v_set, coalesce(d.filename, x.name), x.name, x.etag),
           'failed', coalesce(f.failed, false)) order by x.n)
    from given x
    left join failed f on f.n = x.n
    left join lateral (
      select o.filename, o.source_etag, (
               select substring(v.pipeline from '^provisional=(\d{1,4}) ')::int from {{ .schema }}.document_versions v
               where v.client_id = o.client_id and v.document_id = o.id and v.version = o.active_version) as readings,
             greatest(extract(epoch from clock_timestamp() - o.updated_at) * 1000, 0)::bigint as read_ago_ms
      from {{ .schema }}.documents o
      where o.client_id = j.client_id and o.blob = x.name and o.document_set = v_set and o.active_version is not null
      order by o.filename = x.name desc, o.updated_at desc limit 1) d on true), '[]');
end $$;

-- aw_documents_under are the documents of p.document_set whose blobs begin with p.prefix, in the order of their ids from
-- p.after on: at most p.limit rows are read. It returns them, each with the child that the job submits to delete it and
-- pending, see aw_child_pending; and next: the last id that was read; null: there are no more.
create or replace function {{ .schema }}.aw_documents_under(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  v_set text := p ->> 'document_set';
  v_prefix text := p ->> 'prefix';
  v_after uuid := coalesce(nullif(p ->> 'after', ''), '00000000-0000-0000-0000-000000000000');
  v_limit integer := least(greatest((p ->> 'limit')::int, 1), 1000);
begin
  return (
    select jsonb_build_object(
      'documents', coalesce(jsonb_agg({{ .schema }}.aw_child(j, x.id::text, 'delete')
          || jsonb_build_object('filename', x.filename, 'blob', x.blob, 'pending', {{ .schema }}.aw_child_pending(
               j.client_id, v_set, x.filename, x.id::text, 'delete')) order by x.id)
        filter (where starts_with(x.blob, v_prefix) and x.active_version is not null), '[]'),
      'next', case when count(*) = v_limit then (array_agg(x.id order by x.id desc))[1] end)
    from (select o.* from {{ .schema }}.documents o
          where o.client_id = j.client_id and o.document_set = v_set and o.id > v_after
          order by o.id limit v_limit) x);
end $$;

-- aw_submit_children records p.jobs, each as aw_submit does, as children of the job that the caller holds: a job that
-- lost its right submits nothing (I4). Those that are recorded already stay as they are. since has those of them whose
-- messages were not sent, by id, as aw_child has it.
create or replace function {{ .schema }}.aw_submit_children(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  v_one jsonb;
  v_all text[] := array(select x ->> 'job_id' from jsonb_array_elements(p -> 'jobs') x);
  v_new text[] := '{}';
begin
  for v_one in select x from jsonb_array_elements(p -> 'jobs') x order by x ->> 'job_id' loop
    continue when exists (
      select from {{ .schema }}.jobs o where o.client_id = j.client_id and o.id = v_one ->> 'job_id');
    if ({{ .schema }}.aw_submit(v_one || jsonb_build_object('client_id', j.client_id)) ->> 'created')::boolean then
      v_new := v_new || (v_one ->> 'job_id');
    end if;
  end loop;
  update {{ .schema }}.jobs c set parent_job_id = j.id where c.client_id = j.client_id and c.id = any (v_new);
  return jsonb_build_object('created', to_jsonb(v_new), 'since', coalesce((
    select jsonb_object_agg(c.id, coalesce(c.run_at, c.updated_at)) from {{ .schema }}.jobs c
    where c.client_id = j.client_id and c.id = any (v_all) and c.message is not null and c.sent_at is null), '{}'));
end $$;
