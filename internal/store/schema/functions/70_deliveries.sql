-- The webhook loop over the outbox.
--
-- A receiver that is down is a row of webhook_outages: a host, or one path of a host. Its deliveries wait for it
-- (waits_for) instead of following their own schedules; one at a time is sent, as a probe. A probe is not an attempt.
-- When the receiver answers, claims release what waits for it, some at a time (aw_release_deliveries): those that never
-- failed are due, others when their own schedule has them (scheduled_at). A delivery also comes due when it has waited
-- (waits_since) as long as its schedule takes: then it is tried once more.

-- aw_receivers are the receivers of a URL: its host, and its path there. The path may contain a token, so it is
-- hashed.
create or replace function {{ .schema }}.aw_receivers(url text) returns text[]
language sql immutable
return array[lower(substring(url from '^[^:]+://([^/?#]+)')),
             lower(substring(url from '^[^:]+://([^/?#]+)')) || '/'
               || md5(coalesce(substring(url from '^[^:]+://[^/?#]+([^?#]*)'), ''))];

-- aw_webhook_max_wait is how long a delivery waits for a receiver that is down: as long as its schedule takes. It counts
-- from the start of the wait: an old delivery may never have been sent, because no worker ran.
create or replace function {{ .schema }}.aw_webhook_max_wait() returns interval
language sql immutable
return make_interval(hours => 76);

-- aw_lock_outages makes this transaction the only one that changes the tenant's outages. Lock order: a delivery, then
-- this. A transaction that holds it never waits for the row of a delivery. It locks a row: any role could take and
-- keep an advisory lock, whose number can be guessed.
create or replace function {{ .schema }}.aw_lock_outages(client text) returns void
language plpgsql set search_path = {{ .path }} as $$
begin
  insert into {{ .schema }}.webhook_locks (client_id) values (client) on conflict (client_id) do nothing;
  perform from {{ .schema }}.webhook_locks l where l.client_id = client for update;
end $$;

-- aw_extend_deliveries renews the leases of claims that still belong to the caller, and returns their ids. A lease of
-- zero releases them.
create or replace function {{ .schema }}.aw_extend_deliveries(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_kept jsonb;
begin
  with kept as (
    update {{ .schema }}.webhook_deliveries w
    set lease_expires_at = clock_timestamp() + {{ .schema }}.aw_interval(p -> 'lease_ms')
    from jsonb_to_recordset(p -> 'claims') as c (id text, fence bigint)
    where w.client_id = v_client and w.id = c.id and w.fence = c.fence and w.status = 'pending'
      and w.lease_expires_at is not null
    returning w.id
  )
  select jsonb_agg(k.id) into v_kept from kept k;
  return jsonb_build_object('kept', coalesce(v_kept, '[]'));
end $$;

-- aw_settle_delivery records an attempt. p.down, 'host' or 'url', is what the worker considers down; a probe without
-- an answer, or with a 5xx, means the same. Any other answer ends the outage of its receiver. A Retry-After postpones
-- the receiver's probe by 5 minutes at most: the answer was to one URL, and others wait for the same receiver.
create or replace function {{ .schema }}.aw_settle_delivery(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
  w {{ .schema }}.webhook_deliveries;
  o {{ .schema }}.webhook_outages;
  v_status text := p ->> 'status';
  v_error text := nullif(p ->> 'error', '');
  v_answers boolean;
  v_after interval := least(
    coalesce({{ .schema }}.aw_interval(p -> 'retry_after_ms'), interval '0'), make_interval(mins => 5));
  v_receivers text[];
  v_down text;
  v_host text;
  v_waiting int := 0;
  v_since timestamptz;
  v_waits_since timestamptz;
begin
  select * into w from {{ .schema }}.webhook_deliveries
  where client_id = v_client and id = p ->> 'id' and fence = (p ->> 'fence')::bigint
    and status = 'pending' and lease_expires_at is not null
  for update;
  if not found then
    raise exception 'delivery % is not held under fence %', p ->> 'id', p ->> 'fence' using errcode = 'AW001';
  end if;
  v_receivers := {{ .schema }}.aw_receivers(w.url);
  v_answers := coalesce((p ->> 'response_status')::int, 0) between 1 and 499;
  if v_status = 'failed' and not v_answers and w.waits_for is not null then
    v_status := 'pending'; -- a probe is not an attempt, and so not the last one
  end if;
  if v_status = 'pending' and not v_answers then
    perform {{ .schema }}.aw_lock_outages(v_client);
    v_down := case when p ->> 'down' = 'host' then v_receivers[1] else coalesce(
      (select e.receiver from {{ .schema }}.webhook_outages e -- also one that was found while this was being sent
       where e.client_id = v_client and e.receiver = any (v_receivers)
       order by e.receiver is distinct from w.waits_for, e.receiver limit 1),
      case when p ->> 'down' = 'url' then v_receivers[2] end) end;
  end if;
  if v_down is not null then -- functions of before migration 056 neither set nor clear waits_since
    v_waits_since := coalesce(case when w.waits_for is not null then w.waits_since end, v_now);
  end if;
  if v_waits_since + {{ .schema }}.aw_webhook_max_wait() <= v_now then
    v_status := 'failed';
    v_error := concat_ws('; ', v_error, 'the receiver was down for as long as there are attempts');
    v_down := null;
  end if;

  if v_down is not null then
    insert into {{ .schema }}.webhook_outages as known (client_id, receiver, since, probe_at)
    values (v_client, v_down, v_now, v_now + greatest(make_interval(secs => 5), v_after))
    on conflict (receiver, client_id) do update set probe_at = case
      when w.waits_for is distinct from known.receiver then known.probe_at -- it was being sent when the outage began
      else v_now + greatest(v_after, least(
        greatest((v_now - known.since) / 10, make_interval(secs => 5)), make_interval(mins => 5))) end
    returning known.* into o;
  end if;
  update {{ .schema }}.webhook_deliveries set
    status = v_status, lease_expires_at = null, waits_for = v_down, waits_since = v_waits_since,
    attempts = attempts + case when w.waits_for is not null and v_down is not null or p -> 'uncounted' = 'true' then 0 else 1 end,
    next_attempt_at = case when v_status <> 'pending' then null
                           when v_down is not null then v_waits_since + {{ .schema }}.aw_webhook_max_wait()
                           else v_now + {{ .schema }}.aw_interval(p -> 'next_after_ms') end,
    scheduled_at = case when v_down is null then null when w.waits_for is not null then w.scheduled_at
                        else v_now + {{ .schema }}.aw_interval(p -> 'next_after_ms') end,
    delivered_at = case when v_status = 'delivered' then v_now end,
    response_status = nullif((p ->> 'response_status')::int, 0), response = nullif(p ->> 'response', ''),
    latency_ms = (p ->> 'latency_ms')::bigint, last_error = v_error
  where client_id = v_client and id = w.id;

  if v_answers then
    if exists (
      select from {{ .schema }}.webhook_outages e where e.client_id = v_client and e.receiver = any (v_receivers)) then
      perform {{ .schema }}.aw_lock_outages(v_client);
      with ended as (
        delete from {{ .schema }}.webhook_outages e
        where e.client_id = v_client and e.receiver = any (v_receivers) returning e.since
      )
      select min(e.since) into v_since from ended e;
      select count(*) into v_waiting from ( -- the next claims release them
        select from {{ .schema }}.webhook_deliveries d
        where d.client_id = v_client and d.waits_for = any (v_receivers) and d.status = 'pending'
        limit 10001) d;
    end if;
  elsif v_status = 'refused' and w.waits_for is not null then -- it was never sent: the next one is the probe
    perform {{ .schema }}.aw_lock_outages(v_client);
    update {{ .schema }}.webhook_outages e set probe_at = v_now
    where e.client_id = v_client and e.receiver = w.waits_for;
  elsif o.since = v_now then
    v_host := split_part(v_down, '/', 1);
    select count(*) into v_waiting from (
      select from {{ .schema }}.webhook_deliveries d
      where d.client_id = v_client and d.status = 'pending' and d.host = v_host
        and (v_down = v_host or v_down = any ({{ .schema }}.aw_receivers(d.url)))
      limit 10001) d;
  end if;
  return jsonb_build_object('status', v_status, 'down', v_down is not null, 'began', coalesce(o.since = v_now, false),
    'ended', v_since is not null, 'waiting', v_waiting,
    'down_ms', coalesce(floor(extract(epoch from v_now - v_since) * 1000)::bigint, 0),
    'probe_ms', case when o.probe_at is null then 0 else {{ .schema }}.aw_ms_until(o.probe_at) end);
end $$;

-- aw_outbox returns the size of the outbox, counted up to 10001, and the age of its oldest row, for operators.
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

-- aw_delivery_json is a delivery for people. It shows only the host of the URL: path and query may contain a token.
create or replace function {{ .schema }}.aw_delivery_json(w {{ .schema }}.webhook_deliveries) returns jsonb
language sql stable set timezone = 'UTC'
return jsonb_build_object('id', w.id, 'job_id', w.job_id, 'event', w.event, 'status', w.status, 'attempts', w.attempts,
  'host', coalesce(lower(substring(w.url from '^[^:]+://(?:[^/?#]*@)?([^/?#@]+)')), ''),
  'in_flight', w.status = 'pending' and coalesce(w.lease_expires_at > clock_timestamp(), false),
  'waiting', w.waits_for is not null,
  'next_attempt_at', w.next_attempt_at, 'response_status', w.response_status, 'last_error', w.last_error,
  'created_at', w.created_at, 'delivered_at', w.delivered_at, 'earlier', w.earlier);

-- aw_list_deliveries lists deliveries, newest first, at most p.limit.
create or replace function {{ .schema }}.aw_list_deliveries(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_status text := nullif(p ->> 'status', '');
  v_job text := nullif(p ->> 'job_id', '');
  v_at timestamptz := coalesce((p #>> '{after,at}')::timestamptz, 'infinity');
  v_id text := coalesce(p #>> '{after,id}', '');
  v_limit integer := least(greatest((p ->> 'limit')::int, 1), 1000);
begin
  return coalesce((
    select jsonb_agg({{ .schema }}.aw_delivery_json(x::{{ .schema }}.webhook_deliveries)
                     order by x.created_at desc, x.id desc)
    from (select w.* from {{ .schema }}.webhook_deliveries w
          where w.client_id = v_client and (v_status is null or w.status = v_status)
            and (v_job is null or w.job_id = v_job) and (w.created_at, w.id) < (v_at, v_id)
          order by w.created_at desc, w.id desc limit v_limit) x), '[]');
end $$;

-- aw_resend_delivery has a delivery sent again that ended without success, or, with p.delivered, one that was
-- delivered. Its id stays, so that a receiver that has seen it recognizes it. Its schedule starts again, and so does
-- the wait for a receiver that is down. attempts goes on from where it was, so that a listing shows all of them, and
-- earlier keeps how the last 20 rounds ended. The guard requires the new fence.
create or replace function {{ .schema }}.aw_resend_delivery(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_id text := p ->> 'id';
  v_now timestamptz := clock_timestamp();
  w {{ .schema }}.webhook_deliveries;
begin
  select * into w from {{ .schema }}.webhook_deliveries where client_id = v_client and id = v_id for update;
  if not found then
    raise exception 'there is no delivery %', v_id using errcode = 'AW002';
  elsif w.status = 'pending' then
    raise exception 'delivery % has not ended: it %', w.id,
      case when w.lease_expires_at > v_now then 'is being sent' else 'will be sent by itself' end
      using errcode = 'AW015';
  elsif not (length(w.id) <= 128 and w.id ~ '^[A-Za-z0-9_-]+$') then
    raise exception 'delivery % has an id that can''t be signed', w.id using errcode = 'AW015';
  elsif w.status = 'delivered' and not coalesce((p ->> 'delivered')::boolean, false) then
    raise exception 'delivery % was delivered at %', w.id,
      to_char(w.delivered_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"') using errcode = 'AW016';
  end if;
  update {{ .schema }}.webhook_deliveries set
    status = 'pending', fence = w.fence + 1, lease_expires_at = null, waits_for = null, waits_since = null,
    scheduled_at = null, attempts_before = w.attempts,
    host = coalesce(({{ .schema }}.aw_receivers(w.url))[1], ''), -- a row of version 44 has none
    next_attempt_at = v_now, created_at = v_now, delivered_at = null, response_status = null, last_error = null,
    earlier = (jsonb_build_array(jsonb_build_object(
      'status', w.status, 'attempts', w.attempts - coalesce(w.attempts_before, 0),
      'response_status', w.response_status, 'last_error', w.last_error, 'created_at', w.created_at,
      'delivered_at', w.delivered_at, 'resent_at', v_now)) || coalesce(w.earlier, '[]')) - 20
  where client_id = v_client and id = v_id
  returning * into w;
  return {{ .schema }}.aw_delivery_json(w);
end $$;
