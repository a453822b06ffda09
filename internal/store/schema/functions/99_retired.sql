-- Internal functions of earlier versions that were renamed or removed. Workers of the previous version call only entry
-- points, which never belong here. But a call that has begun by the old body of an entry point goes on with it, and if
-- it were to find a function gone its transaction would fail, and the worker would lose the outcome of a task. So the
-- first migrate marks the functions, by a comment, and one that runs an hour or more later drops them.
-- Dropping comes last, when all callers have been replaced: a function whose body is parsed when it is created depends
-- on what it calls. One statement drops all, so that they may depend on each other. Every signature that a name has had
-- is dropped. Functions of other owners stay.
-- To retire a function, add its name. To use a name again, remove it.
do $$
declare
  c_retired constant text[] := array[
    'aw_again', 'aw_alone', 'aw_begun', 'aw_describe', 'aw_enqueue_all_p', 'aw_enqueue_p', 'aw_held', 'aw_hold_deliveries',
    'aw_ids', 'aw_is_of', 'aw_kept', 'aw_leave', 'aw_located', 'aw_ms', 'aw_noted', 'aw_reads', 'aw_refuse_job', 'aw_refuse_task',
    'aw_refused', 'aw_run', 'aw_sent_again', 'aw_share', 'aw_span', 'aw_staged', 'aw_story', 'aw_tell_canceled',
    'aw_tell_duplicate', 'aw_webhook_patience'];
  v_due text[] := '{}';
  f record;
begin
  for f in
    select p.oid::regprocedure::text as sig,
           substring(obj_description(p.oid, 'pg_proc') from '^retired at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$')::timestamptz as marked_at
    from pg_proc p
    where p.pronamespace = '{{ .schema }}'::regnamespace and p.proname = any (c_retired)
      and (pg_get_userbyid(p.proowner) in (current_user, 'aw_owner', 'aw_searcher', 'aw_keeper')
           or p.proowner = (select relowner from pg_class where oid = '{{ .schema }}.jobs'::regclass))
  loop
    if f.marked_at is null then
      execute format('comment on function %s is %L', f.sig,
                     'retired at ' || to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'));
    elsif f.marked_at <= now() - interval '1 hour' then
      v_due := v_due || f.sig;
    end if;
  end loop;
  if v_due = '{}' then
    return;
  end if;
  begin
    execute 'drop function ' || array_to_string(v_due, ', ');
  exception when dependent_objects_still_exist then
    raise warning 'functions of an earlier version stay, because something else uses them: %', sqlerrm;
  end;
end $$;

-- The indexes that the functions of before migrations 047, 050, 052 and 053 read. migrate runs this file in a transaction of its
-- own: a call that began by an old body and waited for this one would sort the whole queue.
drop index if exists {{ .schema }}.aw_queue_messages_due, {{ .schema }}.aw_queue_messages_waiting,
  {{ .schema }}.aw_queue_messages_held, {{ .schema }}.jobs_unsent, {{ .schema }}.jobs_by_age,
  {{ .schema }}.jobs_by_end, {{ .schema }}.cognee_documents_due, {{ .schema }}.cognee_documents_by_set,
  {{ .schema }}.cognee_documents_troubled;
