-- The webhook loop over the outbox.

create or replace function {{ .schema }}.aw_claim_deliveries(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
  v_claimed jsonb;
  v_next timestamptz;
  v_due int := 0;
begin
  with due as (
    select w.id from {{ .schema }}.webhook_deliveries w
    where w.client_id = v_client and w.status = 'pending' and w.next_attempt_at <= v_now
      and (w.lease_expires_at is null or w.lease_expires_at <= v_now)
      and length(w.id) <= 128 and w.id ~ '^[A-Za-z0-9_-]+$' -- an older row may have one that can't be signed
      and not coalesce(p -> 'skip_hosts' ? lower(substring(w.url from '^[^:]+://([^/?#]+)')), false)
    order by w.next_attempt_at
    limit (p ->> 'max')::int
    for update skip locked
  ), claimed as (
    update {{ .schema }}.webhook_deliveries w set
      fence = w.fence + 1, lease_expires_at = v_now + {{ .schema }}.aw_span(p -> 'lease_ms'), worker = p ->> 'worker'
    from due where w.client_id = v_client and w.id = due.id
    returning w.*
  )
  select jsonb_agg(jsonb_build_object('id', c.id, 'job_id', c.job_id, 'url', c.url, 'body', c.body,
                                      'attempts', c.attempts, 'fence', c.fence, 'traceparent', j.traceparent) order by c.next_attempt_at)
  into v_claimed from claimed c left join {{ .schema }}.jobs j on j.client_id = v_client and j.id = c.job_id;

  select min(greatest(w.next_attempt_at, coalesce(w.lease_expires_at, w.next_attempt_at))) into v_next
  from {{ .schema }}.webhook_deliveries w
  where w.client_id = v_client and w.status = 'pending'
    and greatest(w.next_attempt_at, coalesce(w.lease_expires_at, w.next_attempt_at)) > v_now;

  -- What is left, as far as 1001: enough to see that it is much. Usually nothing is, and nothing is counted.
  if (p ->> 'count_due')::boolean
     and (jsonb_array_length(v_claimed) >= (p ->> 'max')::int or jsonb_array_length(p -> 'skip_hosts') > 0) then
    select count(*) into v_due from (
      select from {{ .schema }}.webhook_deliveries w
      where w.client_id = v_client and w.status = 'pending' and w.next_attempt_at <= v_now
        and (w.lease_expires_at is null or w.lease_expires_at <= v_now)
      limit 1001) due;
  end if;
  return jsonb_build_object('deliveries', coalesce(v_claimed, '[]'), 'due', v_due,
                            'next_ms', case when v_next is null then 0 else {{ .schema }}.aw_ms(v_next) end);
end $$;

create or replace function {{ .schema }}.aw_settle_delivery(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
begin
  update {{ .schema }}.webhook_deliveries set
    status = p ->> 'status', attempts = attempts + 1, lease_expires_at = null,
    next_attempt_at = case when p ->> 'status' = 'pending' then v_now + {{ .schema }}.aw_span(p -> 'next_after_ms') end,
    delivered_at = case when p ->> 'status' = 'delivered' then v_now end,
    response_status = nullif((p ->> 'response_status')::int, 0), response = nullif(p ->> 'response', ''),
    latency_ms = (p ->> 'latency_ms')::bigint, last_error = nullif(p ->> 'error', '')
  where client_id = v_client and id = p ->> 'id' and fence = (p ->> 'fence')::bigint
    and status = 'pending' and lease_expires_at is not null;
  if not found then
    raise exception 'delivery % is not held under fence %', p ->> 'id', p ->> 'fence' using errcode = 'AW001';
  end if;
  return '{}';
end $$;

-- aw_outbox says how much the outbox holds, counted as far as 10001: rows and their ages are for operators.
create or replace function {{ .schema }}.aw_outbox(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
begin
  return (
    select jsonb_build_object('pending', count(*), 'due', count(*) filter (where w.next_attempt_at <= v_now),
      'oldest_ms', coalesce(floor(extract(epoch from v_now - min(w.created_at)) * 1000)::bigint, 0))
    from (select d.next_attempt_at, d.created_at from {{ .schema }}.webhook_deliveries d
          where d.client_id = v_client and d.status = 'pending' order by d.next_attempt_at limit 10001) w);
end $$;
