-- Live events for frontends by Supabase Realtime, where somebody asked for it (migrate --realtime): each event of a job is
-- broadcast, in the transaction that wrote it, on the private topic async-worker:<client>. Tenants' roles may not read the
-- tables, so Postgres Changes, which reads as the subscriber, can't be used. Source: Supabase's guide "Broadcast", "from
-- your database", and realtime.send of github.com/supabase/realtime, which stops no transaction: it warns.
do $$
declare
  v_wanted boolean := {{ .realtime }};
begin
  if v_wanted and to_regprocedure('realtime.send(jsonb, text, text, boolean)') is null then
    raise exception 'this database has no function realtime.send(jsonb, text, text, boolean)'
      using hint = 'it is Supabase''s: is Realtime enabled in the project? Without it, migrate without --realtime';
  end if;
  if not v_wanted and not exists (select from pg_trigger where tgrelid = '{{ .schema }}.job_events'::regclass and tgname = 'aw_broadcast') then
    return;
  end if;

  -- It runs as who migrates, who may write to realtime.messages.
  execute $f$
    create or replace function {{ .schema }}.aw_broadcast() returns trigger
    language plpgsql security definer set search_path = {{ .path }} set timezone = 'UTC' as $body$
    begin
      perform realtime.send(jsonb_build_object('id', e.id, 'job_id', e.job_id, 'seq', e.seq, 'at', e.at, 'stage', e.stage,
                'progress', e.progress, 'attempt', e.attempt, 'message', e.message, 'metadata', e.metadata),
              'job_event', 'async-worker:' || e.client_id, true)
      from (select * from added order by job_id, seq) e;
      return null;
    exception when others then -- nothing of Realtime's may stop a task
      raise warning 'events are not broadcast: %', sqlerrm;
      return null;
    end $body$
  $f$;
  revoke all on function {{ .schema }}.aw_broadcast() from public;
  drop trigger if exists aw_broadcast on {{ .schema }}.job_events;
  create trigger aw_broadcast after insert on {{ .schema }}.job_events
    referencing new table as added for each statement execute function {{ .schema }}.aw_broadcast();

  -- Realtime asks these policies, with the subscriber's role and claims, whether he may join the topic.
  drop policy if exists "async-worker: events of a tenant" on realtime.messages;
  execute $p$
    create policy "async-worker: events of a tenant" on realtime.messages for select
    using (extension = 'broadcast' and realtime.topic() =
      'async-worker:' || (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'client_id'))
  $p$;
end $$;
