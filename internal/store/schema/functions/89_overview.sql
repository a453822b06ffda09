-- What the dashboard asks. No question reads more rows than it bounds, however many jobs there are: where a bound was
-- reached, the answer says so.

-- aw_outcomes is how jobs have ended in each of p.windows: {within_ms, buckets}. It reads the newest p.most ends of the
-- longest window, once, and counts the same ends for each of at most ten. A duration is that of a series, from its first
-- start to its end.
create or replace function {{ .schema }}.aw_outcomes(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set timezone = 'UTC' set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
  v_most integer := least(greatest((p ->> 'most')::int, 1), 1000000);
  v_longest interval := (select max({{ .schema }}.aw_interval(w -> 'within_ms')) from jsonb_array_elements(p -> 'windows') w);
  v_begin timestamptz := v_now - v_longest;
begin
  if jsonb_array_length(p -> 'windows') > 10 then -- whoever reads may ask, and each window reads all that ended
    raise exception '% windows are asked for; at most 10 are read', jsonb_array_length(p -> 'windows') using errcode = 'AW006';
  end if;
  return (
    with ended as materialized (
      -- date_part and not extract: numbers of the type numeric make it several times slower
      select j.completed_at as at, j.status, date_part('epoch', j.completed_at - j.series_started_at) * 1000 as ms
      from {{ .schema }}.jobs j
      where j.client_id = v_client and j.progress >= 0 -- a condition of jobs_ended
        and j.completed_at > v_begin and j.completed_at <= v_now
      order by j.completed_at desc limit v_most + 1
    ), windows as (
      select w.n, w.o -> 'within_ms' as within_ms, v_now - {{ .schema }}.aw_interval(w.o -> 'within_ms') as begin,
             (w.o ->> 'within_ms')::double precision / 1000 / greatest((w.o ->> 'buckets')::int, 1) as width
      from jsonb_array_elements(p -> 'windows') with ordinality w(o, n)
    )
    select coalesce(jsonb_agg(jsonb_build_object('within_ms', w.within_ms, 'begin', w.begin, 'end', v_now,
        'jobs', least(x.jobs, v_most), 'more', x.jobs > v_most, 'oldest', x.oldest, 'succeeded', x.succeeded,
        'failed', x.failed, 'canceled', x.canceled, 'p50_ms', x.took[1]::bigint, 'p95_ms', x.took[2]::bigint,
        'buckets', y.buckets)
        order by w.n), '[]')
    from windows w, lateral (
      select count(*) as jobs, min(e.at) as oldest, count(*) filter (where e.status = 'succeeded') as succeeded,
        count(*) filter (where e.status = 'failed') as failed, count(*) filter (where e.status = 'canceled') as canceled,
        percentile_disc(array[0.5, 0.95]) within group (order by e.ms) filter (where e.status <> 'canceled') as took
      from ended e where e.at > w.begin) x, lateral (
      select coalesce(jsonb_agg(jsonb_build_array(b.bucket, b.succeeded, b.failed, b.canceled) order by b.bucket),
                      '[]') as buckets
      from (select floor(date_part('epoch', e.at - w.begin) / w.width)::int as bucket,
              count(*) filter (where e.status = 'succeeded') as succeeded,
              count(*) filter (where e.status = 'failed') as failed,
              count(*) filter (where e.status = 'canceled') as canceled
            from ended e where e.at > w.begin group by 1) b) y);
end $$;

-- aw_overview is what waits, what fails and what the work has cost: for each priority how many jobs wait, at most
-- p.most, and since when; the causes of the failures of the last p.within_ms, of the newest p.most; the tokens and
-- chunks of the newest p.most results of that time.
create or replace function {{ .schema }}.aw_overview(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_begin timestamptz := clock_timestamp() - {{ .schema }}.aw_interval(p -> 'within_ms');
  v_most integer := least(greatest((p ->> 'most')::int, 1), 100000);
  v_waiting jsonb := '[]';
  v_one jsonb;
  v_failures jsonb;
  v_usage jsonb;
  v_priority text;
begin
  foreach v_priority in array array['high', 'normal', 'low'] loop
    with w as materialized (
      select j.created_at, j.run_at from {{ .schema }}.jobs j
      where j.client_id = v_client and j.status = 'pending' and j.priority = v_priority
      order by j.created_at limit v_most + 1)
    select jsonb_build_object('priority', v_priority, 'jobs', least(count(*), v_most), 'more', count(*) > v_most,
        'later', count(*) filter (where w.run_at > clock_timestamp()),
        'oldest', min(coalesce(w.run_at, w.created_at)) filter (where coalesce(w.run_at, w.created_at) <= clock_timestamp()))
      into v_one from w;
    v_waiting := v_waiting || v_one;
  end loop;
  with f as materialized (
    select j.id, j.type, j.error_class, j.error_code, j.error_message, j.created_at, j.completed_at
    from {{ .schema }}.jobs j
    where j.client_id = v_client and j.status = 'failed' and j.created_at > v_begin
    order by j.created_at desc limit v_most)
  select coalesce(jsonb_agg(jsonb_build_object('type', x.type, 'error_class', x.error_class,
      'error_code', x.error_code, 'jobs', x.jobs, 'last_at', x.last_at, 'last_job_id', x.last_id,
      'error_message', x.message) order by x.jobs desc, x.last_at desc), '[]')
    into v_failures
  from (select f.type, f.error_class, f.error_code, count(*) as jobs, max(f.completed_at) as last_at,
          (array_agg(f.id order by f.created_at desc))[1] as last_id,
          (array_agg(f.error_message order by f.created_at desc))[1] as message
        from f group by f.type, f.error_class, f.error_code order by count(*) desc, max(f.completed_at) desc limit 8) x;
  with r as materialized (
    select j.result from {{ .schema }}.jobs j
    where j.client_id = v_client and j.status = 'succeeded' and j.created_at > v_begin
    order by j.created_at desc limit v_most)
  select jsonb_build_object('jobs', count(*), 'more', count(*) = v_most,
      'prompt_tokens', coalesce(sum({{ .schema }}.aw_count(r.result -> 'prompt_tokens')), 0),
      'completion_tokens', coalesce(sum({{ .schema }}.aw_count(r.result -> 'completion_tokens')), 0),
      'chunks_embedded', coalesce(sum({{ .schema }}.aw_count(r.result -> 'chunks_embedded')), 0),
      'chunks_reused', coalesce(sum({{ .schema }}.aw_count(r.result -> 'chunks_reused')), 0),
      'tokens_embedded', coalesce(sum({{ .schema }}.aw_count(r.result -> 'tokens_embedded')), 0),
      'tokens_reused', coalesce(sum({{ .schema }}.aw_count(r.result -> 'tokens_reused')), 0))
    into v_usage from r;
  return jsonb_build_object('waiting', v_waiting, 'failures', v_failures, 'usage', v_usage);
end $$;

-- aw_count is a number of a result, whose members are the handler's; zero if it is none.
create or replace function {{ .schema }}.aw_count(n jsonb) returns numeric
language sql immutable
return case when jsonb_typeof(n) = 'number' then (n #>> '{}')::numeric else 0 end;

-- aw_find_jobs lists jobs, newest first, at most p.limit, and looks at p.most rows at most. It ends early after a job with
-- which they have p.bytes as text, at most 2 MiB: payloads and results may be large, and a page has to fit into a worker's
-- memory many times. The answer has how far it came: with last, there is more after it.
create or replace function {{ .schema }}.aw_find_jobs(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_status text := nullif(p ->> 'status', '');
  v_type text := nullif(p ->> 'type', '');
  v_class text := nullif(p ->> 'error_class', '');
  v_code text := nullif(p ->> 'error_code', '');
  v_priority text := nullif(p ->> 'priority', '');
  v_set text := nullif(p ->> 'document_set', '');
  v_by text := nullif(p ->> 'requested_by', '');
  v_parent text := nullif(p ->> 'parent', '');
  v_replays boolean := coalesce((p ->> 'replays')::boolean, false);
  v_text text := lower(nullif(p ->> 'text', ''));
  v_since timestamptz := coalesce((p ->> 'since')::timestamptz, '-infinity');
  v_before timestamptz := coalesce((p ->> 'before')::timestamptz, 'infinity');
  v_at timestamptz := coalesce((p #>> '{after,at}')::timestamptz, 'infinity');
  v_id text := coalesce(p #>> '{after,id}', '');
  v_limit integer := least(greatest((p ->> 'limit')::int, 1), 1000);
  v_most integer := least(greatest((p ->> 'most')::int, 1), 100000);
  v_bytes integer := least(greatest(coalesce((p ->> 'bytes')::int, 2 << 20), 1), 2 << 20);
  v_ids text[] := '{}';
  v_numbers bigint[] := '{}';
  v_found jsonb[] := '{}';
  v_one jsonb;
  v_read bigint := 0;
  v_looked bigint := 0;
  v_more boolean := false;
  v_last jsonb;
  r record;
  j {{ .schema }}.jobs;
begin
  -- The condition is a part of the query, which is several times faster than to look at each row here. Of the rows that
  -- it leaves out come those alone that end the search.
  for r in
    select x.n, x.id, x.created_at, x.here from (
      select row_number() over () as n, o.id, o.created_at,
          (v_type is null or o.type = v_type) and (v_class is null or o.error_class is not distinct from v_class)
          and (v_code is null or o.error_code is not distinct from v_code)
          and (v_priority is null or o.priority = v_priority)
          and (v_set is null or (o.payload ->> 'document_set') is not distinct from v_set)
          and (not v_replays or o.replay > 0)
          and (v_by is null or o.requested_by is not distinct from v_by)
          and (v_text is null or strpos(lower(o.id), v_text) > 0
               or strpos(lower(coalesce(o.payload ->> 'filename', '')), v_text) > 0
               or strpos(lower(coalesce(o.error_message, '')), v_text) > 0) as here
      from (select q.id, q.created_at, q.type, q.error_class, q.error_code, q.priority, q.payload, q.requested_by,
                   q.replay, q.error_message
            from {{ .schema }}.jobs q
            where q.client_id = v_client and q.progress >= 0 -- a condition of jobs_newest
              and (v_status is null or q.status = v_status)
              and (v_parent is null or q.parent_job_id = v_parent)
              and q.created_at >= v_since and q.created_at < v_before and q.created_at <= v_at
              and (q.created_at, q.id) < (v_at, v_id)
            order by q.created_at desc, q.id desc limit v_most + 1) o) x
    where x.here or x.n >= v_most
  loop
    v_more := r.n > v_most or cardinality(v_ids) = v_limit;
    exit when v_more;
    v_looked := r.n;
    v_last := jsonb_build_object('at', r.created_at, 'id', r.id);
    if r.here then
      v_ids := v_ids || r.id;
      v_numbers := v_numbers || r.n;
    end if;
  end loop;
  -- Whole rows are read by a second query, one after the other until they have v_bytes. A query for each of them would be
  -- planned each time, which takes longer than to read it.
  for j in
    select q.* from unnest(v_ids) with ordinality f(id, n)
    join {{ .schema }}.jobs q on q.client_id = v_client and q.id = f.id order by f.n
  loop
    if v_read >= v_bytes then
      v_more := true;
      v_looked := v_numbers[cardinality(v_found)];
      v_last := jsonb_build_object('at', v_one -> 'created_at', 'id', v_one -> 'id'); -- the job before
      exit;
    end if;
    v_one := {{ .schema }}.aw_job_json(j);
    v_read := v_read + octet_length(v_one::text); -- a row is compressed, so its own size says little
    v_found := v_found || v_one;
  end loop;
  return jsonb_build_object('jobs', to_jsonb(v_found), 'looked', v_looked,
    'last', case when v_more then v_last end);
end $$;

-- aw_job_counts is how many jobs have each status, at most p.most of each.
create or replace function {{ .schema }}.aw_job_counts(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_most integer := least(greatest((p ->> 'most')::int, 1), 100000);
  v_status text;
  v_n bigint;
  v_ended jsonb;
  v_all jsonb := '[]';
begin
  -- A client with few ended jobs has them counted in its own entries of an index; below, those of all clients are read.
  select case when coalesce(sum(y.n), 0) <= v_most then coalesce(jsonb_object_agg(y.status, y.n), '{}') end into v_ended
  from (select x.status, count(*) as n
        from (select j.status from {{ .schema }}.jobs j
              where j.client_id = v_client and j.progress >= 0 and j.completed_at is not null -- the condition of jobs_ended
              order by j.completed_at limit v_most + 1) x
        group by x.status) y;
  foreach v_status in array array['running', 'pending', 'failed', 'succeeded', 'canceled'] loop
    if v_ended is not null and v_status not in ('running', 'pending') then
      v_all := v_all || jsonb_build_object('status', v_status, 'jobs', coalesce((v_ended ->> v_status)::bigint, 0), 'more', false);
      continue;
    end if;
    select count(*) into v_n from (
      -- In an order, so that it comes from the index: what is limited is read from the table's beginning otherwise, which
      -- may be other clients' rows.
      select from {{ .schema }}.jobs j where j.client_id = v_client and j.status = v_status
      order by j.created_at desc limit v_most + 1) x;
    v_all := v_all || jsonb_build_object('status', v_status, 'jobs', least(v_n, v_most), 'more', v_n > v_most);
  end loop;
  return v_all;
end $$;

-- aw_job_context is what surrounds a job: the trace that it belongs to, its message if it is recorded, its lease, and
-- the newest jobs that replay it.
create or replace function {{ .schema }}.aw_job_context(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_id text := p ->> 'id';
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = v_id;
  if not found then
    raise exception 'there is no job %', v_id using errcode = 'AW002';
  end if;
  return jsonb_build_object('message', j.message, 'received', j.received, 'queue', j.queue, 'sent_at', j.sent_at, 'traceparent', j.traceparent,
    'lease_expires_at', j.lease_expires_at, 'not_before', j.not_before, 'series', j.series,
    'series_started_at', j.series_started_at, 'events', j.event_seq, 'cancel_requested_by', j.cancel_requested_by,
    'children', coalesce((
      select jsonb_agg({{ .schema }}.aw_job_json(x::{{ .schema }}.jobs) order by x.created_at desc)
      from (select c.* from {{ .schema }}.jobs c where c.client_id = v_client and c.parent_job_id = v_id
            order by c.created_at desc limit 20) x), '[]'));
end $$;

-- aw_letter_groups groups the dead letters that nobody has replayed, the newest p.most, by what they have in common.
create or replace function {{ .schema }}.aw_letter_groups(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_most integer := least(greatest((p ->> 'most')::int, 1), 100000);
begin
  return (
    with d as materialized (
      select l.reason, l.error_class, l.task_type, l.created_at from {{ .schema }}.dead_letters l
      where l.client_id = v_client and l.replayed_at is null order by l.created_at desc limit v_most + 1)
    select jsonb_build_object('letters', least((select count(*) from d), v_most), 'more', (select count(*) from d) > v_most,
      'groups', coalesce(jsonb_agg(jsonb_build_object('reason', x.reason, 'error_class', x.error_class,
          'task_type', x.task_type, 'letters', x.n, 'oldest', x.oldest, 'newest', x.newest)
          order by x.n desc, x.newest desc), '[]'))
    from (select d.reason, d.error_class, d.task_type, count(*) as n, min(d.created_at) as oldest,
            max(d.created_at) as newest
          from d group by d.reason, d.error_class, d.task_type order by count(*) desc limit 50) x);
end $$;

-- aw_document_sets are the sets of the active documents, by name, and how many each has, of the first p.most documents.
create or replace function {{ .schema }}.aw_document_sets(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_most integer := least(greatest((p ->> 'most')::int, 1), 100000);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('document_set', x.document_set, 'documents', x.n) order by x.document_set)
    from (select d.document_set, count(*) as n
          from (select o.document_set from {{ .schema }}.documents o
                where o.client_id = v_client and o.active_version is not null
                order by o.filename, o.document_set limit v_most) d
          group by d.document_set limit 200) x), '[]');
end $$;

-- aw_document_versions are the versions of a document, the newest first, at most p.most: what each changed, whether it was
-- read and cut in another way than the one before (then its keys are other ones, too), and of the active one how each page
-- was read.
create or replace function {{ .schema }}.aw_document_versions(p jsonb) returns jsonb
language plpgsql stable
set search_path = {{ .path }} set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_id uuid := ({{ .schema }}.aw_uuids(jsonb_build_array(p -> 'id'), 1))[1];
  v_most integer := least(greatest((p ->> 'most')::int, 1), 100);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('version', v.version, 'status', v.status, 'job_id', v.job_id, 'pages', v.pages,
        'chunks', v.chunks, 'characters', v.characters, 'extractor', v.extractor, 'created_at', v.created_at,
        'activated_at', v.activated_at, 'superseded_at', v.superseded_at,
        'chunks_embedded', {{ .schema }}.aw_count(j.result -> 'chunks_embedded'),
        'chunks_reused', {{ .schema }}.aw_count(j.result -> 'chunks_reused'), 'changes', v.changes,
        'reread', v.pipeline is distinct from v.pipeline_before and v.pipeline_before is not null,
        'page_log', case when v.status = 'active' then v.page_log end,
        'warnings', case when jsonb_typeof(j.result -> 'warnings') = 'array' then j.result -> 'warnings' end)
        order by v.version desc)
    from (select o.*, lag(o.pipeline) over (order by o.version) as pipeline_before
          from {{ .schema }}.document_versions o
          where o.client_id = v_client and o.document_id = v_id
            and (o.status <> 'superseded' or o.activated_at is not null and exists ( -- else it waits to be removed
              select from {{ .schema }}.documents d
              where d.client_id = v_client and d.id = v_id and d.active_version is not null))
          order by o.version desc limit v_most) v
    left join {{ .schema }}.jobs j on j.client_id = v.client_id and j.id = v.job_id), '[]');
end $$;
