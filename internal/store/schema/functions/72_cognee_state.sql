-- The outbox of Cognee for people, and what the reconciliation of index and Cognee needs. See 72_cognee.sql.

-- aw_cognee_state is the state of the outbox. Rows are counted up to 10001. It lists up to 100 datasets, and up to 20
-- documents that Cognee refused or that failed.
create or replace function {{ .schema }}.aw_cognee_state(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
  v_pending jsonb;
  t {{ .schema }}.cognee_targets;
begin
  select * into t from {{ .schema }}.cognee_targets x where x.client_id = v_client;
  select jsonb_build_object('pending', count(*),
    'due', count(*) filter (where w.next_attempt_at <= v_now and w.lease_expires_at is null),
    'oldest_ms', coalesce(floor(extract(epoch from v_now - min(w.queued_at)) * 1000)::bigint, 0)) into v_pending
  from (select k.next_attempt_at, k.lease_expires_at, k.queued_at from {{ .schema }}.cognee_documents k
        where k.client_id = v_client and k.status = 'pending' order by k.next_attempt_at limit 10001) w;
  return v_pending || jsonb_build_object('enabled', t.client_id is not null, 'since', t.since,
    'down_since', t.down_since, 'last_error', t.last_error,
    'refused', (select count(*) from (select from {{ .schema }}.cognee_documents k
                where k.client_id = v_client and k.status = 'refused' limit 10001) r),
    'failed', (select count(*) from (select from {{ .schema }}.cognee_documents k
               where k.client_id = v_client and k.status = 'failed' limit 10001) r),
    'datasets', coalesce((
      select jsonb_agg(jsonb_build_object('document_set', s.document_set, 'dataset_id', s.dataset_id,
        'state', s.state, 'changes', s.changes - s.done, 'asked_at', s.asked_at, 'finished_at', s.finished_at,
        'last_error', s.last_error) order by s.document_set)
      from (select * from {{ .schema }}.cognee_datasets x where x.client_id = v_client
            order by x.document_set limit 100) s), '[]'),
    'troubled', coalesce((
      select jsonb_agg(jsonb_build_object('document_id', k.document_id, 'document_set', k.document_set,
        'version', k.wanted, 'status', k.status, 'attempts', k.attempts, 'response_status', k.response_status,
        'last_error', k.last_error) order by k.document_id)
      from (select * from {{ .schema }}.cognee_documents x
            where x.client_id = v_client and x.status in ('refused', 'failed') limit 20) k), '[]'));
end $$;

-- aw_retry_cognee makes what Cognee refused, and what failed, due again.
create or replace function {{ .schema }}.aw_retry_cognee(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
  v_documents integer;
  v_datasets integer;
begin
  update {{ .schema }}.cognee_documents k set
    status = 'pending', attempts = 0, next_attempt_at = v_now, queued_at = v_now
  where k.client_id = v_client and k.status in ('refused', 'failed');
  get diagnostics v_documents = row_count;
  update {{ .schema }}.cognee_datasets s set state = 'idle', attempts = 0, next_attempt_at = v_now
  where s.client_id = v_client and s.state = 'failed';
  get diagnostics v_datasets = row_count;
  return jsonb_build_object('documents', v_documents, 'datasets', v_datasets);
end $$;

-- aw_cognee_index lists the documents that have an active version, by id, those after p.after, at most p.limit, each
-- with what is noted of it. now is the database's clock before the list was read.
create or replace function {{ .schema }}.aw_cognee_index(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_after uuid := coalesce(nullif(p ->> 'after', ''), '00000000-0000-0000-0000-000000000000');
  v_limit integer := least(greatest(coalesce((p ->> 'limit')::int, 1000), 1), 1000);
  v_now timestamptz := clock_timestamp();
begin
  return jsonb_build_object('now', v_now, 'documents', coalesce((
    select jsonb_agg(jsonb_build_object('document_id', d.id, 'document_set', d.document_set,
      'version', d.active_version, 'status', k.status, 'sent', k.sent, 'data_id', k.data_id,
      'dataset_id', k.dataset_id) order by d.id)
    from (select * from {{ .schema }}.documents x
          where x.client_id = v_client and x.id > v_after and x.active_version is not null
          order by x.id limit v_limit) d
    left join {{ .schema }}.cognee_documents k on k.client_id = v_client and k.document_id = d.id), '[]'));
end $$;

-- aw_requeue_cognee makes documents due that Cognee does not have, or of which it is not known which version it has.
-- p.documents: their ids, each with Cognee's data_id and dataset_id if it has the document. It leaves out what waits
-- anyhow, what was sent after p.before, and what is no longer in the index, and returns how many are due.
create or replace function {{ .schema }}.aw_requeue_cognee(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_before timestamptz := p ->> 'before';
  v_now timestamptz := clock_timestamp();
  v_queued integer;
begin
  insert into {{ .schema }}.cognee_documents as k (
    client_id, document_id, document_set, wanted, status, data_id, dataset_id, next_attempt_at, queued_at)
  select v_client, d.id, d.document_set, d.active_version, 'pending', c.data_id, c.dataset_id, v_now, v_now
  from jsonb_to_recordset(p -> 'documents') as c (document_id uuid, data_id text, dataset_id text)
  join {{ .schema }}.documents d on d.client_id = v_client and d.id = c.document_id and d.active_version is not null
  order by d.id -- two at once must not lock the rows in another order
  on conflict (document_id, client_id) do update set
    wanted = excluded.wanted, status = 'pending', sent = null, data_id = excluded.data_id,
    dataset_id = excluded.dataset_id, attempts = 0, next_attempt_at = v_now, queued_at = v_now, last_error = null,
    response_status = null
  where k.status <> 'pending' and coalesce(k.sent_at, '-infinity') < v_before;
  get diagnostics v_queued = row_count;
  return jsonb_build_object('queued', v_queued);
end $$;

-- aw_cognee_gone are those of some documents that are not in the index. An id that is not there never comes back.
create or replace function {{ .schema }}.aw_cognee_gone(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_ids uuid[] := {{ .schema }}.aw_uuids(p -> 'ids', 1000);
begin
  return coalesce((select jsonb_agg(i) from unnest(v_ids) i
                   where not exists (select from {{ .schema }}.documents d
                                     where d.client_id = v_client and d.id = i and d.active_version is not null)), '[]');
end $$;
