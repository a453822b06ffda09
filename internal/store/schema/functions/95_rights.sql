-- The owner of the functions, the role they run as, and who may call them, whatever the database's defaults are.
--   aw_owner owns them, and has the rights on the tables. Functions that take one jsonb p and return jsonb, and a few
--     more, are security definer: they run as aw_owner, restricted by row-level security, for the tenant of the
--     session.
--   async_worker, the role of a tenant's worker, calls those and can't access a table: see aw_exposed in
--     88_examine.sql.
--   async_worker_reader calls those that read documents, jobs and results.
--   service_role, Supabase's key for every tenant, may do both.
do $$
declare
  c_entry constant text[] := array[
    'aw_stage_vectors', 'aw_find_own', 'aw_own_jobs', 'aw_own_job_events', 'aw_own_documents', 'aw_own_summaries',
     'aw_own_agent_runs', 'aw_own_derived_contents', 'aw_own_llm_checks', 'aw_own_processing_jobs',
     'aw_own_dead_letters', 'aw_own_webhook_deliveries', 'aw_own_decks', 'aw_own_schedules',
    'aw_matching_own', 'aw_ranked_own', 'aw_marks_own', 'aw_rarity_own', 'aw_queue_truncate',
    'aw_enqueue', 'aw_enqueue_all'];
  v_owner text;
  f record;
  r text;
begin
  grant create on schema {{ .schema }} to aw_owner, aw_searcher, aw_keeper; -- "alter function … owner to" requires it
  for f in
    select p.oid::regprocedure as sig, p.proname as name, pg_get_userbyid(p.proowner) as owner,
           p.proname = any (c_entry)
             or p.proname like 'aw\_%' and pg_get_function_identity_arguments(p.oid) = 'p jsonb'
                and p.prorettype = 'jsonb'::regtype as entry
    from pg_proc p
    where p.pronamespace = '{{ .schema }}'::regnamespace and p.proname = any ({{ .names }})
      and (pg_get_userbyid(p.proowner) in (current_user, 'aw_owner', 'aw_searcher', 'aw_keeper')
           or p.proowner = (select relowner from pg_class where oid = '{{ .schema }}.jobs'::regclass))
  loop
    v_owner := case f.name when 'aw_matching_own' then 'aw_searcher' when 'aw_ranked_own' then 'aw_searcher'
                            when 'aw_marks_own' then 'aw_searcher' when 'aw_rarity_own' then 'aw_searcher'
                            when 'aw_queue_truncate' then 'aw_keeper'
                            else 'aw_owner' end;
    execute format('revoke all on function %s from public', f.sig);
    if f.owner <> v_owner then
      execute format('alter function %s owner to %I', f.sig, v_owner);
    end if;
    -- client_min_messages is pinned: else a session could have plans, with their estimates, sent to it as log
    -- messages.
    if f.entry then
      execute format('alter function %s security definer set client_min_messages = notice', f.sig);
    end if;
    foreach r in array array_remove(array['anon', 'authenticated', 'async_worker', 'async_worker_reader', 'aw_owner',
                                          'aw_searcher', 'aw_keeper', 'service_role'], v_owner) loop
      if exists (select from pg_roles where rolname = r) then
        execute format('revoke all on function %s from %I', f.sig, r);
      end if;
    end loop;
    if f.entry and v_owner = 'aw_owner' or f.name = any ({{ .open }}) then
      execute format('grant execute on function %s to async_worker', f.sig);
    end if;
    if f.name = any ({{ .reads }}) then
      execute format('grant execute on function %s to async_worker_reader', f.sig);
    end if;
    if f.name = any ({{ .searched }}) then
      execute format('grant execute on function %s to aw_searcher', f.sig);
    elsif v_owner <> 'aw_owner' then
      execute format('grant execute on function %s to aw_owner', f.sig);
    end if;
    if f.name = 'aw_queue_part' then
      execute format('grant execute on function %s to aw_keeper', f.sig); -- what aw_queue_truncate calls
    end if;
    if exists (select from pg_roles where rolname = 'service_role') then
      execute format('grant execute on function %s to service_role', f.sig);
    end if;
  end loop;
  revoke create on schema {{ .schema }} from aw_owner, aw_searcher, aw_keeper;
end $$;

do $$
declare
  t record;
begin
  for t in select name, privileges from {{ .schema }}.aw_rights() loop
    execute format('revoke all on {{ .schema }}.%I from public, async_worker, async_worker_reader', t.name);
    execute format('grant %s on {{ .schema }}.%I to aw_owner', t.privileges, t.name);
  end loop;
end $$;

notify pgrst, 'reload schema';
