-- Lifecycle events: who publishes them and how far (functions/71_publisher.sql), dead letters in the same stream, when the
-- events of ended jobs are removed, and the webhooks of a task that is started or makes progress.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- As in 024: first the column and then its default. A row from before has none, and is not in the stream.
alter table {{ .schema }}.dead_letters add column tx xid8;
alter table {{ .schema }}.dead_letters alter column tx set default pg_current_xact_id();
create index dead_letters_by_tx on {{ .schema }}.dead_letters (client_id, tx, id) where tx is not null;

-- Up to which event the events of an ended job were removed; null: none were.
alter table {{ .schema }}.jobs add column events_removed_to bigint;
create index jobs_with_events on {{ .schema }}.jobs (completed_at, client_id)
  where completed_at is not null and (events_removed_to is null or events_removed_to < event_seq);

alter table {{ .schema }}.jobs
  add column webhook_events text[],               -- of started and progress; null: none
  add column progress_webhook_at timestamptz;     -- of the last one
alter table {{ .schema }}.webhook_deliveries add column once boolean; -- it is tried once; null: by the schedule
alter table {{ .schema }}.webhook_deliveries
  drop constraint if exists webhook_deliveries_event_check,
  add constraint webhook_deliveries_event_check check (event in (
    'task.started', 'task.progress', 'task.completed', 'task.failed', 'task.canceled', 'task.rejected')) not valid;
create index webhook_deliveries_once on {{ .schema }}.webhook_deliveries (job_id, client_id)
  where once and status = 'pending';

create table {{ .schema }}.event_publishers (
  client_id        text        not null primary key,
  fence            bigint      not null default 0, -- rises with every claim
  worker           text,
  lease_expires_at timestamptz,                    -- null: nobody publishes
  -- The position of the last event that was published: see aw_outgoing.
  tx               xid8        not null,
  job_id           text        not null default '',
  seq              bigint      not null default 0,
  letter           text        not null default '',
  published        bigint      not null default 0, -- events, so far
  refused          bigint      not null default 0, -- of them, those that the sink did not take
  lost             bigint      not null default 0, -- events that were removed before they were published
  created_at       timestamptz not null default clock_timestamp(),
  published_at     timestamptz                     -- when the position was last moved
);

do $$
declare
  r text;
begin
  alter table {{ .schema }}.event_publishers enable row level security;
  alter table {{ .schema }}.event_publishers force row level security;
  create policy tenant on {{ .schema }}.event_publishers using (client_id = (select {{ .schema }}.aw_client()))
    with check (client_id = (select {{ .schema }}.aw_client()));
  revoke all on {{ .schema }}.event_publishers from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on {{ .schema }}.event_publishers from %I', r);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on {{ .schema }}.event_publishers to service_role;
  end if;
end $$;
