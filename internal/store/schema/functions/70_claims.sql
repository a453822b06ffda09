-- How the webhook loop claims due deliveries. The cost of a claim depends on how many it claims, and on how many
-- receivers there are, and not on how many deliveries are pending: those that wait for a receiver that is down come
-- last in webhook_deliveries_due, by their next_attempt_at, and so they are not read.

-- aw_claim_probes returns the ids of the deliveries to send as probes, one for each receiver that is down and whose
-- probe is due, at most p.max. The caller has locked the tenant's outages.
create or replace function {{ .schema }}.aw_claim_probes(p jsonb, client text, now_at timestamptz) returns text[]
language plpgsql set search_path = {{ .path }} as $$
declare
  v_probes text[] := '{}';
  v_id text;
  r record;
begin
  for r in select o.receiver from {{ .schema }}.webhook_outages o
           where o.client_id = client and o.probe_at <= now_at
             and not coalesce(p -> 'skip_hosts' ? split_part(o.receiver, '/', 1), false)
           order by o.probe_at, o.receiver loop
    exit when cardinality(v_probes) >= (p ->> 'max')::int;
    select w.id into v_id from {{ .schema }}.webhook_deliveries w
    where w.client_id = client and w.waits_for = r.receiver and w.status = 'pending'
      and (w.lease_expires_at is null or w.lease_expires_at <= now_at)
    order by w.fence, w.created_at, w.id -- in turn: one that always fails must not hide that the receiver is back
    limit 1
    for update skip locked;
    if found then
      v_probes := v_probes || v_id;
      update {{ .schema }}.webhook_outages o set
        probe_at = now_at + greatest({{ .schema }}.aw_interval(p -> 'lease_ms'), make_interval(secs => 30))
      where o.client_id = client and o.receiver = r.receiver;
    elsif not exists (select from {{ .schema }}.webhook_deliveries w
                      where w.client_id = client and w.waits_for = r.receiver and w.status = 'pending') then
      delete from {{ .schema }}.webhook_outages o -- nothing waits for it any more
      where o.client_id = client and o.receiver = r.receiver;
    end if;
  end loop;
  return v_probes;
end $$;

-- aw_ended_outages returns the receivers that deliveries wait for although they are not down any more. It looks at one
-- delivery of each receiver.
create or replace function {{ .schema }}.aw_ended_outages(client text) returns setof text
language plpgsql stable set search_path = {{ .path }}
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  with recursive waiting as (
    select (select w.waits_for from {{ .schema }}.webhook_deliveries w
            where w.client_id = client and w.status = 'pending' and w.waits_for is not null
            order by w.waits_for limit 1) as receiver
    union all
    select (select w.waits_for from {{ .schema }}.webhook_deliveries w
            where w.client_id = client and w.status = 'pending' and w.waits_for > r.receiver
            order by w.waits_for limit 1)
    from waiting r where r.receiver is not null
  )
  select r.receiver from waiting r
  where r.receiver is not null and not exists (
    select from {{ .schema }}.webhook_outages o where o.client_id = client and o.receiver = r.receiver);
end $$;

-- aw_release_deliveries makes those that wait for an outage that has ended follow their schedules again, at most 1000. It
-- returns whether others may be left. The caller has locked the tenant's outages, so that none begins meanwhile.
create or replace function {{ .schema }}.aw_release_deliveries(client text, now_at timestamptz) returns boolean
language plpgsql set search_path = {{ .path }}
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  c_most constant integer := 1000;
  v_left integer := c_most;
  v_released integer;
  v_receiver text;
begin
  for v_receiver in select e from {{ .schema }}.aw_ended_outages(client) e loop
    with waiting as materialized ( -- a join may run a subquery for each row, and each run would take as many
      select w.id from {{ .schema }}.webhook_deliveries w
      where w.client_id = client and w.waits_for = v_receiver and w.status = 'pending'
      order by w.fence, w.created_at, w.id limit v_left
      for update skip locked
    )
    update {{ .schema }}.webhook_deliveries d set
      waits_for = null, waits_since = null, scheduled_at = null, next_attempt_at = greatest(now_at, d.scheduled_at)
    from waiting w where d.client_id = client and d.id = w.id;
    get diagnostics v_released = row_count;
    v_left := v_left - v_released;
    exit when v_left <= 0;
  end loop;
  return v_left <= 0;
end $$;

-- aw_set_delivery_host fills in the host of a delivery, as aw_receivers has it.
create or replace function {{ .schema }}.aw_set_delivery_host() returns trigger
language plpgsql set search_path = {{ .path }} as $$
begin
  new.host := coalesce(lower(substring(new.url from '^[^:]+://([^/?#]+)')), '');
  return new;
end $$;

-- aw_due_at_hosts returns due deliveries of those hosts that have the oldest, none of skip_hosts. It looks at each host
-- that has pending deliveries, and at the oldest of some of them; it locks nothing. It returns twice as many as are
-- wanted: others may be about to claim the first of them.
create or replace function {{ .schema }}.aw_due_at_hosts(
  client text, now_at timestamptz, most integer, skip_hosts text[]
) returns table (id text)
language plpgsql stable set search_path = {{ .path }}
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_sort = on set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  with recursive hosts as (
    select (select w.host from {{ .schema }}.webhook_deliveries w
            where w.client_id = client and w.status = 'pending' order by w.host limit 1) as host
    union all
    select (select w.host from {{ .schema }}.webhook_deliveries w
            where w.client_id = client and w.status = 'pending' and w.host > h.host order by w.host limit 1)
    from hosts h where h.host is not null
  ), oldest as materialized (
    select h.host, f.next_attempt_at from hosts h cross join lateral (
      select w.next_attempt_at from {{ .schema }}.webhook_deliveries w
      where w.client_id = client and w.host = h.host and w.status = 'pending' and w.next_attempt_at <= now_at
        and (w.lease_expires_at is null or w.lease_expires_at <= now_at)
      order by w.next_attempt_at limit 1) f
    where h.host <> all (skip_hosts)
    order by f.next_attempt_at limit most
  )
  select d.id from oldest o cross join lateral (
    select w.id, w.next_attempt_at from {{ .schema }}.webhook_deliveries w
    where w.client_id = client and w.host = o.host and w.status = 'pending' and w.next_attempt_at <= now_at
      and (w.lease_expires_at is null or w.lease_expires_at <= now_at)
    order by w.next_attempt_at limit 2 * most) d
  order by d.next_attempt_at;
end $$;

-- aw_due_deliveries returns the ids of due deliveries, the oldest first, at most most, and none of skip_hosts. It locks
-- them, one by one, until it has enough. With down, those of receivers that are down are made to wait instead, at most
-- 1000; more then says that others may be due. The caller has locked the tenant's outages if there are any.
--
-- It looks at the deliveries in the order of time. When it has passed c_most_passed of skip_hosts, whose backlog may be
-- long, it looks at the other hosts.
create or replace function {{ .schema }}.aw_due_deliveries(
  client text, now_at timestamptz, most integer, skip_hosts text[], down boolean, out ids text[], out more boolean
)
language plpgsql set search_path = {{ .path }}
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  c_most_held constant integer := 1000;
  c_most_passed constant integer := 100;
  v_due refcursor;
  v_at_hosts boolean := false;
  v_passed integer := 0;
  v_held integer := 0;
  v_id text;
  v_host text;
  v_receivers text[];
  v_down text;
  v_row {{ .schema }}.webhook_deliveries;
begin
  ids := '{}';
  open v_due for
    select w.id, w.host from {{ .schema }}.webhook_deliveries w
    where w.client_id = client and w.status = 'pending' and w.next_attempt_at <= now_at
      and (w.lease_expires_at is null or w.lease_expires_at <= now_at)
    order by w.next_attempt_at;
  while cardinality(ids) < most loop
    fetch v_due into v_id, v_host;
    exit when not found;
    if v_host = any (skip_hosts) then
      v_passed := v_passed + 1;
      if v_passed >= c_most_passed then
        close v_due;
        open v_due for
          select d.id, null from {{ .schema }}.aw_due_at_hosts(client, now_at, most, skip_hosts) d;
        v_at_hosts := true;
      end if;
      continue;
    end if;
    continue when v_at_hosts and v_id = any (ids);
    select * into v_row from {{ .schema }}.webhook_deliveries w
    where w.client_id = client and w.id = v_id and w.status = 'pending' and w.next_attempt_at <= now_at
      and (w.lease_expires_at is null or w.lease_expires_at <= now_at)
      and length(w.id) <= 128 and w.id ~ '^[A-Za-z0-9_-]+$' -- an older row may have one that can't be signed
    for update skip locked;
    continue when not found;
    v_down := null;
    if down and v_row.waits_for is null then -- else it has waited long enough, and is tried once more
      v_receivers := {{ .schema }}.aw_receivers(v_row.url);
      select min(o.receiver) into v_down from {{ .schema }}.webhook_outages o
      where o.client_id = client and o.receiver = any (v_receivers);
    end if;
    if v_down is null then
      ids := ids || v_row.id;
      continue;
    end if;
    update {{ .schema }}.webhook_deliveries d set
      status = case when v_row.once then 'failed' else 'pending' end, lease_expires_at = null,
      last_error = case when v_row.once then 'the receiver was down, and this is sent once only' else v_row.last_error end,
      waits_for = case when v_row.once then null else v_down end,
      waits_since = case when v_row.once then null else now_at end,
      next_attempt_at = case when not coalesce(v_row.once, false) then now_at + {{ .schema }}.aw_webhook_max_wait() end
    where d.client_id = client and d.id = v_row.id;
    v_held := v_held + 1;
    exit when v_held >= c_most_held;
  end loop;
  close v_due;
  more := cardinality(ids) < most and (v_held >= c_most_held or v_held > 0 and v_at_hosts);
end $$;

-- aw_next_delivery is when the next delivery comes due, or a claim runs out, after now_at; null if none is pending.
-- Claims are looked for among the oldest due deliveries only; one that a crash left behind elsewhere is found at the
-- next poll. While receivers are down, it is when the first of them is probed at the latest.
create or replace function {{ .schema }}.aw_next_delivery(client text, now_at timestamptz, down boolean)
returns timestamptz
language plpgsql stable set search_path = {{ .path }}
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
begin
  return (select least(
    (select w.next_attempt_at from {{ .schema }}.webhook_deliveries w
     where w.client_id = client and w.status = 'pending' and w.next_attempt_at > now_at
     order by w.next_attempt_at limit 1),
    (select min(w.lease_expires_at) from (
       select d.lease_expires_at from {{ .schema }}.webhook_deliveries d
       where d.client_id = client and d.status = 'pending' and d.next_attempt_at <= now_at
       order by d.next_attempt_at limit 200) w
     where w.lease_expires_at > now_at),
    case when down then (select min(o.probe_at) from {{ .schema }}.webhook_outages o
                         where o.client_id = client and o.probe_at > now_at) end));
end $$;

-- aw_claim_deliveries claims due deliveries, at most p.max. p.skip_hosts: hosts that the worker doesn't want any for
-- now.
create or replace function {{ .schema }}.aw_claim_deliveries(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_now timestamptz := clock_timestamp();
  v_skip text[] := coalesce((select array_agg(h) from jsonb_array_elements_text(p -> 'skip_hosts') h), '{}');
  v_down boolean;
  v_probes text[] := '{}';
  v_ids text[];
  v_more boolean;
  v_left boolean := false;
  v_claimed jsonb;
  v_next timestamptz;
  v_due int := 0;
begin
  v_down := exists (select from {{ .schema }}.webhook_outages o where o.client_id = v_client)
    or exists (select from {{ .schema }}.aw_ended_outages(v_client));
  if v_down then
    perform {{ .schema }}.aw_lock_outages(v_client);
    v_now := clock_timestamp();
    v_probes := {{ .schema }}.aw_claim_probes(p, v_client, v_now);
    v_left := {{ .schema }}.aw_release_deliveries(v_client, v_now);
  end if;
  select d.ids, d.more into v_ids, v_more
  from {{ .schema }}.aw_due_deliveries(v_client, v_now, (p ->> 'max')::int - cardinality(v_probes), v_skip, v_down) d;
  with claimed as (
    update {{ .schema }}.webhook_deliveries w set
      fence = w.fence + 1, lease_expires_at = v_now + {{ .schema }}.aw_interval(p -> 'lease_ms'),
      worker = p ->> 'worker'
    where w.client_id = v_client and w.id = any (v_ids || v_probes)
    returning w.*
  )
  select jsonb_agg(jsonb_build_object('id', c.id, 'job_id', c.job_id, 'url', c.url, 'host', c.host, 'body', c.body,
                                      'attempts', c.attempts - coalesce(c.attempts_before, 0), 'fence', c.fence,
                                      'traceparent', j.traceparent,
                                      'waiting', c.waits_for is not null, 'once', coalesce(c.once, false))
                   order by c.next_attempt_at)
  into v_claimed from claimed c left join {{ .schema }}.jobs j on j.client_id = v_client and j.id = c.job_id;
  v_next := case when v_more or v_left then v_now else {{ .schema }}.aw_next_delivery(v_client, v_now, v_down) end;

  -- What is left, counted up to 1001: enough to see a backlog. Usually nothing is left, and nothing is counted.
  if (p ->> 'count_due')::boolean
     and (jsonb_array_length(v_claimed) >= (p ->> 'max')::int or jsonb_array_length(p -> 'skip_hosts') > 0) then
    select count(*) into v_due from (
      select from {{ .schema }}.webhook_deliveries w
      where w.client_id = v_client and w.status = 'pending' and w.next_attempt_at <= v_now
        and (w.lease_expires_at is null or w.lease_expires_at <= v_now)
      limit 1001) due;
  end if;
  return jsonb_build_object('deliveries', coalesce(v_claimed, '[]'), 'due', v_due,
                            'next_ms', case when v_next is null then 0 else {{ .schema }}.aw_ms_until(v_next) end);
end $$;
