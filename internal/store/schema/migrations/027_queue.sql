-- Messages of Postgres as the queue (functions/56_queue.sql), for those who have no other.
--
-- A message is inserted, updated when it is received, and deleted: three dead versions or index entries for each. While
-- any long transaction is open, VACUUM may remove none of them, and a table that many messages pass through would grow
-- for as long. So there are three partitions, which take the new messages in turn, a minute each, and one that has been
-- emptied is truncated: that gives back its space whatever transactions are open. Source: Skype's PgQ rotates its
-- tables for the same reason, https://github.com/pgq/pgq.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create table {{ .schema }}.aw_queues (
  client_id  text        not null check (client_id ~ '^[a-z0-9]([a-z0-9-]{0,26}[a-z0-9])?$'),
  name       text        not null check (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  created_at timestamptz not null default now(),
  primary key (name, client_id)
);

create table {{ .schema }}.aw_queue_messages (
  client_id     text        not null,
  queue         text        not null,
  id            uuid        not null default gen_random_uuid(), -- a number would tell a tenant how busy the others are
  part          smallint    not null,
  visible_at    timestamptz not null,
  receipt       uuid,                 -- of who received it last; null: nobody has it
  dequeue_count bigint      not null default 0,
  inserted_at   timestamptz not null default clock_timestamp(),
  expires_at    timestamptz,          -- null: it is kept until it is deleted
  body          text        not null check (octet_length(body) <= 65536),
  primary key (id, client_id, part)
) partition by list (part);

-- What a receive reads, in its order. client_id is not in it: names of queues begin with it.
create index aw_queue_messages_due on {{ .schema }}.aw_queue_messages (queue, visible_at);

-- A role that sees all tenants' messages, to move the last ones out of a partition before it is truncated. It owns the
-- one function that does so.
do $$
begin
  if not exists (select from pg_roles where rolname = 'aw_keeper') then
    create role aw_keeper nologin;
  end if;
exception when duplicate_object or unique_violation then
  null; -- another migration of this cluster was quicker
end $$;

do $$
declare
  t text;
  r text;
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    execute format('grant aw_keeper to %I', current_user); -- so that it can own what the migration makes
  end if;
  grant usage on schema {{ .schema }} to aw_keeper;
  for n in 0..2 loop
    -- A version goes onto the page of the one before; a vacuum is due after some thousand dead ones, not a fifth of all.
    execute format('create table {{ .schema }}.aw_queue_messages_%s partition of {{ .schema }}.aw_queue_messages '
      'for values in (%1$s) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, '
      'autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0.01, '
      'autovacuum_analyze_scale_factor = 0.1)', n);
  end loop;
  foreach t in array array['aw_queues', 'aw_queue_messages', 'aw_queue_messages_0', 'aw_queue_messages_1',
                           'aw_queue_messages_2'] loop
    execute format('alter table {{ .schema }}.%I enable row level security', t);
    execute format('alter table {{ .schema }}.%I force row level security', t);
    execute format('revoke all on {{ .schema }}.%I from public', t);
    foreach r in array array['anon', 'authenticated', 'service_role', 'async_worker', 'async_worker_reader'] loop
      if exists (select from pg_roles where rolname = r) then
        execute format('revoke all on {{ .schema }}.%I from %I', t, r);
      end if;
    end loop;
  end loop;
  foreach t in array array['aw_queues', 'aw_queue_messages'] loop
    execute format('create policy tenant on {{ .schema }}.%I using (client_id = (select {{ .schema }}.aw_client()))
                    with check (client_id = (select {{ .schema }}.aw_client()))', t);
  end loop;
  create policy keeper on {{ .schema }}.aw_queue_messages to aw_keeper using (true) with check (true);
  grant select, insert, delete on {{ .schema }}.aw_queue_messages to aw_keeper;
  for n in 0..2 loop
    execute format('grant truncate on {{ .schema }}.aw_queue_messages_%s to aw_keeper', n);
  end loop;
end $$;
