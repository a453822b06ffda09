-- Live events for frontends by Supabase Realtime, if enabled (migrate --realtime): each event of a job is broadcast,
-- in the transaction that wrote it, on the private topic async-worker:<client>. Tenants' roles can't read the tables,
-- so Postgres Changes, which reads as the subscriber, can't be used. Source: Supabase's guide "Broadcast", "from your
-- database", and realtime.send of github.com/supabase/realtime, which never aborts a transaction: it warns.
do $$
declare
  v_wanted boolean := {{ .realtime }};
  v_there boolean := to_regprocedure('realtime.send(jsonb, text, text, boolean)') is not null
    and to_regclass('realtime.messages') is not null;
  -- v_own: the topic is that of the subscriber's client, by the claims of its token. v_others: the topic is not ours.
  v_own constant text := $p$coalesce(realtime.topic() = 'async-worker:' ||
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'client_id'), false)$p$;
  v_others constant text := $p$coalesce(realtime.topic(), '') not like 'async-worker:%'$p$;
  r text;
begin
  if v_wanted and not v_there then
    raise exception 'this database has no function realtime.send(jsonb, text, text, boolean)'
      using hint = 'it is Supabase''s: is Realtime enabled in the project? Without it, migrate without --realtime';
  end if;
  if not v_wanted and not exists (
       select from pg_trigger where tgrelid = '{{ .schema }}.job_events'::regclass and tgname = 'aw_broadcast') then
    return;
  end if;

  drop trigger if exists aw_broadcast on {{ .schema }}.job_events;
  drop function if exists {{ .schema }}.aw_broadcast(); -- not replaced: another role's function would keep its owner
  if not v_there then
    raise notice 'events are no longer broadcast: this database has no Realtime';
    return;
  end if;

  -- It runs as the role that migrates, which may write to realtime.messages, and hardly waits for a lock on that
  -- table.
  execute $f$
    create function {{ .schema }}.aw_broadcast() returns trigger
    language plpgsql security definer
    set search_path = {{ .path }} set timezone = 'UTC' set lock_timeout = '250ms' as $body$
    begin
      perform realtime.send(jsonb_build_object('id', e.id, 'job_id', e.job_id, 'seq', e.seq, 'at', e.at,
                'stage', e.stage, 'progress', e.progress, 'attempt', e.attempt, 'message', e.message,
                'metadata', e.metadata),
              'job_event', 'async-worker:' || e.client_id, true)
      from (select * from added order by job_id, seq) e;
      return null;
    exception when others then -- an error of Realtime must not fail a task
      raise warning 'events are not broadcast: %', sqlerrm;
      return null;
    end $body$
  $f$;
  revoke all on function {{ .schema }}.aw_broadcast() from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on function {{ .schema }}.aw_broadcast() from %I', r);
    end if;
  end loop;
  create trigger aw_broadcast after insert on {{ .schema }}.job_events
    referencing new table as added for each statement execute function {{ .schema }}.aw_broadcast();

  -- Realtime checks these policies, with the subscriber's role and claims, when that joins a topic. The second and the
  -- third are restrictive: whatever else a project allows its users, they can't read another tenant's topic, or write
  -- to any.
  drop policy if exists "async-worker: events of a tenant" on realtime.messages;
  drop policy if exists "async-worker: nobody else's events" on realtime.messages;
  drop policy if exists "async-worker: events come from the worker" on realtime.messages;
  execute format('create policy "async-worker: events of a tenant" on realtime.messages '
    'for select using (extension = ''broadcast'' and %s)', v_own);
  execute format('create policy "async-worker: nobody else''s events" on realtime.messages '
    'as restrictive for select using (%s or %s)', v_others, v_own);
  execute format('create policy "async-worker: events come from the worker" on realtime.messages '
    'as restrictive for insert with check (%s or current_user = %L)', v_others, current_user);
end $$;
