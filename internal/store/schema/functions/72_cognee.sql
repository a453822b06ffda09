-- The outbox of documents for Cognee. The transaction that activates or deletes a document notes so here, if the tenant
-- has set up Cognee; a worker sends it later. What is sent is the version that is active then: versions that were
-- replaced before they were sent are left out, and each version that is sent is sent once.
--
-- One worker sends a document at a time, under a lease with a fence, so that no older version replaces a newer one.
-- After the documents of a set, Cognee is asked once to work them into its graph (cognify). Meanwhile nothing of the set
-- is sent: Cognee would make it wait for as long as that takes.
--
-- While Cognee is down (cognee_targets), one request at a time is sent, as a probe. An outage that nothing is left to probe
-- with has ended: what failed is given up.
-- Lock order: a document, its dataset, the target. A claim skips what others have locked.
--   AW030 the document or the dataset is not held under this fence.

-- aw_cognee_changed notes that a document has another active version; null: that it was deleted.
create or replace function {{ .schema }}.aw_cognee_changed(
  client text, document uuid, in_set text, version integer
) returns void
language plpgsql set search_path = {{ .path }} as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  if not exists (select from {{ .schema }}.cognee_targets t where t.client_id = client) then
    return;
  end if;
  if version is null then
    delete from {{ .schema }}.cognee_documents k
    where k.client_id = client and k.document_id = document and k.fence = 0 and k.data_id is null
      and k.wanted = 1; -- else Cognee may have an earlier version, from before aw_close_cognee
    if found then
      return; -- nobody has begun to send it
    end if;
  end if;
  insert into {{ .schema }}.cognee_documents as k (
    client_id, document_id, document_set, wanted, status, next_attempt_at, queued_at)
  values (client, document, in_set, version, 'pending', v_now, v_now)
  on conflict (document_id, client_id) do update set
    wanted = excluded.wanted, status = 'pending', attempts = 0, next_attempt_at = v_now, last_error = null,
    response_status = null,
    -- Of a deletion it is its time: see aw_settle_cognee.
    queued_at = case when k.status = 'pending' and k.lease_expires_at is null and version is not null then k.queued_at
                     else v_now end;
end $$;

-- aw_open_cognee begins to note the tenant's documents, unless that has begun.
create or replace function {{ .schema }}.aw_open_cognee(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  insert into {{ .schema }}.cognee_targets (client_id) values (v_client) on conflict (client_id) do nothing;
  return '{}';
end $$;

-- aw_close_cognee ends that, and removes what was noted.
create or replace function {{ .schema }}.aw_close_cognee(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_removed integer;
begin
  delete from {{ .schema }}.cognee_documents k where k.client_id = v_client;
  get diagnostics v_removed = row_count;
  delete from {{ .schema }}.cognee_datasets s where s.client_id = v_client;
  delete from {{ .schema }}.cognee_targets t where t.client_id = v_client;
  return jsonb_build_object('documents', v_removed);
end $$;

-- aw_cognee_waiting are the sets of which nothing is sent now: Cognee works on them, or is to begin, because their
-- changes have waited for so long.
create or replace function {{ .schema }}.aw_cognee_waiting(
  client text, now_at timestamptz, gather interval
) returns text[]
language sql stable set search_path = {{ .path }} as $$
  select coalesce(array_agg(s.document_set), '{}') from {{ .schema }}.cognee_datasets s
  where s.client_id = client
    and (s.state = 'running'
         or s.state = 'idle' and s.changes > s.done and s.first_change_at <= now_at - gather
            and s.next_attempt_at <= now_at)
$$;

-- aw_cognee_document is a claimed document as the worker gets it, with what is known of its active version.
--   in_graph: the version that Cognee has is in its graph. tried: something may have been sent before.
create or replace function {{ .schema }}.aw_cognee_document(k {{ .schema }}.cognee_documents) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  d {{ .schema }}.documents;
  v {{ .schema }}.document_versions;
  s {{ .schema }}.cognee_datasets;
begin
  select * into d from {{ .schema }}.documents x where x.client_id = k.client_id and x.id = k.document_id;
  select * into v from {{ .schema }}.document_versions x
  where x.client_id = k.client_id and x.document_id = k.document_id and x.version = k.wanted;
  select * into s from {{ .schema }}.cognee_datasets x
  where x.client_id = k.client_id and x.document_set = k.document_set;
  return jsonb_build_object('document_id', k.document_id, 'fence', k.fence, 'document_set', k.document_set,
    'version', k.wanted, 'sent', k.sent, 'data_id', k.data_id, 'dataset_id', coalesce(k.dataset_id, s.dataset_id),
    'attempts', k.attempts, 'tried', k.fence > 1 or k.data_id is not null,
    'in_graph', coalesce(k.change <= s.done, false), 'filename', d.filename, 'pages', v.pages,
    'content_sha256', v.content_sha256);
end $$;

-- aw_claim_cognee leases due work to a worker: at most p.max documents and datasets.
--   p.quiet_ms: for how long a set must not have changed, with nothing of it waiting, until Cognee is asked to work on
--     it. p.gather_ms: for how long changes wait for that at most.
create or replace function {{ .schema }}.aw_claim_cognee(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
  v_most integer := least(greatest((p ->> 'max')::int, 1), 100);
  v_lease interval := {{ .schema }}.aw_interval(p -> 'lease_ms');
  v_gather interval := {{ .schema }}.aw_interval(p -> 'gather_ms');
  v_quiet interval := {{ .schema }}.aw_interval(p -> 'quiet_ms');
  v_waiting text[];
  v_documents jsonb;
  v_datasets jsonb := '[]';
  v_next timestamptz;
  t {{ .schema }}.cognee_targets;
begin
  select * into t from {{ .schema }}.cognee_targets x where x.client_id = v_client;
  if t.down_since is not null then
    select * into t from {{ .schema }}.cognee_targets x where x.client_id = v_client for update;
    v_now := clock_timestamp();
    if t.down_since is not null and t.probe_at > v_now then
      return jsonb_build_object('documents', '[]'::jsonb, 'datasets', '[]'::jsonb, 'down', true,
        'next_ms', {{ .schema }}.aw_ms_until(t.probe_at));
    elsif t.down_since is not null then
      v_most := 1;
    end if;
  end if;
  v_waiting := {{ .schema }}.aw_cognee_waiting(v_client, v_now, v_gather);
  with due as (
    select k.document_id from {{ .schema }}.cognee_documents k
    where k.client_id = v_client and k.status = 'pending' and k.next_attempt_at <= v_now
      and (k.lease_expires_at is null or k.lease_expires_at <= v_now) and k.document_set <> all (v_waiting)
    order by k.next_attempt_at
    limit v_most
    for update skip locked
  ), claimed as (
    update {{ .schema }}.cognee_documents k set
      fence = k.fence + 1, worker = p ->> 'worker', lease_expires_at = v_now + v_lease,
      wanted = (select d.active_version from {{ .schema }}.documents d
                where d.client_id = v_client and d.id = k.document_id)
    from due where k.client_id = v_client and k.document_id = due.document_id
    returning k.*
  )
  select coalesce(jsonb_agg({{ .schema }}.aw_cognee_document(c::{{ .schema }}.cognee_documents)), '[]')
  into v_documents from claimed c;
  if jsonb_array_length(v_documents) < v_most then
    v_datasets := {{ .schema }}.aw_claim_cognee_datasets(
      v_client, p ->> 'worker', v_most - jsonb_array_length(v_documents), v_now, v_lease, v_quiet, v_gather);
  end if;
  if t.down_since is not null and (v_documents <> '[]' or v_datasets <> '[]') then -- the probe
    update {{ .schema }}.cognee_targets x set probe_at = v_now + greatest(v_lease, make_interval(secs => 30))
    where x.client_id = v_client;
  end if;
  select min(x.at) into v_next from (
    select min(greatest(k.next_attempt_at, k.lease_expires_at)) as at from {{ .schema }}.cognee_documents k
    where k.client_id = v_client and k.status = 'pending' and greatest(k.next_attempt_at, k.lease_expires_at) > v_now
    union all
    select min(greatest(s.next_attempt_at, s.lease_expires_at,
                        case when s.state = 'idle' then s.changed_at + v_quiet end))
    from {{ .schema }}.cognee_datasets s
    where s.client_id = v_client and (s.state = 'running' or s.state = 'idle' and s.changes > s.done)
      and greatest(s.next_attempt_at, s.lease_expires_at,
                   case when s.state = 'idle' then s.changed_at + v_quiet end) > v_now) x;
  if t.down_since is not null and v_next is null and v_documents = '[]' and v_datasets = '[]' then
    perform {{ .schema }}.aw_cognee_health(v_client, '', '{"health": "up"}');
    t.down_since := null;
  end if;
  return jsonb_build_object('documents', v_documents, 'datasets', v_datasets, 'down', t.down_since is not null,
    'next_ms', case when v_next is null then 0 else {{ .schema }}.aw_ms_until(v_next) end);
end $$;

-- aw_claim_cognee_datasets leases datasets: those that Cognee works on, to ask how far it is, and those that it is to
-- work on, unless documents of the set are being sent. covered becomes what such a run will cover.
create or replace function {{ .schema }}.aw_claim_cognee_datasets(
  client text, by_worker text, most integer, now_at timestamptz, lease interval, quiet interval, gather interval
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_claimed jsonb;
begin
  with due as (
    select s.document_set from {{ .schema }}.cognee_datasets s
    where s.client_id = client and s.next_attempt_at <= now_at
      and (s.lease_expires_at is null or s.lease_expires_at <= now_at)
      and (s.state = 'running' or s.state = 'idle' and s.changes > s.done
           and not exists (select from {{ .schema }}.cognee_documents k
                           where k.client_id = client and k.document_set = s.document_set and k.status = 'pending'
                             and k.lease_expires_at > now_at)
           and (s.first_change_at <= now_at - gather
                or s.changed_at <= now_at - quiet
                   and not exists (select from {{ .schema }}.cognee_documents k
                                   where k.client_id = client and k.document_set = s.document_set
                                     and k.status = 'pending' and k.next_attempt_at <= now_at)))
    order by s.next_attempt_at, s.document_set
    limit most
    for update skip locked
  ), claimed as (
    update {{ .schema }}.cognee_datasets s set
      fence = s.fence + 1, worker = by_worker, lease_expires_at = now_at + lease,
      covered = case when s.state = 'idle' then s.changes else s.covered end
    from due where s.client_id = client and s.document_set = due.document_set
    returning s.*
  )
  select jsonb_agg(jsonb_build_object('document_set', c.document_set, 'fence', c.fence, 'dataset_id', c.dataset_id,
    'running', c.state = 'running', 'attempts', c.attempts, 'changes', c.covered - c.done,
    'running_ms', case when c.state = 'running'
      then floor(extract(epoch from now_at - c.asked_at) * 1000)::bigint else 0 end)) into v_claimed
  from claimed c;
  return coalesce(v_claimed, '[]');
end $$;

-- aw_extend_cognee renews the leases of claims that the caller still has, and returns them. A lease of zero gives them
-- back. p.probe: one of them is the probe of an outage; the next one waits for it.
create or replace function {{ .schema }}.aw_extend_cognee(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_until timestamptz := case when (p ->> 'lease_ms')::bigint > 0
                              then clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms') end;
  v_documents jsonb;
  v_datasets jsonb;
begin
  with kept as (
    update {{ .schema }}.cognee_documents k set lease_expires_at = v_until
    from jsonb_to_recordset(coalesce(nullif(p -> 'documents', 'null'), '[]')) as c (document_id uuid, fence bigint)
    where k.client_id = v_client and k.document_id = c.document_id and k.fence = c.fence
      and k.lease_expires_at is not null
    returning k.document_id
  )
  select coalesce(jsonb_agg(kept.document_id), '[]') into v_documents from kept;
  with kept as (
    update {{ .schema }}.cognee_datasets s set lease_expires_at = v_until
    from jsonb_to_recordset(coalesce(nullif(p -> 'datasets', 'null'), '[]')) as c (document_set text, fence bigint)
    where s.client_id = v_client and s.document_set = c.document_set and s.fence = c.fence
      and s.lease_expires_at is not null
    returning s.document_set
  )
  select coalesce(jsonb_agg(kept.document_set), '[]') into v_datasets from kept;
  if (p ->> 'probe')::boolean and (v_documents <> '[]' or v_datasets <> '[]') then
    update {{ .schema }}.cognee_targets x set probe_at = greatest(x.probe_at, v_until)
    where x.client_id = v_client and x.down_since is not null;
  end if;
  return jsonb_build_object('documents', v_documents, 'datasets', v_datasets);
end $$;

-- aw_cognee_text is the text of a version, chunk by chunk from position p.from on, at most p.limit. active: it is still
-- the active one; otherwise there is no text.
create or replace function {{ .schema }}.aw_cognee_text(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_document uuid := p ->> 'document_id';
  v_version integer := p ->> 'version';
  v_from integer := coalesce((p ->> 'from')::int, 0);
  v_limit integer := least(greatest(coalesce((p ->> 'limit')::int, 200), 1), 1000);
begin
  if not exists (select from {{ .schema }}.documents d
                 where d.client_id = v_client and d.id = v_document and d.active_version = v_version) then
    return jsonb_build_object('active', false, 'chunks', '[]'::jsonb);
  end if;
  return jsonb_build_object('active', true, 'chunks', coalesce((
    select jsonb_agg(c.content order by c.position) from {{ .schema }}.document_chunks c
    where c.client_id = v_client and c.document_id = v_document and c.version = v_version
      and c.position >= v_from and c.position < v_from + v_limit), '[]'));
end $$;
