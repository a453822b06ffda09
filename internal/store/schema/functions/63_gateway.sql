-- The gateway's answers. A call of it is paid for, so each question is asked by one job at a time, and an answer that is
-- kept serves every job of the tenant with the same question. Lock order: own job, answer.

-- aw_gateway_holder reports whether a job that asks is alive: it holds its job under the fence of its claim. So a claim
-- has the lease of its job, which the heartbeats extend, and ends with it.
create or replace function {{ .schema }}.aw_gateway_holder(g {{ .schema }}.gateway_answers) returns {{ .schema }}.jobs
language plpgsql stable set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs x
    where x.client_id = g.client_id and x.id = g.job_id and x.fence = g.job_fence and x.status = 'running'
      and x.lease_expires_at > clock_timestamp();
  return j;
end $$;

-- aw_gateway_claim returns the kept answer to the question p.key, or gives the right to ask. It raises AW007 while another
-- job asks. p.fresh: only an answer that this job paid for in its current series counts (hints.force). p.missing: a blob
-- that was not found; the answer in it doesn't count. p.source_sha256 is the document that the question is about, whose
-- deletion ends the answer: two documents may have one question, and the last that asked it counts. first: no answer was
-- kept before, so that the blob of an earlier claim is one that its worker could not record, and no upkeep removes. claim: no
-- claim on a question has the number of another one, also when the upkeep has removed the row in between: a slow upkeep may
-- still remove the blobs of the claims before. The numbers of a row follow a multiple of 1000, see gateway.FirstClaim.
create or replace function {{ .schema }}.aw_gateway_claim(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  g {{ .schema }}.gateway_answers;
  h {{ .schema }}.jobs;
begin
  loop -- until the row is there: the upkeep may remove it
    insert into {{ .schema }}.gateway_answers (client_id, key, source_sha256, mapping, mode, fence)
    values (j.client_id, p ->> 'key', p ->> 'source_sha256', p ->> 'mapping', p ->> 'mode',
            floor(extract(epoch from clock_timestamp()) * 1000)::bigint * 1000)
    on conflict (key, client_id) do nothing;
    select * into g from {{ .schema }}.gateway_answers x
      where x.client_id = j.client_id and x.key = p ->> 'key' for update;
    exit when found;
  end loop;
  if g.blob is not null and not g.expiring and g.blob is distinct from p ->> 'missing'
     and (not coalesce((p ->> 'fresh')::boolean, false) or (g.kept_by = j.id and g.kept_series = j.series)) then
    update {{ .schema }}.gateway_answers x set used_at = clock_timestamp(), source_sha256 = p ->> 'source_sha256'
      where x.client_id = j.client_id and x.key = g.key and (x.used_at < clock_timestamp() - interval '1 day'
        or x.source_sha256 is distinct from p ->> 'source_sha256');
    return jsonb_build_object('kept', true, 'blob', g.blob, 'sha256', g.sha256, 'bytes', g.bytes,
      'http_status', g.http_status, 'gateway_ms', g.gateway_ms, 'details', g.details,
      'own', g.kept_by = j.id and g.kept_series = j.series);
  end if;
  if g.job_id <> j.id then
    h := {{ .schema }}.aw_gateway_holder(g);
    if h.id is not null then
      raise exception '%', jsonb_build_object(
        'job_id', h.id, 'retry_after_ms', {{ .schema }}.aw_ms_until(h.lease_expires_at)) using errcode = 'AW007';
    end if;
  end if;
  update {{ .schema }}.gateway_answers x set
    fence = x.fence + 1, job_id = j.id, job_fence = j.fence, used_at = clock_timestamp(),
    source_sha256 = p ->> 'source_sha256'
  where x.client_id = j.client_id and x.key = g.key returning * into g;
  return jsonb_build_object('kept', false, 'claim', g.fence, 'first', g.blob is null and not g.expiring);
end $$;

-- aw_gateway_keep keeps the answer to a claimed question: its blob is uploaded. It refuses a claim that another job has
-- taken over (I4). superseded is a blob that is not needed any more, null: there is none.
create or replace function {{ .schema }}.aw_gateway_keep(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  g {{ .schema }}.gateway_answers;
begin
  select * into g from {{ .schema }}.gateway_answers x
    where x.client_id = j.client_id and x.key = p ->> 'key' for update;
  if not found or g.fence is distinct from (p ->> 'claim')::bigint or g.job_id is distinct from j.id
     or g.job_fence is distinct from j.fence then
    raise exception 'job % does not hold the claim % on an answer of the gateway', j.id, p ->> 'claim'
      using errcode = 'AW001';
  end if;
  update {{ .schema }}.gateway_answers x set
    job_id = null, job_fence = null, blob = p ->> 'blob', sha256 = p ->> 'sha256', bytes = (p ->> 'bytes')::bigint,
    http_status = (p ->> 'http_status')::integer, gateway_ms = (p ->> 'gateway_ms')::bigint,
    details = nullif(p -> 'details', 'null'), kept_by = j.id, kept_series = j.series, expiring = false,
    used_at = clock_timestamp()
  where x.client_id = j.client_id and x.key = g.key;
  return jsonb_build_object('superseded', nullif(g.blob, p ->> 'blob'));
end $$;

-- aw_gateway_expire marks answers that nobody has used for p.older_than_ms, the oldest first, at most p.limit: from then on
-- they don't count, and aw_gateway_forget removes them when their blobs are gone. It returns the blobs and the last claims
-- by key. What was marked and not removed is returned again.
create or replace function {{ .schema }}.aw_gateway_expire(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_before timestamptz := clock_timestamp() - {{ .schema }}.aw_interval(p -> 'older_than_ms');
  v_limit integer := least((p ->> 'limit')::int, 1000);
  v_answers jsonb;
begin
  with old as materialized (
    select o.key from {{ .schema }}.gateway_answers o where o.client_id = v_client and o.used_at < v_before
    order by o.used_at limit v_limit for update skip locked),
  marked as (
    update {{ .schema }}.gateway_answers x set expiring = true from old
    where x.client_id = v_client and x.key = old.key returning x.key, x.blob, x.fence)
  select coalesce(jsonb_agg(jsonb_build_object('key', m.key, 'blob', m.blob, 'claim', m.fence)), '[]') into v_answers from marked m;
  return jsonb_build_object('answers', v_answers);
end $$;

-- aw_gateway_forget removes expiring answers whose blobs are gone. A question that is being asked again stays.
create or replace function {{ .schema }}.aw_gateway_forget(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  a record;
  g {{ .schema }}.gateway_answers;
  h {{ .schema }}.jobs;
  v_removed integer := 0;
begin
  for a in select r.key, r.blob from jsonb_to_recordset(p -> 'answers') as r(key text, blob text) order by r.key loop
    select * into g from {{ .schema }}.gateway_answers x where x.client_id = v_client and x.key = a.key for update;
    continue when not found or not g.expiring or g.blob is distinct from a.blob;
    h := {{ .schema }}.aw_gateway_holder(g);
    if h.id is null then
      delete from {{ .schema }}.gateway_answers x where x.client_id = v_client and x.key = a.key;
    else
      update {{ .schema }}.gateway_answers x set blob = null, expiring = false
        where x.client_id = v_client and x.key = a.key;
    end if;
    v_removed := v_removed + 1;
  end loop;
  return jsonb_build_object('removed', v_removed);
end $$;

-- The effect record_llm_check: how a model judged an answer of the gateway.
create or replace function {{ .schema }}.aw_effect_record_llm_check(
  client text, job text, fence bigint, args jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_id uuid;
begin
  insert into {{ .schema }}.llm_checks (client_id, job_id, confidence, verdict, findings, model)
  values (client, job, (args ->> 'confidence')::real, args ->> 'verdict', coalesce(nullif(args -> 'findings', 'null'), '[]'),
          args ->> 'model')
  returning id into v_id;
  return jsonb_build_object('check_id', v_id);
end $$;
