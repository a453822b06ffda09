-- Jobs, their story, what could not be done, and the outbox of webhooks.
-- Every table bears client_id in its primary key: two clients may use the same ids (I10). It is never the
-- first column of an index: every query has it, so with it first any index looks as good as the right one
-- to a planner without statistics, and a plan made for an empty table lives on in a session's cache.
set local search_path = {{ .schema }}, extensions, public;

-- The tenant that this session is bound to, null when it is bound to none (service key, superuser).
--   1. a login named async_worker_<client> is bound by its name: no setting of its own can change that;
--   2. behind PostgREST the claim client_id of the JWT binds;
--   3. on a direct connection the setting app.client_id binds.
-- The body is parsed here and now, so no search_path of a caller can make it mean something else.
create function aw_client() returns text
language sql stable parallel safe
return case
  when session_user::text like 'async\_worker\_%' then substr(session_user::text, 14)
  else coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'client_id',
    nullif(current_setting('app.client_id', true), ''))
end;

create table jobs (
  client_id           text        not null check (client_id ~ '^[a-z0-9]([a-z0-9-]{0,26}[a-z0-9])?$'),
  id                  text        not null check (id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  type                text        not null,
  status              text        not null default 'pending'
                      check (status in ('pending', 'running', 'succeeded', 'failed', 'canceled')),
  stage               text        not null default '',
  progress            integer     not null default 0 check (progress between 0 and 100),
  attempts            integer     not null default 0,
  max_attempts        integer     not null default 1 check (max_attempts >= 1),
  priority            text        not null default 'normal' check (priority in ('high', 'normal', 'low')),
  payload             jsonb       not null default '{}',
  hints               jsonb       not null default '{}',
  error_class         text,
  error_code          text,
  error_message       text,
  result              jsonb,
  requested_by        text,
  parent_job_id       text,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  started_at          timestamptz,
  completed_at        timestamptz,

  -- the machinery of the worker
  fingerprint         text        not null default '', -- of type and payload (I5); '' only for placeholders
  placeholder         boolean     not null default false, -- left by a cancel that came before any message
  fence               bigint      not null default 0,  -- rises with every run (I4)
  lease_expires_at    timestamptz,                     -- null: nobody holds it
  worker              text,
  not_before          timestamptz,                     -- a retry waits until then
  checkpoint          jsonb,
  cancel_requested_at timestamptz,
  cancel_requested_by text,
  webhook_url         text,
  traceparent         text,
  event_seq           bigint      not null default 0,  -- of the last event (I8)
  -- A series is one life from start to end. A forced message begins another one of the same job, see aw_begin.
  series              integer     not null default 1,
  series_started_at   timestamptz,
  message_ids         text[]      not null default '{}', -- of the messages that started a run
  -- the outbox of jobs that were recorded before their message was sent; null queue: it came off a queue
  queue               text,
  message             text,
  sent_at             timestamptz,

  primary key (id, client_id),
  check (attempts between 0 and max_attempts), -- I6
  check ((completed_at is not null) = (status in ('succeeded', 'failed', 'canceled'))),
  check (lease_expires_at is null or status = 'running')
) with (fillfactor = 80);

create index jobs_by_age on jobs (created_at desc, client_id);
create index jobs_by_status on jobs (status, created_at desc, client_id);
create index jobs_unsent on jobs (created_at, client_id)
  where queue is not null and sent_at is null and status = 'pending';

create table job_events (
  client_id text        not null,
  job_id    text        not null,
  seq       bigint      not null, -- per job, from 1, without gaps (I8)
  id        uuid        not null,
  series    integer     not null default 1,
  at        timestamptz not null default now(),
  stage     text        not null default '',
  progress  integer     not null check (progress between 0 and 100),
  attempt   integer     not null,
  message   text        not null default '',
  metadata  jsonb,
  primary key (job_id, client_id, seq),
  unique (id, client_id),
  foreign key (client_id, job_id) references jobs (client_id, id) on delete cascade
);

create table dead_letters (
  client_id        text        not null,
  id               uuid        not null default gen_random_uuid(),
  job_id           text,                 -- null: the message named none
  series           integer,              -- of the job that it ended; null: it ended none
  rejected         boolean     not null, -- the message never became work
  task_type        text,
  reason           text        not null,
  error_class      text        not null,
  error_code       text,
  error_message    text        not null,
  attempts         integer     not null,
  original_message text        not null,
  source_queue     text,
  message_id       text,
  created_at       timestamptz not null default now(),
  sent_at          timestamptz,          -- its copy is on the dead-letter queue
  replayed_at      timestamptz,
  replayed_as      text,
  primary key (id, client_id)
);

-- I6: once for every end of a job, once for every rejected message.
create unique index dead_letters_once_per_job on dead_letters (job_id, series, client_id) where series is not null;
create unique index dead_letters_once_per_message on dead_letters (message_id, coalesce(source_queue, ''), client_id)
  where rejected and message_id is not null;
create index dead_letters_by_age on dead_letters (created_at desc, client_id);

create table webhook_deliveries (
  client_id        text        not null,
  id               text        not null, -- the webhook-id: no dot
  job_id           text,
  event            text        not null check (event in ('task.completed', 'task.failed', 'task.canceled')),
  url              text        not null,
  body             text        not null, -- exactly what is signed and sent
  status           text        not null default 'pending'
                   check (status in ('pending', 'delivered', 'failed', 'refused')),
  attempts         integer     not null default 0,
  next_attempt_at  timestamptz,
  fence            bigint      not null default 0, -- rises with every claim
  lease_expires_at timestamptz,
  worker           text,
  response_status  integer,
  response         text,
  latency_ms       bigint,
  last_error       text,
  created_at       timestamptz not null default now(),
  delivered_at     timestamptz,
  primary key (id, client_id)
);

create index webhook_deliveries_due on webhook_deliveries (next_attempt_at, client_id) where status = 'pending';
create index webhook_deliveries_by_job on webhook_deliveries (job_id, client_id);
