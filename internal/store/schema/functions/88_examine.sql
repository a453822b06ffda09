-- aw_rights are the rights of aw_owner on each table: those that the functions need. No role gets TRUNCATE, which
-- row-level security doesn't restrict. The events of a job are only added to, and removed long after its end; later
-- its deliveries and the job itself.
create or replace function {{ .schema }}.aw_rights() returns table (name text, privileges text)
language sql immutable set search_path = {{ .path }} as $$
  values
    ('jobs', 'select, insert, update, delete'), ('job_events', 'select, insert, delete'),
    ('dead_letters', 'select, insert, update, delete'),
    ('webhook_deliveries', 'select, insert, update, delete'), ('webhook_outages', 'select, insert, update, delete'),
    ('webhook_locks', 'select, insert, update'), ('documents', 'select, insert, update, delete'),
    ('document_versions', 'select, insert, update, delete'), ('document_chunks', 'select, insert, update, delete'),
    ('page_results', 'select, insert, update, delete'), ('page_result_jobs', 'select, insert, update, delete'),
    ('summaries', 'select, insert, delete'), ('agent_runs', 'select, insert'),
    ('derived_contents', 'select, insert, delete'), ('partials', 'select, insert, update, delete'),
    ('idempotency_keys', 'select, insert, update, delete'),
    ('aw_queues', 'select, insert'), ('aw_queue_messages', 'select, insert, update, delete'),
    ('event_publishers', 'select, insert, update'), ('schedules', 'select, insert, update, delete'),
    ('cognee_targets', 'select, insert, update, delete'),
    ('cognee_documents', 'select, insert, update, delete'), ('cognee_datasets', 'select, insert, update, delete'),
    ('gateway_answers', 'select, insert, update, delete'), ('llm_checks', 'select, insert, delete'),
    ('decks', 'select, insert, delete'), ('chunk_terms', 'select, insert, delete'),
    ('term_parts', 'select, insert, update'), ('term_counts', 'select, insert, update, delete'),
    ('term_totals', 'select, insert, update'), ('aw_schema_version', 'select')
$$;

-- aw_exposed is what a tenant's role could do without the functions. The planner's estimates come from the statistics
-- of all tenants, and EXPLAIN and PostgREST show them to any role that may select from a table, whatever its policies
-- are.
create or replace function {{ .schema }}.aw_exposed(in_schema text, caller text) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_findings jsonb := '[]';
  r record;
begin
  for r in
    select o.rolname, t.name, string_agg(x, ', ') as privileges
    from pg_roles o, {{ .schema }}.aw_rights() t,
      unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) x
    where (o.rolname in ('async_worker', 'async_worker_reader') or o.rolname = caller)
      and not o.rolsuper and not o.rolbypassrls
      and t.name <> 'aw_schema_version' and to_regclass(format('%I.%I', in_schema, t.name)) is not null
      and (has_table_privilege(o.oid, to_regclass(format('%I.%I', in_schema, t.name)), x)
           or x not in ('delete', 'truncate', 'trigger')
              and has_any_column_privilege(o.oid, to_regclass(format('%I.%I', in_schema, t.name)), x))
    group by o.rolname, t.name order by o.rolname, t.name
  loop
    v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', r.name,
      'problem', format('%s may %s without the functions, and estimates reveal every client''s rows',
                        r.rolname, r.privileges),
      'mend', format('revoke all on %I.%I from %I, public', in_schema, r.name, r.rolname));
  end loop;
  for r in
    select p.oid::regprocedure::text as called, p.proname from pg_proc p
    where p.pronamespace = in_schema::regnamespace and p.prosecdef and pg_get_userbyid(p.proowner) = current_user
      and p.proname <> all ({{ .reads }})
      and has_function_privilege('async_worker_reader', p.oid, 'execute')
  loop
    v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', r.proname,
      'problem', 'async_worker_reader may call it',
      'mend', format('revoke execute on function %s from async_worker_reader, public', r.called));
  end loop;
  for r in
    select x.name, case when x.name = 'PUBLIC' then 'public' else quote_ident(x.name) end as quoted from (
      select coalesce(o.rolname::text, 'PUBLIC') as name
      from pg_namespace n, aclexplode(n.nspacl) a left join pg_roles o on o.oid = a.grantee
      where n.nspname = in_schema and a.privilege_type = 'CREATE'
        and (a.grantee = 0 or o.rolname in ('async_worker', 'async_worker_reader')
             or o.rolname = caller and not o.rolsuper)) x
  loop
    v_findings := v_findings || jsonb_build_object('about', 'create', 'subject', in_schema,
      'problem', format('%s may create objects in it, and other users may call such functions by mistake', r.name),
      'mend', format('revoke create on schema %I from %s', in_schema, r.quoted));
  end loop;
  return v_findings;
end $$;

-- aw_examine returns to `doctor` what the key of this session may do, which rights it or the functions' owner lack or
-- have in excess, and the statement that repairs each. It catches errors of refused rights, so that one doesn't hide
-- others, and rolls back what it writes. p.functions are the names of the functions that the program knows.
create or replace function {{ .schema }}.aw_examine(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  c_schema constant text := '{{ .schema }}';
  v_client text := p ->> 'client_id';
  -- As aw_caller, which may not be callable.
  v_caller text := coalesce(nullif(nullif(current_setting('role', true), 'none'), ''), session_user::text);
  v_all boolean;
  v_bound text;
  v_version integer;
  v_findings jsonb := '[]';
  v_tried jsonb := '[]'; -- what an insert showed; returned only if there are no other findings
  v_hosts jsonb := '[]';
  v_seen boolean;
  v_other text := case when v_client = 'another-client' then 'one-more-client' else 'another-client' end;
  v_id text := 'doctor-' || gen_random_uuid();
  r record;
begin
  if v_client is null then
    raise exception 'client_id is missing' using errcode = 'AW006';
  end if;
  -- A login that took the worker's role within this statement gets this far without it.
  for r in
    select x from unnest(array[v_caller, current_user]) x where not has_schema_privilege(x, c_schema, 'usage') limit 1
  loop
    return jsonb_build_object('role', v_caller, 'now', clock_timestamp(),
      'findings', jsonb_build_array(jsonb_build_object('about', 'schema', 'subject', c_schema,
        'problem', 'usage is not granted', 'mend', format('grant usage on schema %I to %I', c_schema, r.x))));
  end loop;
  -- The functions' rights on each other.
  for r in
    select p.proname, p.oid::regprocedure::text as called from pg_proc p
    where p.pronamespace = c_schema::regnamespace and pg_get_userbyid(p.proowner) = current_user
      and not has_function_privilege(p.oid, 'execute')
  loop
    v_findings := v_findings || jsonb_build_object('about', 'function', 'subject', r.proname,
      'problem', format('execute is not granted to %s, which the functions run as', current_user),
      'mend', format('grant execute on function %s to %I', r.called, current_user));
  end loop;
  if v_findings <> '[]' then
    return jsonb_build_object('role', v_caller, 'now', clock_timestamp(), 'findings', v_findings);
  end if;
  v_bound := {{ .schema }}.aw_bound();
  v_all := {{ .schema }}.aw_unbound();
  if v_bound <> v_client then
    raise exception 'this key belongs to client % and not to %', v_bound, v_client using errcode = 'AW004';
  elsif v_bound is null and not v_all then
    raise exception 'this key names no client: it needs the claim client_id' using errcode = 'AW004';
  end if;
  perform set_config('app.asked_client', v_client, true);
  begin
    select version into v_version from {{ .schema }}.aw_schema_version;
  exception when insufficient_privilege then
    null; -- it is among the tables below
  end;

  -- The vectors' type is in pgvector's schema.
  for r in
    select n.nspname, x
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace, unnest(array[v_caller, current_user]) x
    where e.extname = 'vector' and not has_schema_privilege(x, n.oid, 'usage')
  loop
    v_findings := v_findings || jsonb_build_object('about', 'schema', 'subject', r.nspname,
      'problem', 'usage is not granted, and the vectors'' type is in it',
      'mend', format('grant usage on schema %I to %I', r.nspname, r.x));
  end loop;

  for r in
    select n.name, f.oid, f.called, f.prosecdef from jsonb_array_elements_text(p -> 'functions') n(name)
    left join lateral (select oid, prosecdef,
                         format('%I.%I(%s)', c_schema, proname, pg_get_function_identity_arguments(oid)) as called
                       from pg_proc where pronamespace = c_schema::regnamespace and proname = n.name
                         and pg_get_userbyid(proowner) in (current_user, 'aw_searcher', 'aw_keeper')) f on true
    order by n.name
  loop
    if r.oid is null then
      v_findings := v_findings || jsonb_build_object('about', 'version', 'subject', r.name,
        'problem', 'there is no such function');
    elsif (r.prosecdef and r.name <> all (array['aw_matching_own', 'aw_ranked_own', 'aw_marks_own', 'aw_rarity_own', 'aw_queue_truncate']) or r.name = any ({{ .open }}) or v_all)
          and not has_function_privilege(v_caller, r.oid, 'execute') then
      v_findings := v_findings || jsonb_build_object('about', 'function', 'subject', r.name,
        'problem', 'execute is not granted',
        'mend', format('grant execute on function %s to %I', r.called, v_caller));
    end if;
  end loop;
  -- aw_matching_own, aw_ranked_own, aw_marks_own and aw_rarity_own run as another role, which needs rights on what they call.
  for r in
    select o.rolname, f.oid::regprocedure::text as called, f.proname
    from pg_proc d
    join pg_roles o on o.oid = d.proowner
    join pg_proc f on f.pronamespace = d.pronamespace and f.proname = any ({{ .searched }})
    where d.pronamespace = c_schema::regnamespace and d.proname = 'aw_matching_own' and o.rolname = 'aw_searcher'
      and pg_get_userbyid(f.proowner) = current_user and not has_function_privilege(o.oid, f.oid, 'execute')
  loop
    v_findings := v_findings || jsonb_build_object('about', 'function', 'subject', r.proname,
      'problem', format('execute is not granted to %s, which search runs as', r.rolname),
      'mend', format('grant execute on function %s to %I', r.called, r.rolname));
  end loop;
  v_findings := v_findings || {{ .schema }}.aw_exposed(c_schema, v_caller);

  for r in
    select t.name, to_regclass(format('%I.%I', c_schema, t.name)) as oid, t.privileges
    from {{ .schema }}.aw_rights() t
  loop
    if r.oid is null then
      v_findings := v_findings || jsonb_build_object('about', 'version', 'subject', r.name,
        'problem', 'there is no such table');
      continue;
    end if;
    v_findings := v_findings || coalesce((
      select jsonb_build_object('about', 'table', 'subject', r.name,
               'problem', string_agg(x, ', ') || ' is not granted',
               'mend', format('grant %s on %I.%I to %I', string_agg(x, ', '), c_schema, r.name, current_user))
      from regexp_split_to_table(r.privileges, ', ') x
      where not has_table_privilege(r.oid, x) having count(*) > 0), '[]');
    if r.name in ('documents', 'document_chunks', 'chunk_terms', 'term_counts', 'term_totals') then
      v_findings := v_findings || coalesce((
        select jsonb_build_object('about', 'table', 'subject', r.name,
                 'problem', format('select is not granted to %s, which search runs as', o.rolname),
                 'mend', format('grant select on %I.%I to %I', c_schema, r.name, o.rolname))
        from pg_proc d join pg_roles o on o.oid = d.proowner
        where d.pronamespace = c_schema::regnamespace and d.proname = 'aw_matching_own' and o.rolname = 'aw_searcher'
          and not has_table_privilege(o.oid, r.oid, 'select')), '[]');
    end if;
    if r.name <> 'aw_schema_version' then
      v_findings := v_findings || {{ .schema }}.aw_examine_policies(c_schema, r.name);
    end if;
  end loop;

  -- A job of this client must be writable and visible, one of another client not writable.
  begin
    insert into {{ .schema }}.jobs (client_id, id, type) values (v_client, v_id, 'doctor');
    perform from {{ .schema }}.jobs where client_id = v_client and id = v_id;
    v_seen := found;
    begin
      insert into {{ .schema }}.jobs (client_id, id, type) values (v_other, v_id, 'doctor');
      v_tried := v_tried || jsonb_build_object('about', 'policy', 'subject', 'jobs',
        'problem', 'a row of another client could be written');
    exception when insufficient_privilege then
      null; -- as expected
    end;
    raise exception 'roll back' using errcode = 'AW099';
  exception
    when sqlstate 'AW099' then
      if not v_seen then
        v_tried := v_tried || jsonb_build_object('about', 'policy', 'subject', 'jobs',
          'problem', 'a row of this client could be written but not read');
      end if;
    when others then
      v_tried := v_tried || jsonb_build_object('about', 'write', 'subject', 'jobs',
        'problem', 'a row of this client can''t be written (' || sqlstate || ')');
  end;

  if v_findings = '[]' then
    v_findings := v_tried;
  end if;

  begin
    select coalesce(jsonb_agg(distinct regexp_replace(
      webhook_url, '^(https?://)([^/?#]*@)?([^/?#]*).*$', '\1\3')), '[]') into v_hosts
    from (
      select webhook_url from {{ .schema }}.jobs where client_id = v_client order by created_at desc limit 200) latest
    where webhook_url ~ '^https?://';
  exception when insufficient_privilege then
    null;
  end;
  return jsonb_build_object('version', v_version, 'role', v_caller, 'bound_to', v_bound, 'every_tenant', v_all,
    'dimensions', (
      select atttypmod from pg_attribute
      where attrelid = to_regclass(format('%I.document_chunks', c_schema)) and attname = 'embedding'),
    'now', clock_timestamp(), 'findings', v_findings, 'webhook_hosts', v_hosts,
    'models', {{ .schema }}.aw_examine_models(v_client));
end $$;

-- aw_examine_models is by which models the vectors of a client's documents are. It looks at 2,000 documents at most, in the
-- order of their ids, which are random, and at one chunk of each: all chunks of a version are by one model.
create or replace function {{ .schema }}.aw_examine_models(client text) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('model', m.model, 'documents', m.documents)
                              order by m.documents desc, m.model), '[]')
    from (select c.model, count(*) as documents
          from (select o.id, o.active_version from {{ .schema }}.documents o
                where o.client_id = client and o.active_version is not null order by o.id limit 2000) d
          cross join lateral (
            select x.model from {{ .schema }}.document_chunks x
            where x.client_id = client and x.document_id = d.id and x.version = d.active_version
            order by x.position limit 1) c
          group by c.model) m);
exception when insufficient_privilege then
  return '[]'; -- which aw_examine reports
end $$;

-- aw_examine_policies is what is wrong with a table's row-level security: what lets the functions reach other
-- clients' rows, or not the session's own.
create or replace function {{ .schema }}.aw_examine_policies(in_schema text, in_table text) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_table constant regclass := format('%I.%I', in_schema, in_table)::regclass;
  -- As pg_get_expr prints (client_id = (select aw_client())).
  c_tenant constant text := '^\(client_id = \( SELECT (\w+\.)?aw_client\(\) AS aw_client\)\)$';
  v_mend text := format('begin; drop policy if exists tenant on %1$I.%2$I; '
    'create policy tenant on %1$I.%2$I using (client_id = (select %1$I.aw_client())) '
    'with check (client_id = (select %1$I.aw_client())); commit', in_schema, in_table);
  v_findings jsonb := '[]';
  v_tenant boolean := false;
  v_foreign boolean;
  r record;
begin
  if not (select relrowsecurity from pg_class where oid = v_table) then
    v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', in_table,
      'problem', 'row-level security is off: this key reaches every client''s rows',
      'mend', format('alter table %I.%I enable row level security', in_schema, in_table));
  end if;
  for r in
    select polname, polcmd, pg_get_expr(polqual, polrelid) as qual, pg_get_expr(polwithcheck, polrelid) as checked
    from pg_policy
    where polrelid = v_table and polpermissive
      and exists (
        select from unnest(polroles) x
        where x = 0 or pg_has_role(x, 'member') or x in ('async_worker'::regrole, 'async_worker_reader'::regrole))
  loop
    if coalesce(r.qual, r.checked) !~ c_tenant or coalesce(r.checked, r.qual) !~ c_tenant then
      v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', in_table,
        'problem', format('the policy %s does not restrict this key to its client', r.polname),
        'mend', case when r.polname = 'tenant' then v_mend
                     else format('drop policy %I on %I.%I', r.polname, in_schema, in_table) end);
      v_tenant := v_tenant or r.polname = 'tenant';
    else
      v_tenant := v_tenant or r.polcmd = '*';
    end if;
  end loop;
  if not v_tenant then
    v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', in_table,
      'problem', 'no policy gives this key access to its client''s rows', 'mend', v_mend);
  end if;
  -- Rows of other clients that are visible for any other reason. This reads about 100 pages at most.
  if has_table_privilege(v_table, 'select') then
    execute format('select exists (select from %s tablesample system ($1) where client_id <> $2)', v_table)
      into v_foreign
      using (select least(100, 10000.0 / greatest(relpages, 1)) from pg_class where oid = v_table),
        {{ .schema }}.aw_client();
    if v_foreign and v_findings = '[]' then
      v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', in_table,
        'problem', 'rows of other clients are visible');
    end if;
  end if;
  return v_findings;
exception when insufficient_privilege then
  return v_findings; -- aw_client is not granted, which aw_examine reports
end $$;
