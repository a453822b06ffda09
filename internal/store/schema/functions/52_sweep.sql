-- The sweep: messages that were recorded and never sent, and jobs whose message must be lost (I1).

-- aw_stalled reports whether a job that waits to be begun is overdue, and no message of it is being sent or was sent
-- by a sweep recently. A job is overdue some time after its lease ended, its retry was due or it was released; much
-- later if its message was sent and it never began. When a worker dies its message comes back soon: so the message is
-- lost, or waits in a long queue. In the latter case another message does no harm, as aw_begin runs the job once. The row
-- may have the message of another run that starts later: then no sent_at says when this run's was sent, and the last
-- change of the row counts.
create or replace function {{ .schema }}.aw_stalled(j {{ .schema }}.jobs, p jsonb) returns boolean
language sql volatile
return j.status in ('pending', 'running') and (j.message is null or j.run_at > clock_timestamp()) and case
  when coalesce(j.lease_expires_at, j.not_before) is null then
    j.sent_at <= clock_timestamp() - {{ .schema }}.aw_interval(p -> 'unstarted_for_ms')
  else coalesce(j.lease_expires_at, j.not_before)
         <= clock_timestamp() - {{ .schema }}.aw_interval(p -> 'stalled_for_ms')
    and (coalesce(j.sent_at, j.updated_at) <= coalesce(j.lease_expires_at, j.not_before)
         or coalesce(j.sent_at, j.updated_at) <= clock_timestamp() - {{ .schema }}.aw_interval(p -> 'again_after_ms')) end;

-- aw_sweep finds p.limit of each at most; of the messages none for p.skip_queues, of the stalled jobs those after p.after,
-- and none if p.stalled is false: all unfinished jobs of the tenant are looked at for these.
create or replace function {{ .schema }}.aw_sweep(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_limit integer := (p ->> 'limit')::int;
  v_now timestamptz := clock_timestamp(); -- an index takes no volatile function
begin
  return jsonb_build_object(
    'unsent', coalesce((
      select jsonb_agg(
        jsonb_build_object('job_id', u.id, 'queue', u.queue, 'message', u.message,
          'since', coalesce(u.run_at, u.updated_at)) order by u.place, u.run_at)
      from (-- Nothing has changed since it was recorded.
            (select row_number() over (order by created_at) as place, * from {{ .schema }}.jobs
             where client_id = v_client and not coalesce(p -> 'skip_queues' ? queue, false)
               and message is not null and sent_at is null and run_at is null
               and updated_at <= v_now - {{ .schema }}.aw_interval(p -> 'unsent_for_ms')
             order by created_at limit v_limit)
            union all -- One with a time is sent when that has come. Neither kind waits for the end of the other's line.
            (select row_number() over (order by run_at) as place, * from {{ .schema }}.jobs
             where client_id = v_client and not coalesce(p -> 'skip_queues' ? queue, false)
               and message is not null and sent_at is null and run_at <= v_now
             order by run_at limit v_limit)
            order by place, run_at limit v_limit) u), '[]'),
    'due_in_ms', (
      select {{ .schema }}.aw_ms_until(run_at) from {{ .schema }}.jobs
      where client_id = v_client and message is not null and sent_at is null and run_at > v_now
      order by run_at limit 1),
    'stalled', case when p -> 'stalled' = 'false' then '[]' else coalesce((
      select jsonb_agg(jsonb_build_object('job', {{ .schema }}.aw_job_json(s.j), 'webhook_url', (s.j).webhook_url,
        'traceparent', (s.j).traceparent, 'fingerprint', (s.j).fingerprint, 'fence', (s.j).fence,
        'worker_lost', (s.j).lease_expires_at is not null, 'since', s.since) order by s.since, (s.j).id)
      from (select j, coalesce(j.lease_expires_at, j.not_before, j.sent_at) as since from {{ .schema }}.jobs j
            where j.client_id = v_client and j.status in ('pending', 'running') and {{ .schema }}.aw_stalled(j, p)
              and (p -> 'after' is null or (coalesce(j.lease_expires_at, j.not_before, j.sent_at), j.id)
                   > ((p #>> '{after,since}')::timestamptz, p #>> '{after,job_id}'))
            order by since, j.id limit v_limit) s), '[]') end);
end $$;

-- aw_resend records another message of a stalled job, as aw_submit records the first. If several sweeps found the
-- job, one of them records. An empty message only postpones the next one. One of a job whose row has the message of a later
-- run is not recorded, only that it is sent: if it is not, the next one is due in a while.
create or replace function {{ .schema }}.aw_resend(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_last record;
  j {{ .schema }}.jobs;
begin
  select * into j from {{ .schema }}.jobs where client_id = v_client and id = p ->> 'job_id' for no key update;
  if not found or j.fence <> (p ->> 'fence')::bigint or not {{ .schema }}.aw_stalled(j, p) then
    return '{"recorded": false}';
  elsif p ->> 'message' = '' then
    update {{ .schema }}.jobs set sent_at = case when j.message is null then clock_timestamp() end
    where client_id = v_client and id = j.id;
    return '{"recorded": true}';
  end if;
  select * into v_last from {{ .schema }}.aw_append_events(j, jsonb_build_array({{ .schema }}.aw_event(
    '', 0, 'the message was lost; it is sent again',
    jsonb_build_object('worker_lost', j.lease_expires_at is not null))));
  update {{ .schema }}.jobs set event_seq = v_last.seq, queue = case when j.message is null then p ->> 'queue' else queue end,
    message = coalesce(j.message, p ->> 'message'), sent_at = null, run_at = case when j.message is not null then run_at end
  where client_id = v_client and id = j.id;
  return '{"recorded": true}';
end $$;
