-- What became of a request to Cognee: the circuit breaker, documents, datasets. See 72_cognee.sql.

-- aw_cognee_max_attempts is after how many failed attempts a document, or a run of cognify, is left for a person. With the
-- worker's waits between them it is after about three days: a model that is down over a weekend costs nothing. Both have
-- as many: of_what stays, as a function keeps its signature.
create or replace function {{ .schema }}.aw_cognee_max_attempts(of_what text) returns integer
language sql immutable
return 24;

-- aw_cognee_health moves the circuit breaker. p.health is
--   up: Cognee answered. down: it did not answer, or refuses every request.
--   failing: this request failed, which may be due to its document. Three different ones in a row mean down.
--   null: nothing was learned.
-- p.probe: the request was a probe. p.probe_ms: the first wait; it grows with the outage, up to five minutes, and
-- p.retry_after_ms lengthens it, up to fifteen. It returns the state of the breaker.
create or replace function {{ .schema }}.aw_cognee_health(client text, subject text, p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_now timestamptz := clock_timestamp();
  v_health text := p ->> 'health';
  v_since timestamptz;
  v_failing text[];
  t {{ .schema }}.cognee_targets;
begin
  select * into t from {{ .schema }}.cognee_targets x where x.client_id = client;
  if v_health is null or t.client_id is null
     or v_health = 'up' and t.down_since is null and t.failing = '{}' then
    return jsonb_build_object('down', t.down_since is not null);
  end if;
  select * into t from {{ .schema }}.cognee_targets x where x.client_id = client for update;
  v_since := t.down_since;
  if v_health = 'up' then
    update {{ .schema }}.cognee_targets x set failing = '{}', down_since = null, probe_at = null, last_error = null
    where x.client_id = client;
    return jsonb_build_object('down', false, 'ended', v_since is not null,
      'down_ms', coalesce(floor(extract(epoch from v_now - v_since) * 1000)::bigint, 0));
  end if;
  v_failing := case when subject = any (t.failing) then t.failing else t.failing || subject end;
  if v_health = 'down' or cardinality(v_failing) >= 3 then
    t.down_since := coalesce(v_since, v_now);
  end if;
  if t.down_since is not null and (v_since is null or (p ->> 'probe')::boolean) then
    t.probe_at := v_now + greatest(
      least(greatest((v_now - t.down_since) / 10, {{ .schema }}.aw_interval(p -> 'probe_ms')), make_interval(mins => 5)),
      least(coalesce({{ .schema }}.aw_interval(p -> 'retry_after_ms'), interval '0'), make_interval(mins => 15)));
  end if;
  update {{ .schema }}.cognee_targets x set
    failing = v_failing[:3], down_since = t.down_since, probe_at = t.probe_at, last_error = p ->> 'error'
  where x.client_id = client;
  return jsonb_build_object('down', t.down_since is not null, 'began', v_since is null and t.down_since is not null,
    'probe_ms', case when t.down_since is null then 0 else {{ .schema }}.aw_ms_until(t.probe_at) end);
end $$;

-- aw_cognee_dataset_changed counts a change of a dataset and returns its number.
create or replace function {{ .schema }}.aw_cognee_dataset_changed(client text, in_set text, dataset text)
returns bigint
language plpgsql set search_path = {{ .path }} as $$
declare
  v_now timestamptz := clock_timestamp();
  v_change bigint;
begin
  insert into {{ .schema }}.cognee_datasets as s (
    client_id, document_set, dataset_id, changes, first_change_at, changed_at)
  values (client, in_set, dataset, 1, v_now, v_now)
  on conflict (document_set, client_id) do update set
    dataset_id = excluded.dataset_id, changes = s.changes + 1, first_change_at = coalesce(s.first_change_at, v_now),
    changed_at = v_now, state = case when s.state = 'failed' then 'idle' else s.state end,
    attempts = case when s.state = 'failed' then 0 else s.attempts end,
    next_attempt_at = case when s.state = 'failed' then v_now else s.next_attempt_at end
  returning s.changes into v_change;
  return v_change;
end $$;

-- aw_settle_cognee records an attempt at a document. p.version is what was sent; null: it was to be forgotten.
--   p.outcome: sent (with p.data_id and p.dataset_id; p.changed: Cognee's content is another one now), forgotten,
--     replaced (the version is no longer active; nothing was sent), retry (after p.next_after_ms) or refused.
--   p.unlisted_ms: with forgotten, if Cognee does not list the document, of which only our name is known. It may go on with
--     an upload that was cut off, and list it later. So it is asked again until so long after the deletion.
--   p.health and more: see aw_cognee_health. A retry because Cognee is down does not count as an attempt, and one that may be
--     due to the document does, also in an outage: it may be the only document that the outage is probed with. Nor does one
--     of a version that is not wanted any more count: the wanted one, or the deletion, is due at once.
-- It returns the state of the breaker, and the status of the document.
create or replace function {{ .schema }}.aw_settle_cognee(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_document uuid := p ->> 'document_id';
  v_fence bigint := p ->> 'fence';
  v_version integer := p ->> 'version';
  v_outcome text := p ->> 'outcome';
  v_now timestamptz := clock_timestamp();
  v_look interval := {{ .schema }}.aw_interval(p -> 'unlisted_ms');
  v_health jsonb;
  k {{ .schema }}.cognee_documents;
begin
  select * into k from {{ .schema }}.cognee_documents x
  where x.client_id = v_client and x.document_id = v_document and x.fence = v_fence and x.lease_expires_at is not null
  for update;
  if not found then
    raise exception 'document % is not held under fence %', v_document, v_fence using errcode = 'AW030';
  end if;
  if v_outcome = 'sent' and coalesce((p ->> 'changed')::boolean, true) then
    k.change := {{ .schema }}.aw_cognee_dataset_changed(v_client, k.document_set, p ->> 'dataset_id');
  end if;
  v_health := {{ .schema }}.aw_cognee_health(v_client, v_document::text, p);
  v_look := case when k.wanted is null and k.fence > 1 and v_now < k.queued_at + v_look then v_look end;
  if v_outcome = 'forgotten' and k.wanted is null and v_look is null then
    delete from {{ .schema }}.cognee_documents x where x.client_id = v_client and x.document_id = v_document;
    return v_health || jsonb_build_object('status', 'forgotten');
  end if;
  k.lease_expires_at := null;
  k.response_status := nullif((p ->> 'response_status')::int, 0);
  k.last_error := nullif(p ->> 'error', '');
  k.next_attempt_at := v_now;
  k.status := 'pending';
  case v_outcome
    when 'sent' then
      k.sent := v_version;
      k.sent_at := v_now;
      k.data_id := p ->> 'data_id';
      k.dataset_id := p ->> 'dataset_id';
      k.attempts := 0;
      k.status := case when k.wanted is not distinct from v_version then 'sent' else 'pending' end;
    when 'forgotten' then
      k.sent := null;
      k.data_id := null;
      if v_look is not null then
        k.next_attempt_at := least(v_now + greatest(v_now - k.queued_at, v_look / 60), k.queued_at + v_look);
      end if;
    when 'refused' then
      k.status := case when k.wanted is not distinct from v_version then 'refused' else 'pending' end;
    when 'retry' then
      if k.wanted is not distinct from v_version and p ->> 'health' is distinct from 'down' then
        k.attempts := k.attempts + 1;
        k.next_attempt_at := v_now + {{ .schema }}.aw_interval(p -> 'next_after_ms');
        k.status := case when k.attempts >= {{ .schema }}.aw_cognee_max_attempts('document') then 'failed'
                         else 'pending' end;
      end if;
    when 'replaced' then
      k.attempts := k.attempts;
  end case;
  update {{ .schema }}.cognee_documents x set
    status = k.status, sent = k.sent, sent_at = k.sent_at, data_id = k.data_id, dataset_id = k.dataset_id,
    change = k.change, lease_expires_at = null, attempts = k.attempts, next_attempt_at = k.next_attempt_at,
    response_status = k.response_status, last_error = k.last_error
  where x.client_id = v_client and x.document_id = v_document;
  return v_health || jsonb_build_object('status', k.status);
end $$;

-- aw_settle_cognify records a request about a dataset. p.outcome: asked (Cognee works on it), running (it still does),
-- done, or failed (asked again after p.next_after_ms). p.next_after_ms of asked and running: when to ask how far it is.
create or replace function {{ .schema }}.aw_settle_cognify(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_set text := p ->> 'document_set';
  v_fence bigint := p ->> 'fence';
  v_outcome text := p ->> 'outcome';
  v_now timestamptz := clock_timestamp();
  v_health jsonb;
  s {{ .schema }}.cognee_datasets;
begin
  select * into s from {{ .schema }}.cognee_datasets x
  where x.client_id = v_client and x.document_set = v_set and x.fence = v_fence and x.lease_expires_at is not null
  for update;
  if not found then
    raise exception 'dataset % is not held under fence %', v_set, v_fence using errcode = 'AW030';
  end if;
  v_health := {{ .schema }}.aw_cognee_health(v_client, 'set ' || v_set, p);
  s.next_attempt_at := v_now + coalesce({{ .schema }}.aw_interval(p -> 'next_after_ms'), interval '0');
  s.last_error := nullif(p ->> 'error', '');
  if v_outcome in ('asked', 'done') then
    s.first_change_at := case when s.changes > s.covered then coalesce(s.first_change_at, v_now) end;
  end if;
  case v_outcome
    when 'asked' then
      s.state := 'running';
      s.asked_at := v_now;
    when 'running' then
      s.state := 'running';
    when 'done' then
      s.state := 'idle';
      s.done := s.covered;
      s.attempts := 0;
      s.finished_at := v_now;
    when 'failed' then
      s.state := 'idle';
      if p ->> 'health' is distinct from 'down' then
        s.attempts := s.attempts + 1;
        s.state := case when s.attempts >= {{ .schema }}.aw_cognee_max_attempts('dataset') then 'failed' else 'idle' end;
      end if;
  end case;
  update {{ .schema }}.cognee_datasets x set
    state = s.state, done = s.done, asked_at = s.asked_at, finished_at = s.finished_at, attempts = s.attempts,
    first_change_at = s.first_change_at, next_attempt_at = s.next_attempt_at, last_error = s.last_error,
    lease_expires_at = null
  where x.client_id = v_client and x.document_set = v_set;
  return v_health || jsonb_build_object('status', s.state);
end $$;
