-- Functions of earlier versions that this one has renamed or removed. They are dropped last: their callers have been
-- replaced above, and a function whose body is parsed when it is made depends on what it calls. Workers of the previous
-- version call none of them directly. One statement drops all, with every signature that a name had, so that they may
-- depend on each other. A function of another owner is somebody else's, and stays.
-- To retire a function, add its name here. A name that is in use again must leave this list.
do $$
declare
  c_retired constant text[] := array[
    'aw_again', 'aw_alone', 'aw_begun', 'aw_describe', 'aw_held', 'aw_ids', 'aw_is_of', 'aw_kept', 'aw_leave', 'aw_located',
    'aw_ms', 'aw_noted', 'aw_reads', 'aw_refuse_job', 'aw_refused', 'aw_run', 'aw_sent_again', 'aw_share', 'aw_span',
    'aw_staged', 'aw_story', 'aw_tell_canceled', 'aw_tell_duplicate', 'aw_webhook_patience'];
  v_found text;
begin
  select string_agg(p.oid::regprocedure::text, ', ') into v_found
  from pg_proc p
  where p.pronamespace = '{{ .schema }}'::regnamespace and p.proname = any (c_retired)
    and (pg_get_userbyid(p.proowner) in (current_user, 'aw_owner', 'aw_searcher')
         or p.proowner = (select relowner from pg_class where oid = '{{ .schema }}.jobs'::regclass));
  if v_found is not null then
    execute 'drop function ' || v_found;
  end if;
end $$;
