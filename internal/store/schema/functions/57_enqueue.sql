-- What a frontend enqueues through the database: job and message in the transaction of the caller.

-- aw_task is a task message without its envelope: of a CloudEvent (structured mode) its data, in whose words job_id is
-- task_id, tenant_id is client_id, owner_id is requested_by, content_id is payload.filename, and ocr the default type. A null
-- or an empty text is a member that is not there, and two names with two values are refused, as by the worker's decoder.
create or replace function {{ .schema }}.aw_task(message jsonb) returns jsonb
language plpgsql immutable set search_path = {{ .path }} as $$
declare
  d jsonb := message -> 'data';
  v_payload jsonb := d -> 'payload';
  v_names text[];
  v_name text;
begin
  if not message ? 'specversion' or jsonb_typeof(d) is distinct from 'object' then
    return message;
  end if;
  d := jsonb_strip_nulls(d - 'payload');
  foreach v_names slice 1 in array array[
    ['task_id', 'job_id'], ['client_id', 'tenant_id'], ['requested_by', 'owner_id'], ['task_type', 'content_id']] loop
    foreach v_name in array v_names loop
      if d -> v_name = '""' then
        d := d - v_name;
      end if;
    end loop;
    if v_names[1] <> 'task_type' and d -> v_names[1] <> d -> v_names[2] then
      raise exception 'data.% and data.% differ: send one of the two', v_names[2], v_names[1] using errcode = 'AW006';
    end if;
  end loop;
  if jsonb_typeof(v_payload) is distinct from 'object' then
    v_payload := '{}';
  end if;
  if d ? 'content_id' and coalesce(jsonb_typeof(v_payload -> 'filename'), 'null') = 'null' then
    v_payload := v_payload || jsonb_build_object('filename', d -> 'content_id');
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
      'task_type', 'ocr', 'task_id', d -> 'job_id', 'client_id', coalesce(d -> 'tenant_id', message -> 'client_id'),
      'requested_by', d -> 'owner_id', 'traceparent', message -> 'traceparent'))
    || (d - array['job_id', 'tenant_id', 'owner_id', 'content_id']) || jsonb_build_object('payload', v_payload);
end $$;

-- aw_time reads when a task may start, in the form that the worker's decoder takes. Postgres takes others, infinity too:
-- the worker would refuse them when their time has come.
create or replace function {{ .schema }}.aw_time(run_at text) returns timestamptz
language plpgsql stable set search_path = {{ .path }} as $$
begin
  if run_at !~ '^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$' then
    raise invalid_datetime_format;
  end if;
  return run_at::timestamptz;
exception when datetime_field_overflow or invalid_datetime_format or invalid_time_zone_displacement_value then
  raise exception 'run_at is not a time: use 2026-12-01T06:00:00Z' using errcode = 'AW006';
end $$;

-- aw_unstorable is what the worker's decoder refuses in a task message wherever it is, though jsonb takes it; null: nothing.
-- Such a refusal passes no payload on, so the job that is recorded here would wait for ever. The numbers are those that a
-- double can't hold, and those of more characters than the decoder reads. jsonb writes all their
-- digits, so a short message has none.
create or replace function {{ .schema }}.aw_unstorable(t jsonb) returns text
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  if t @? 'strict $.**{64} ? (@.type() == "object" || @.type() == "array")' then
    return 'the message is nested more than 64 levels deep: flatten it';
  elsif length(t::text) > 300 and exists (select from jsonb_path_query(t, 'strict $.** ? (@.type() == "number")') n
                where abs(n::numeric) >= 1.7976931348623158e308 or length(n::text) > 400) then
    return 'the message has a number out of the range of a double, or of more than 400 characters: send it as a string';
  end if;
  return null;
end $$;

-- aw_task_problem is what is wrong with a task message, as the worker's decoder would find it; null: nothing.
create or replace function {{ .schema }}.aw_task_problem(t jsonb) returns text
language sql immutable
return case
    when t ? 'specversion' then 'a CloudEvent must have the task as an object in data, without a specversion of its own'
    when jsonb_typeof(t -> 'task_id') <> 'string' then 'task_id must be a string'
    when t ->> 'task_id' !~ '^[A-Za-z0-9._:-]+$' or length(t ->> 'task_id') > 128 then 'task_id must be 1 to 128 of A-Z a-z 0-9 . _ : -'
    when coalesce(t ->> 'task_type', '') !~ '^[a-z][a-z0-9_-]{0,63}$' or jsonb_typeof(t -> 'task_type') <> 'string'
      then 'task_type must be the name of a type of task: 1 to 64 of a-z 0-9 _ -, with a letter in front'
    when t ? 'claim_check'
      then 'claim_check names a blob with the task: enqueue the task itself, or send the claim check with aw_queue_send'
    when jsonb_typeof(t -> 'payload') is distinct from 'object' then 'payload must be an object'
    when jsonb_typeof(coalesce(nullif(t -> 'hints', 'null'), '{}')) <> 'object' then 'hints must be an object'
    when coalesce(t #>> '{hints,priority}', t ->> 'priority', 'normal') not in ('high', 'normal', 'low')
      then 'priority must be high, normal or low'
    else {{ .schema }}.aw_unstorable(t) end;

-- aw_enqueue and aw_enqueue_all had a parameter p. A parameter's name can't be taken away: the function of before gets
-- another name, under which calls in flight and what others built on it still find it (99_retired.sql drops it), and the
-- new one its grants.
do $$
declare
  v_name text;
  v_old regprocedure;
  v_grants text[];
  v_grant text;
begin
  foreach v_name in array array['aw_enqueue', 'aw_enqueue_all'] loop
    v_old := to_regprocedure(format('{{ .schema }}.%I(jsonb)', v_name));
    continue when v_old is null or pg_get_function_identity_arguments(v_old) = 'jsonb';
    v_grants := array(
      select format('grant execute on function {{ .schema }}.%I(jsonb) to %I%s', v_name, pg_get_userbyid(a.grantee),
                    case when a.is_grantable then ' with grant option' else '' end)
      from pg_proc p, aclexplode(p.proacl) a where p.oid = v_old and a.grantee not in (0, p.proowner));
    if to_regprocedure(format('{{ .schema }}.%I(jsonb)', v_name || '_p')) is null then
      execute format('alter function %s rename to %I', v_old, v_name || '_p');
    else -- that of an earlier upgrade, after which an older program has migrated
      execute format('drop function %s', v_old);
    end if;
    execute format('create function {{ .schema }}.%I(jsonb) returns jsonb language sql return $1', v_name); -- see below
    foreach v_grant in array v_grants loop
      execute v_grant;
    end loop;
  end loop;
end $$;

-- aw_body is what a caller of aw_enqueue sends. PostgREST passes the whole body to a function with one parameter that has
-- no name; clients of before, when it had one, send {"p": message}.
create or replace function {{ .schema }}.aw_body(body jsonb) returns jsonb
language sql immutable
return case when jsonb_typeof(body) <> 'object' then body
            when body - 'p' = '{}' and jsonb_typeof(body -> 'p') = 'object' then body -> 'p' else body end;

-- aw_enqueue takes a task message, records its job and puts the message on its queue; task_id may be left out. It
-- returns job_id, and created: whether it is new. The same task again changes nothing, unless hints.force is set;
-- another task under the same id is refused. A tenant whose queues are not in this database gets the message into the
-- outbox, from which a worker's sweep sends it. A notice says so: the database does not know which tenants there are, and
-- for one that is mistyped no worker comes. The outbox has one message for each job, so a force of one that was begun is
-- refused there.
create or replace function {{ .schema }}.aw_enqueue(jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_client text := {{ .schema }}.aw_bound();
  v_priority text;
  v_queue text;
  v_id text;
  v_text text;
  v_direct boolean;
  v_due timestamptz := v_now;
  v_problem text;
  t jsonb := {{ .schema }}.aw_body($1);
  j {{ .schema }}.jobs;
begin
  if jsonb_typeof(t) is distinct from 'object' then
    raise exception 'a task message must be an object' using errcode = 'AW006';
  end if;
  if t ? 'specversion' then
    t := {{ .schema }}.aw_task(t);
  end if;
  t := jsonb_strip_nulls(t - 'payload') || jsonb_build_object('payload', t -> 'payload');
  if v_client is null or t ->> 'client_id' <> v_client then -- I10: it decides, and refuses
    v_client := {{ .schema }}.aw_tenant(jsonb_build_object('client_id', coalesce(t ->> 'client_id', v_client)));
  end if;
  if v_client !~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' or v_client ~ '--' or length(v_client) > 28 then
    raise exception 'client_id must be 1 to 28 of a-z 0-9 -, with a letter or digit at both ends and no -- in it'
      using errcode = 'AW006';
  end if;
  if not t ? 'task_id' then
    t := t || jsonb_build_object('task_id', gen_random_uuid());
  end if;
  v_text := t::text;
  v_problem := coalesce({{ .schema }}.aw_task_problem(t), case when octet_length(v_text) > 65536 then
    'the message has more than 65536 bytes: put it into a blob, and enqueue a payload that names it' end);
  if v_problem is not null then
    raise exception '%', v_problem using errcode = 'AW006';
  end if;
  if t ? 'run_at' then
    v_due := greatest(v_now, {{ .schema }}.aw_time(t ->> 'run_at'));
  end if;
  v_id := t ->> 'task_id';
  v_priority := coalesce(t #>> '{hints,priority}', t ->> 'priority', 'normal');
  v_queue := v_client || '-tasks' || case v_priority when 'normal' then '' else '-' || v_priority end;

  v_direct := exists (select from {{ .schema }}.aw_queues q where q.client_id = v_client and q.name = v_queue);
  if v_due > v_now and not v_direct then
    raise exception 'run_at needs the queue %, which a worker with QUEUE_BACKEND=postgres creates', v_queue
      using errcode = 'AW006';
  end if;
  if not v_direct then
    raise notice 'client % has no queue % in this database: the message waits until a worker of that client sends it',
      v_client, v_queue;
  end if;
  insert into {{ .schema }}.jobs (client_id, id, type, priority, payload, hints, requested_by, webhook_url,
    traceparent, queue, document, webhook_events, message, sent_at, queued_at)
  values (v_client, v_id, t ->> 'task_type', v_priority, t -> 'payload', coalesce(t -> 'hints', '{}'),
          nullif(t ->> 'requested_by', ''), nullif(t ->> 'webhook_url', ''), nullif(t ->> 'traceparent', ''), v_queue,
          {{ .schema }}.aw_document_key(t ->> 'task_type', t -> 'payload'), {{ .schema }}.aw_webhook_events(t),
          -- A sweep takes a message for lost some time after it was sent.
          case when not v_direct then v_text end, case when v_direct then v_due end,
          v_now) -- created_at is when the caller's transaction began
  on conflict (client_id, id) do nothing;
  if found then
    if v_direct then
      perform {{ .schema }}.aw_queue_put(v_client, v_queue, v_text, v_due - v_now, null::interval, null::uuid);
    end if;
    return jsonb_build_object('job_id', v_id, 'created', true);
  end if;

  select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = v_id;
  if j.placeholder then
    perform {{ .schema }}.aw_report_canceled(j, t || jsonb_build_object('type', t -> 'task_type'));
  elsif j.type <> t ->> 'task_type' or j.payload <> t -> 'payload' then -- I5
    raise exception 'job % has another type or payload', j.id using errcode = 'AW003';
  elsif v_direct and {{ .schema }}.aw_forced(t -> 'hints') then
    perform {{ .schema }}.aw_queue_put(v_client, v_queue, v_text, v_due - v_now, null::interval, null::uuid);
  elsif {{ .schema }}.aw_forced(t -> 'hints') and j.status <> 'pending' then -- the outbox has one message for each job
    raise exception 'job % is %: to force it needs the queue %, which a worker with QUEUE_BACKEND=postgres creates',
      j.id, j.status, v_queue using errcode = 'AW006';
  end if;
  return jsonb_build_object('job_id', v_id, 'created', false);
end $$;

-- aw_enqueue_all takes many task messages, its member tasks, at most 1000: as aw_enqueue takes each, in one transaction. It
-- returns the answers in their order. One that is refused refuses all. One statement records those that are new and may start
-- now; aw_enqueue takes the others. Both go in the order of their ids, so that two callers with the same ids wait for each
-- other in one direction only.
create or replace function {{ .schema }}.aw_enqueue_all(jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  c_most constant integer := 1000;
  p constant jsonb := {{ .schema }}.aw_body($1);
  v_now constant timestamptz := clock_timestamp();
  v_client text := {{ .schema }}.aw_tenant(
    jsonb_build_object('client_id', coalesce(p ->> 'client_id', {{ .schema }}.aw_bound())));
  v_new jsonb;
begin
  if jsonb_typeof(p -> 'tasks') is distinct from 'array' or jsonb_array_length(p -> 'tasks') > c_most then
    raise exception 'tasks must be a list of at most % task messages', c_most using errcode = 'AW006';
  end if;
  with listed as materialized (
    select x.n, jsonb_strip_nulls(x.m - 'payload') || jsonb_build_object('payload', x.m -> 'payload',
             'task_id', coalesce(nullif(x.m -> 'task_id', 'null'), to_jsonb(gen_random_uuid()))) as t
    from {{ .schema }}.aw_elements(p -> 'tasks') x where jsonb_typeof(x.m) = 'object'
  ), requested as materialized (
    select distinct on (l.t ->> 'task_id') l.n, l.t, l.t ->> 'task_id' as id, l.t::text as body, q.name as queue,
           coalesce(l.t #>> '{hints,priority}', l.t ->> 'priority', 'normal') as priority
    from listed l join {{ .schema }}.aw_queues q on q.client_id = v_client and q.name = v_client || '-tasks' ||
      coalesce('-' || nullif(coalesce(l.t #>> '{hints,priority}', l.t ->> 'priority'), 'normal'), '')
    where not l.t ?| array['specversion', 'run_at'] and coalesce(l.t ->> 'client_id', v_client) = v_client
      and {{ .schema }}.aw_task_problem(l.t) is null and octet_length(l.t::text) <= 65536
    order by l.t ->> 'task_id', l.n
  ), fresh as (
    insert into {{ .schema }}.jobs (client_id, id, type, priority, payload, hints, requested_by, webhook_url,
      traceparent, queue, document, webhook_events, sent_at, queued_at)
    select v_client, r.id, r.t ->> 'task_type', r.priority, r.t -> 'payload', coalesce(r.t -> 'hints', '{}'),
           nullif(r.t ->> 'requested_by', ''), nullif(r.t ->> 'webhook_url', ''), nullif(r.t ->> 'traceparent', ''),
           r.queue, {{ .schema }}.aw_document_key(r.t ->> 'task_type', r.t -> 'payload'),
           {{ .schema }}.aw_webhook_events(r.t), v_now, v_now
    from requested r order by r.id
    on conflict (client_id, id) do nothing
    returning id
  ), sent as (
    insert into {{ .schema }}.aw_queue_messages (client_id, queue, part, inserted_at, visible_at, body)
    select v_client, r.queue, {{ .schema }}.aw_queue_part(v_now), v_now, v_now, r.body
    from requested r join fresh f on f.id = r.id order by r.n
  )
  select jsonb_object_agg(r.n, r.id) into v_new from requested r join fresh f on f.id = r.id;
  if v_new is not null then
    perform pg_notify('aw_queue_' || v_client, '');
  end if;
  v_new := coalesce(v_new, '{}');

  return (select coalesce(jsonb_agg(y.answer order by y.n), '[]') from (
    select x.n, case when v_new ? x.n::text
        then jsonb_build_object('job_id', v_new -> x.n::text, 'created', true)
        else {{ .schema }}.aw_enqueue(case when jsonb_typeof(x.m) = 'object' and x.m ->> 'client_id' is null
          then x.m || jsonb_build_object('client_id', v_client) else x.m end) end as answer -- after the sort: it is volatile
    from {{ .schema }}.aw_elements(p -> 'tasks') x
    order by coalesce(x.m ->> 'task_id', x.m #>> '{data,job_id}'), x.n offset 0) y);
end $$;

-- aw_is_other reports whether a job that exists is another task than the one in p (I5). Until a worker has begun it,
-- what aw_enqueue recorded has no fingerprint.
create or replace function {{ .schema }}.aw_is_other(j {{ .schema }}.jobs, p jsonb) returns boolean
language sql immutable
return case when j.fingerprint = '' then j.type <> p ->> 'type' or j.payload <> p -> 'payload'
            else j.fingerprint <> p ->> 'fingerprint' end;
