-- Submissions over HTTP: aw_submit with a key of the caller, a start in the future, and a limit of jobs of a document.

-- aw_submit_once records a job as aw_submit does, or recognizes that the request was made before.
--   p.idempotency: {key, fingerprint, keep_ms}; left out: the job's id alone tells. A second caller with the key waits
--     for the first one's transaction.
--   p.run_at: the job's message is not sent before.
--   p.most: how many active jobs of its document there may be; left out: any number. One that starts later is not active.
--   p.most_later: how many jobs may wait for their time, about; left out: any number.
--   p.repeated: nothing is recorded, only a request that was made before is recognized; AW002 if it was not.
-- hints.force of a job that was begun records the message again, once for each key: the job starts another series when
-- it comes.
-- It returns {created, forced, sent, job}; job is the job as it was when it was recorded. If the same job was recorded
-- without the key, it is as it is now.
create or replace function {{ .schema }}.aw_submit_once(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_key text := p #>> '{idempotency,key}';
  v_document text := {{ .schema }}.aw_document_key(p ->> 'type', p -> 'payload');
  v_force boolean := {{ .schema }}.aw_forced(p -> 'hints');
  v_now timestamptz := clock_timestamp();
  v_answer jsonb;
  k {{ .schema }}.idempotency_keys;
  j {{ .schema }}.jobs;
begin
  if v_key is not null then
    insert into {{ .schema }}.idempotency_keys as o (client_id, key, fingerprint, job_id)
    values (v_client, v_key, p #>> '{idempotency,fingerprint}', p ->> 'job_id')
    on conflict (key, client_id) do update set
      fingerprint = excluded.fingerprint, job_id = excluded.job_id, answer = null, created_at = clock_timestamp()
    where o.created_at < clock_timestamp() - {{ .schema }}.aw_interval(p #> '{idempotency,keep_ms}');
    if not found then
      select * into strict k from {{ .schema }}.idempotency_keys where client_id = v_client and key = v_key;
      if k.fingerprint <> p #>> '{idempotency,fingerprint}' then
        raise exception 'the key was used for another request' using errcode = 'AW017';
      end if;
      return jsonb_build_object('created', false, 'sent', true, 'job', k.answer);
    end if;
  end if;

  select * into j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id';
  if p ? 'repeated' and (not found or v_force and (j.status <> 'pending' or j.series_started_at is not null
                         or p ? 'run_at' and j.run_at is distinct from (p ->> 'run_at')::timestamptz)) then
    raise exception 'the request was not made before' using errcode = 'AW002';
  end if;
  if (p ->> 'run_at')::timestamptz > v_now and p ? 'most_later'
     and (j.id is null or v_force and (j.status <> 'pending' or j.series_started_at is not null))
     and not coalesce(j.message is not null and j.sent_at is null and j.run_at = (p ->> 'run_at')::timestamptz, false)
     and (select count(*) >= (p ->> 'most_later')::int
          from (select from {{ .schema }}.jobs o
                where o.client_id = v_client and o.message is not null and o.sent_at is null and o.run_at > v_now
                limit (p ->> 'most_later')::int) later) then
    raise exception '% jobs wait for their time', p ->> 'most_later' using errcode = 'AW033';
  end if;
  if j.id is null and p ? 'most' and v_document is not null and coalesce((p ->> 'run_at')::timestamptz <= v_now, true) then
    -- Submissions of one document follow each other: the row is their lock.
    insert into {{ .schema }}.idempotency_keys as o (client_id, key, fingerprint, job_id)
    values (v_client, v_document, '', p ->> 'job_id')
    on conflict (key, client_id) do update set created_at = clock_timestamp();
    select * into j from {{ .schema }}.jobs o
    where o.client_id = v_client and o.document = v_document and o.status in ('pending', 'running')
      and not (o.status = 'pending' and coalesce(o.run_at > clock_timestamp(), false))
    order by o.created_at, o.id offset (p ->> 'most')::int - 1 limit 1;
    if found then
      raise exception '%', jsonb_build_object('job_id', j.id, 'retry_after_ms', 1000) using errcode = 'AW007';
    end if;
  end if;

  v_answer := {{ .schema }}.aw_submit(p);
  if v_force and not (v_answer ->> 'created')::boolean and not p ? 'repeated' then
    select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for no key update;
    if not j.placeholder then
      perform {{ .schema }}.aw_expect_room(j, p ->> 'message', (p ->> 'run_at')::timestamptz);
    end if;
    update {{ .schema }}.jobs
    set queue = p ->> 'queue', message = p ->> 'message', sent_at = null, run_at = (p ->> 'run_at')::timestamptz
    where client_id = v_client and id = p ->> 'job_id' and not placeholder
      and (status <> 'pending' or series_started_at is not null);
    if found then
      v_answer := v_answer || '{"forced": true, "sent": false}';
    end if;
  end if;
  if (v_answer ->> 'created')::boolean and p ->> 'run_at' is not null then
    update {{ .schema }}.jobs set run_at = (p ->> 'run_at')::timestamptz
    where client_id = v_client and id = p ->> 'job_id';
  end if;
  select * into strict j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id';
  v_answer := v_answer || jsonb_build_object('job', {{ .schema }}.aw_job_json(j));
  if v_key is not null then
    update {{ .schema }}.idempotency_keys set answer = (v_answer -> 'job') - 'result' - 'hints'
      || jsonb_build_object('payload', jsonb_build_object('metadata', p #> '{payload,metadata}'))
    where client_id = v_client and key = v_key;
  end if;
  return v_answer;
end $$;

-- aw_forget_keys removes keys that are older than p.older_than_ms, at most p.limit.
create or replace function {{ .schema }}.aw_forget_keys(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_count integer;
begin
  with old as materialized ( -- else a join might evaluate it several times, with another result each time
    select k.key from {{ .schema }}.idempotency_keys k
    where k.client_id = v_client
      and k.created_at < clock_timestamp() - {{ .schema }}.aw_interval(p -> 'older_than_ms')
    order by k.created_at limit (p ->> 'limit')::int for update skip locked)
  delete from {{ .schema }}.idempotency_keys k using old where k.client_id = v_client and k.key = old.key;
  get diagnostics v_count = row_count;
  return jsonb_build_object('removed', v_count);
end $$;
