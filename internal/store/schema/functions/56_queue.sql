-- Postgres as the queue. A received message is hidden until its visibility ends, by this database's clock, and belongs
-- to who has its receipt. Errors: AW006 not a name of the client's queues, AW018 no such queue, AW019 the text is too large.

-- aw_queue_part is the partition that takes new messages at a time: each of the three for a minute.
create or replace function {{ .schema }}.aw_queue_part(at timestamptz) returns smallint
language sql stable -- as extract is: else it would not be inlined
return ((extract(epoch from at)::bigint / 60) % 3)::smallint;

-- aw_queue_check_name refuses a name that is not one of the client's queues (task.QueueNames). A beginning would not do:
-- acme-x-tasks is a queue of client acme-x, and not of acme. No name is of two clients, so a tenant can't send what
-- another one's receives would have to read past (I10).
create or replace function {{ .schema }}.aw_queue_check_name(v_client text, v_queue text) returns void
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  if v_queue is null or v_queue not in (
       v_client || '-tasks', v_client || '-tasks-high', v_client || '-tasks-low', v_client || '-tasks-deadletter') then
    raise exception 'client % has no queue of the name %: its queues are %-tasks, and that with -high, -low or -deadletter',
      v_client, coalesce(left(v_queue, 63), '(none)'), v_client using errcode = 'AW006';
  end if;
end $$;

-- aw_queue_check refuses a queue that doesn't exist. Earlier versions created queues of any name: what is in them can
-- still be received, counted and deleted.
create or replace function {{ .schema }}.aw_queue_check(v_client text, v_queue text) returns void
language plpgsql stable set search_path = {{ .path }} as $$
begin
  if not exists (select from {{ .schema }}.aw_queues where client_id = v_client and name = v_queue) then
    raise exception 'there is no queue %', v_queue using errcode = 'AW018';
  end if;
end $$;

-- aw_queue_ensure creates a queue of the client unless it exists.
create or replace function {{ .schema }}.aw_queue_ensure(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  perform {{ .schema }}.aw_queue_check_name(v_client, p ->> 'queue');
  if exists (select from {{ .schema }}.aw_queues where client_id = v_client and name = p ->> 'queue') then
    return '{}'; -- on a database that is read-only, too
  end if;
  insert into {{ .schema }}.aw_queues (client_id, name) values (v_client, p ->> 'queue')
  on conflict (name, client_id) do nothing;
  return '{}';
end $$;

-- aw_queue_put puts a message at the end of a queue, and tells who listens on aw_queue_<client>. A notification makes
-- the commits of all that send one wait for each other, so none is sent while a message that was put within the last
-- second still waits: it was announced, and who receives it looks again soon.
create or replace function {{ .schema }}.aw_queue_put(
  v_client text, v_queue text, v_body text, v_delay interval, v_ttl interval, v_receipt uuid) returns uuid
language plpgsql set search_path = {{ .path }} set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_id uuid;
begin
  if octet_length(v_body) > 65536 then
    raise exception 'the message has % bytes, 65536 fit', octet_length(v_body) using errcode = 'AW019';
  end if;
  if v_delay <= interval '0' and not exists (
       select from {{ .schema }}.aw_queue_messages m
       where m.client_id = v_client and m.queue = v_queue and m.receipt is null
         and m.visible_at > v_now - interval '1 second' and m.visible_at <= v_now and m.inserted_at = m.visible_at) then
    perform pg_notify('aw_queue_' || v_client, '');
  end if;
  insert into {{ .schema }}.aw_queue_messages (
    client_id, queue, part, inserted_at, visible_at, expires_at, receipt, body)
  values (v_client, v_queue, {{ .schema }}.aw_queue_part(v_now), v_now, v_now + greatest(v_delay, interval '0'),
          v_now + v_ttl, v_receipt, v_body)
  returning id into v_id;
  return v_id;
end $$;

-- aw_queue_send sends a message to a queue of the client: visible after delay_ms, kept for ttl_ms (null: until it is
-- deleted). With held the sender gets its receipt.
create or replace function {{ .schema }}.aw_queue_send(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_receipt uuid := case when (p ->> 'held')::boolean then gen_random_uuid() end;
  v_id uuid;
begin
  perform {{ .schema }}.aw_queue_check_name(v_client, p ->> 'queue');
  perform {{ .schema }}.aw_queue_check(v_client, p ->> 'queue');
  v_id := {{ .schema }}.aw_queue_put(v_client, p ->> 'queue', p ->> 'text',
    coalesce({{ .schema }}.aw_interval(p -> 'delay_ms'), interval '0'), {{ .schema }}.aw_interval(p -> 'ttl_ms'),
    v_receipt);
  return jsonb_build_object('id', v_id, 'receipt', v_receipt);
end $$;

-- aw_queue_receive hides up to n visible messages for visibility_ms and returns them with new receipts: first those
-- whose receiver died or stopped, then the others, each by the time at which they became visible. A task that was under
-- way does not go behind all that wait. Concurrent receives skip each other's rows.
--
-- It starts to look at p.after and p.held_after, which the last answer gave: index entries of messages that are done and
-- that VACUUM may not remove yet lie before them. What an earlier transaction commits late, or another worker's failed
-- transaction gives back, may lie there as well, so a caller omits them now and then. A transaction that takes less than
-- two seconds from its insert to its commit is never missed.
--
-- The planner takes the second limit for a tenth of all that wait, and with 100,000 of them would compile the statement,
-- which takes 0.4 s.
create or replace function {{ .schema }}.aw_queue_receive(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set timezone = 'UTC'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_queue text := p ->> 'queue';
  v_most integer := least(greatest((p ->> 'n')::int, 1), 32);
  v_until timestamptz := now() + {{ .schema }}.aw_interval(p -> 'visibility_ms');
  v_after timestamptz := coalesce((p ->> 'after')::timestamptz, '-infinity');
  v_held_after timestamptz := coalesce((p ->> 'held_after')::timestamptz, '-infinity');
  v_recent constant timestamptz := now() - interval '2 seconds';
  v_held integer;
  v_held_last timestamptz;
  v_found integer;
  v_last timestamptz;
  v_messages jsonb;
begin
  perform {{ .schema }}.aw_queue_check(v_client, v_queue);
  for attempt in 1..10 loop -- again only if all that it found had expired
    with held as materialized (
      select m.id, m.part, m.visible_at, coalesce(m.expires_at <= now(), false) as expired, 1 as turn
      from {{ .schema }}.aw_queue_messages m
      where m.client_id = v_client and m.queue = v_queue and m.receipt is not null
        and m.visible_at >= v_held_after and m.visible_at <= now()
      order by m.visible_at limit v_most
      for update skip locked
    ), waiting as materialized (
      select m.id, m.part, m.visible_at, coalesce(m.expires_at <= now(), false) as expired, 2 as turn
      from {{ .schema }}.aw_queue_messages m
      where m.client_id = v_client and m.queue = v_queue and m.receipt is null
        and m.visible_at >= v_after and m.visible_at <= now()
      order by m.visible_at limit v_most - (select count(*) from held)
      for update skip locked
    ), due as materialized (
      select * from held union all select * from waiting
    ), expired as (
      delete from {{ .schema }}.aw_queue_messages m using due d where d.expired and m.id = d.id and m.part = d.part
    ), taken as (
      update {{ .schema }}.aw_queue_messages m
      set receipt = gen_random_uuid(), dequeue_count = m.dequeue_count + 1, visible_at = v_until
      from due d where not d.expired and m.id = d.id and m.part = d.part
      returning m.*, d.turn, d.visible_at as was
    )
    select count(*), max(d.visible_at) filter (where d.turn = 2), count(*) filter (where d.turn = 1),
      max(d.visible_at) filter (where d.turn = 1),
      (select jsonb_agg(jsonb_build_object('id', t.id, 'text', t.body, 'receipt', t.receipt,
         'dequeue_count', t.dequeue_count, 'inserted_at', t.inserted_at, 'expires_at', t.expires_at)
         order by t.turn, t.was)
       from taken t)
    into v_found, v_last, v_held, v_held_last, v_messages from due d;
    exit when v_messages is not null or v_found = 0;
  end loop;
  return jsonb_build_object('messages', coalesce(v_messages, '[]'),
    'after', least(v_recent, case when v_held = v_most then v_after when v_found = v_most then v_last end),
    'held_after', least(v_recent, case when v_held = v_most then v_held_last end));
end $$;

-- aw_queue_hold changes when a message is visible again, if the caller has its receipt; with v_release the receipt
-- ends. With p.first, or to be received at once, it stays among those that were held, with a receipt that nobody has. It
-- reports whether the caller had it. The receipt is compared so that the planner can't take the index of the messages
-- that are held, all of whose entries it would read: it believes that index to be empty when a backlog is analyzed.
create or replace function {{ .schema }}.aw_queue_hold(p jsonb, v_wait interval, v_release boolean) returns jsonb
language plpgsql set search_path = {{ .path }} set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  update {{ .schema }}.aw_queue_messages m
  set visible_at = clock_timestamp() + v_wait,
      receipt = case when not v_release then m.receipt
                     when v_wait <= interval '0' or (p ->> 'first')::boolean then gen_random_uuid() end
  where m.client_id = v_client and m.queue = p ->> 'queue' and m.id = (p ->> 'id')::uuid
    and coalesce(m.receipt = (p ->> 'receipt')::uuid, false);
  if not found then
    perform {{ .schema }}.aw_queue_check(v_client, p ->> 'queue');
    return '{"held": false}';
  elsif v_release and v_wait <= interval '0' then
    perform pg_notify('aw_queue_' || v_client, '');
  end if;
  return '{"held": true}';
end $$;

-- aw_queue_extend hides a message for visibility_ms from now.
create or replace function {{ .schema }}.aw_queue_extend(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
begin
  return {{ .schema }}.aw_queue_hold(p, {{ .schema }}.aw_interval(p -> 'visibility_ms'), false);
end $$;

-- aw_queue_release gives a message back, visible after delay_ms; with first it then comes before those that wait.
create or replace function {{ .schema }}.aw_queue_release(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
begin
  return {{ .schema }}.aw_queue_hold(p, {{ .schema }}.aw_interval(p -> 'delay_ms'), true);
end $$;

-- aw_queue_delete removes a message, if the caller has its receipt; gone: it does not exist any more.
create or replace function {{ .schema }}.aw_queue_delete(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  delete from {{ .schema }}.aw_queue_messages m
  where m.client_id = v_client and m.queue = p ->> 'queue' and m.id = (p ->> 'id')::uuid
    and coalesce(m.receipt = (p ->> 'receipt')::uuid, false); -- as in aw_queue_hold
  if found then
    return '{"held": true, "gone": true}';
  end if;
  perform {{ .schema }}.aw_queue_check(v_client, p ->> 'queue');
  return jsonb_build_object('held', false, 'gone', not exists (
    select from {{ .schema }}.aw_queue_messages m where m.client_id = v_client and m.queue = p ->> 'queue'
      and m.id = (p ->> 'id')::uuid));
end $$;

-- aw_queue_delete_all removes those of p.messages, each with id and receipt, whose receipt the caller has. It returns their
-- numbers in the list, from 1. What is not among them has to be sent to aw_queue_delete: it skips a message that is
-- locked, so it never waits for another call, and the order of its locks does not matter.
create or replace function {{ .schema }}.aw_queue_delete_all(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_deleted jsonb;
begin
  with requested as materialized (
    select distinct on (m ->> 'id') (m ->> 'id')::uuid as id, (m ->> 'receipt')::uuid as receipt, n
    from {{ .schema }}.aw_elements(p -> 'messages') order by m ->> 'id', n
  ), held as materialized (
    select r.n, m.id, m.part from requested r cross join lateral (
      select o.id, o.part, o.queue, o.receipt from {{ .schema }}.aw_queue_messages o
      where o.client_id = v_client and o.id = r.id offset 0 for update skip locked) m
    where m.queue = p ->> 'queue' and m.receipt = r.receipt
  ), deleted as (
    delete from {{ .schema }}.aw_queue_messages m using held h
    where m.client_id = v_client and m.id = h.id and m.part = h.part
    returning h.n
  )
  select jsonb_agg(d.n) into v_deleted from deleted d;
  return jsonb_build_object('deleted', coalesce(v_deleted, '[]'));
end $$;

-- aw_queue_peek shows up to n visible messages without hiding them, in the order in which they are received.
create or replace function {{ .schema }}.aw_queue_peek(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_most integer := least(greatest((p ->> 'n')::int, 1), 32);
begin
  perform {{ .schema }}.aw_queue_check(v_client, p ->> 'queue');
  return jsonb_build_object('messages', coalesce((
    with held as materialized (
      select * from {{ .schema }}.aw_queue_messages m
      where m.client_id = v_client and m.queue = p ->> 'queue' and m.receipt is not null and m.visible_at <= now()
        and (m.expires_at is null or m.expires_at > now())
      order by m.visible_at limit v_most
    ), waiting as (
      select * from {{ .schema }}.aw_queue_messages m
      where m.client_id = v_client and m.queue = p ->> 'queue' and m.receipt is null and m.visible_at <= now()
        and (m.expires_at is null or m.expires_at > now())
      order by m.visible_at limit v_most - (select count(*) from held)
    )
    select jsonb_agg(jsonb_build_object('id', t.id, 'text', t.body, 'dequeue_count', t.dequeue_count,
      'inserted_at', t.inserted_at, 'expires_at', t.expires_at) order by t.receipt is null, t.visible_at)
    from (select * from held union all select * from waiting) t), '[]'));
end $$;

-- aw_queue_depth counts the messages of a queue, hidden ones included: each sum by its index, if that is the shorter way.
create or replace function {{ .schema }}.aw_queue_depth(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  perform {{ .schema }}.aw_queue_check(v_client, p ->> 'queue');
  return jsonb_build_object('depth', (
      select count(*) from {{ .schema }}.aw_queue_messages m
      where m.client_id = v_client and m.queue = p ->> 'queue' and m.receipt is null) + (
      select count(*) from {{ .schema }}.aw_queue_messages m
      where m.client_id = v_client and m.queue = p ->> 'queue' and m.receipt is not null));
end $$;

-- aw_queue_truncate truncates each partition that takes no messages now, after it has moved the last ones to the one
-- that does: if it has some pages, few messages are left, and nobody uses it at this moment. It hardly waits for locks:
-- whoever comes after it would wait as well. It runs as aw_keeper: the messages are all tenants'.
create or replace function {{ .schema }}.aw_queue_truncate() returns integer
language plpgsql set search_path = {{ .path }} set lock_timeout = '100ms' as $$
declare
  c_least constant bigint := 128; -- pages
  c_most constant bigint := 4 << 20; -- bytes to move: nobody receives meanwhile
  v_current constant smallint := {{ .schema }}.aw_queue_part(clock_timestamp());
  v_pages bigint;
  v_left integer;
  v_bytes bigint;
  v_done integer := 0;
begin
  for n in 0..2 loop
    v_pages := pg_relation_size('{{ .schema }}.aw_queue_messages_' || n) / 8192;
    continue when n = v_current or v_pages < c_least;
    -- What is moved must be little, compared with what is gained.
    select count(*), coalesce(sum(pg_column_size(x.body)), 0) into v_left, v_bytes from (
      select m.body from {{ .schema }}.aw_queue_messages m where m.part = n limit v_pages + 1) x;
    continue when v_left > v_pages or v_bytes > c_most;
    begin
      execute format('lock table only {{ .schema }}.aw_queue_messages_%s in access exclusive mode nowait', n);
      with moved as (delete from {{ .schema }}.aw_queue_messages where part = n returning *)
      insert into {{ .schema }}.aw_queue_messages (
        client_id, queue, id, part, visible_at, receipt, dequeue_count, inserted_at, expires_at, body)
      select client_id, queue, id, v_current, visible_at, receipt, dequeue_count, inserted_at, expires_at, body
      from moved;
      execute format('truncate only {{ .schema }}.aw_queue_messages_%s', n);
      v_done := v_done + 1;
    exception when lock_not_available then
      continue;
    end;
  end loop;
  return v_done;
end $$;

-- aw_queue_tidy truncates what it can; a worker calls it now and then.
create or replace function {{ .schema }}.aw_queue_tidy(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
begin
  perform {{ .schema }}.aw_tenant(p);
  return jsonb_build_object('truncated', {{ .schema }}.aw_queue_truncate());
end $$;
