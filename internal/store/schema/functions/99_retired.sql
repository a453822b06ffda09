-- Internal functions of earlier versions that were renamed or removed. They are dropped last, when their callers have
-- been replaced: a function whose body is parsed when it is created depends on what it calls. Workers of the previous
-- version may still run, but call only entry points, which never belong here. One statement drops all of them, with
-- every signature that a name has had, so that they may depend on each other. Functions of other owners stay. To
-- retire a function, add its name. To use a name again, remove it.
do $$
declare
  c_retired constant text[] := array[
    'aw_again', 'aw_alone', 'aw_begun', 'aw_describe', 'aw_held', 'aw_ids', 'aw_is_of', 'aw_kept', 'aw_leave',
    'aw_located', 'aw_ms', 'aw_noted', 'aw_reads', 'aw_refuse_job', 'aw_refused', 'aw_run', 'aw_sent_again',
    'aw_share', 'aw_span', 'aw_staged', 'aw_story', 'aw_tell_canceled', 'aw_tell_duplicate', 'aw_webhook_patience'];
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
