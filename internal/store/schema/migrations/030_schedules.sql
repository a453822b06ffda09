-- Schedules: tasks that are submitted at the times of a calendar (functions/58_schedules.sql).
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create table {{ .schema }}.schedules (
  client_id    text        not null,
  id           text        not null check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  cron         text        not null,
  time_zone    text        not null default 'UTC',
  task         jsonb       not null check (jsonb_typeof(task) = 'object'), -- a message without task_id
  overlap      text        not null default 'skip' check (overlap in ('skip', 'allow')),
  catch_up     integer     not null default 0 check (catch_up between 0 and 1000),
  jitter_ms    bigint      not null default 0 check (jitter_ms between 0 and 3600000),
  paused       boolean     not null default false,
  next_at      timestamptz,                      -- of the calendar; null: a worker is to work it out
  fires_at     timestamptz,                      -- next_at and the jitter
  owed         timestamptz[] not null default '{}', -- missed firings that are to be made up, the oldest first
  last_job_id  text,
  last_at      timestamptz,                      -- the time of the calendar of last_job_id
  fired        bigint      not null default 0,
  skipped      bigint      not null default 0,   -- while the last job was not over
  missed       bigint      not null default 0,   -- and not made up
  problem      text,                             -- why a worker has paused it
  created_at   timestamptz not null default clock_timestamp(),
  updated_at   timestamptz not null default clock_timestamp(),
  primary key (client_id, id)
);
create index schedules_due on {{ .schema }}.schedules (client_id, fires_at) where not paused;

do $$
declare
  r text;
begin
  alter table {{ .schema }}.schedules enable row level security;
  alter table {{ .schema }}.schedules force row level security;
  create policy tenant on {{ .schema }}.schedules using (client_id = (select {{ .schema }}.aw_client()))
    with check (client_id = (select {{ .schema }}.aw_client()));
  revoke all on {{ .schema }}.schedules from public;
  foreach r in array array['anon', 'authenticated', 'service_role'] loop
    if exists (select from pg_roles where rolname = r) then
      execute format('revoke all on {{ .schema }}.schedules from %I', r);
    end if;
  end loop;
  if exists (select from pg_roles where rolname = 'service_role') then
    grant select, insert, update, delete on {{ .schema }}.schedules to service_role;
  end if;
end $$;
