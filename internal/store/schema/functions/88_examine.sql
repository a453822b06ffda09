-- aw_examine tells `doctor` what the key of this session may do here, what it lacks, and the statement that grants it.
-- It catches what is refused, so that one missing right hides no other, and rolls back what it writes. p.functions are the names of the functions that the program knows.
create or replace function {{ .schema }}.aw_examine(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  c_schema constant text := '{{ .schema }}';
  v_client text := p ->> 'client_id';
  v_all boolean := (select rolsuper or rolbypassrls from pg_roles where rolname = current_user);
  v_bound text;
  v_version integer;
  v_findings jsonb := '[]';
  v_tried jsonb := '[]'; -- what trying showed; it matters when nothing else explains it
  v_hosts jsonb := '[]';
  v_seen boolean;
  v_other text := case when v_client = 'another-client' then 'one-more-client' else 'another-client' end;
  v_id text := 'doctor-' || gen_random_uuid();
  r record;
begin
  if v_client is null then
    raise exception 'client_id is missing' using errcode = 'AW006';
  end if;
  -- A login that took the worker's role within this statement comes as far as this without it.
  if not has_schema_privilege(c_schema, 'usage') then
    return jsonb_build_object('role', current_user, 'now', clock_timestamp(), 'findings', jsonb_build_array(jsonb_build_object('about', 'schema',
      'subject', c_schema, 'problem', 'usage is not granted', 'mend', format('grant usage on schema %I to %I', c_schema, current_user))));
  end if;
  begin
    v_bound := {{ .schema }}.aw_client();
    if v_bound <> v_client then
      raise exception 'this key belongs to client % and not to %', v_bound, v_client using errcode = 'AW004';
    elsif v_bound is null and not v_all then
      raise exception 'this key names no client: it needs the claim client_id' using errcode = 'AW004';
    end if;
  exception when insufficient_privilege then
    null; -- it is among the functions below
  end;
  begin
    select version into v_version from {{ .schema }}.aw_schema_version;
  exception when insufficient_privilege then
    null; -- it is among the tables below
  end;

  -- The type of the vectors lives in pgvector's schema.
  for r in
    select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector' and not has_schema_privilege(n.oid, 'usage')
  loop
    v_findings := v_findings || jsonb_build_object('about', 'schema', 'subject', r.nspname, 'problem', 'usage is not granted, and the vectors'' type is in it',
      'mend', format('grant usage on schema %I to %I', r.nspname, current_user));
  end loop;

  for r in
    select n.name, f.oid, f.there, format('%I.%I%s', c_schema, n.name,
             case when f.there > 1 then '(' || pg_get_function_identity_arguments(f.oid) || ')' else '' end) as called
    from jsonb_array_elements_text(p -> 'functions') n(name)
    left join lateral (select oid, count(*) over () as there from pg_proc
                       where pronamespace = c_schema::regnamespace and proname = n.name) f on true
    order by n.name
  loop
    if r.oid is null then
      v_findings := v_findings || jsonb_build_object('about', 'version', 'subject', r.name, 'problem', 'there is no such function');
    elsif not has_function_privilege(r.oid, 'execute') then
      v_findings := v_findings || jsonb_build_object('about', 'function', 'subject', r.name, 'problem', 'execute is not granted',
        'mend', format('grant execute on function %s to %I', r.called, current_user));
    end if;
  end loop;
  -- One function runs as its owner, who needs what it uses.
  for r in
    select o.rolname, f.oid, f.proname from pg_proc d join pg_roles o on o.oid = d.proowner
    join pg_proc f on f.pronamespace = d.pronamespace and f.proname in ('aw_client', 'aw_matching')
    where d.pronamespace = c_schema::regnamespace and d.proname = 'aw_matching_own' and not has_function_privilege(o.oid, f.oid, 'execute')
  loop
    v_findings := v_findings || jsonb_build_object('about', 'function', 'subject', r.proname, 'problem', format('execute is not granted to %s, which search runs as', r.rolname),
      'mend', format('grant execute on function %I.%I to %I', c_schema, r.proname, r.rolname));
  end loop;

  -- What 005_tenancy.sql and later migrations grant.
  for r in
    select t.name, to_regclass(format('%I.%I', c_schema, t.name)) as oid, t.privileges from (values
      ('jobs', 'select, insert, update'), ('job_events', 'select, insert'), ('dead_letters', 'select, insert, update, delete'),
      ('webhook_deliveries', 'select, insert, update'), ('documents', 'select, insert, update, delete'),
      ('document_versions', 'select, insert, update, delete'), ('document_chunks', 'select, insert, update, delete'),
      ('page_results', 'select, insert, update, delete'), ('summaries', 'select, insert'), ('agent_runs', 'select, insert'),
      ('derived_contents', 'select, insert'), ('partials', 'select, insert, update, delete'), ('aw_schema_version', 'select')) as t(name, privileges)
  loop
    if r.oid is null then
      v_findings := v_findings || jsonb_build_object('about', 'version', 'subject', r.name, 'problem', 'there is no such table');
      continue;
    end if;
    v_findings := v_findings || coalesce((
      select jsonb_build_object('about', 'table', 'subject', r.name, 'problem', string_agg(x, ', ') || ' is not granted',
               'mend', format('grant %s on %I.%I to %I', string_agg(x, ', '), c_schema, r.name, current_user))
      from regexp_split_to_table(r.privileges, ', ') x where not has_table_privilege(r.oid, x) having count(*) > 0), '[]');
    if r.name in ('documents', 'document_chunks') then
      v_findings := v_findings || coalesce((
        select jsonb_build_object('about', 'table', 'subject', r.name, 'problem', format('select is not granted to %s, which search runs as', o.rolname),
                 'mend', format('grant select on %I.%I to %I', c_schema, r.name, o.rolname))
        from pg_proc d join pg_roles o on o.oid = d.proowner
        where d.pronamespace = c_schema::regnamespace and d.proname = 'aw_matching_own' and not has_table_privilege(o.oid, r.oid, 'select')), '[]');
    end if;
    if not v_all and r.name <> 'aw_schema_version' then
      v_findings := v_findings || {{ .schema }}.aw_examine_policies(c_schema, r.name);
    end if;
  end loop;

  -- A job of this client can be written and seen; one of another client can't be written.
  begin
    insert into {{ .schema }}.jobs (client_id, id, type) values (v_client, v_id, 'doctor');
    perform from {{ .schema }}.jobs where client_id = v_client and id = v_id;
    v_seen := found;
    if not v_all then
      begin
        insert into {{ .schema }}.jobs (client_id, id, type) values (v_other, v_id, 'doctor');
        v_tried := v_tried || jsonb_build_object('about', 'policy', 'subject', 'jobs', 'problem', 'a row of another client could be written');
      exception when insufficient_privilege then
        null; -- as it should be
      end;
    end if;
    raise exception 'back' using errcode = 'AW099';
  exception
    when sqlstate 'AW099' then
      if not v_seen then
        v_tried := v_tried || jsonb_build_object('about', 'policy', 'subject', 'jobs', 'problem', 'a row of this client was written, and can''t be seen');
      end if;
    when others then
      v_tried := v_tried || jsonb_build_object('about', 'write', 'subject', 'jobs', 'problem', 'a row of this client can''t be written (' || sqlstate || ')');
  end;

  if v_findings = '[]' then
    v_findings := v_tried;
  end if;

  begin
    select coalesce(jsonb_agg(distinct regexp_replace(webhook_url, '^(https?://)([^/?#]*@)?([^/?#]*).*$', '\1\3')), '[]') into v_hosts
    from (select webhook_url from {{ .schema }}.jobs where client_id = v_client order by created_at desc limit 200) latest
    where webhook_url ~ '^https?://';
  exception when insufficient_privilege then
    null;
  end;
  return jsonb_build_object('version', v_version, 'role', current_user, 'bound_to', v_bound, 'every_tenant', v_all and v_bound is null,
    'dimensions', (select atttypmod from pg_attribute where attrelid = to_regclass(format('%I.document_chunks', c_schema)) and attname = 'embedding'),
    'now', clock_timestamp(), 'findings', v_findings, 'webhook_hosts', v_hosts);
end $$;

-- aw_examine_policies is what of a table's row-level security does not keep the session's role to its client.
create or replace function {{ .schema }}.aw_examine_policies(in_schema text, in_table text) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_table constant regclass := format('%I.%I', in_schema, in_table)::regclass;
  -- As pg_get_expr prints (client_id = (select aw_client())).
  c_tenant constant text := '^\(client_id = \( SELECT (\w+\.)?aw_client\(\) AS aw_client\)\)$';
  v_mend text := format('begin; drop policy if exists tenant on %1$I.%2$I; create policy tenant on %1$I.%2$I using (client_id = (select %1$I.aw_client())) '
    'with check (client_id = (select %1$I.aw_client())); commit', in_schema, in_table);
  v_findings jsonb := '[]';
  v_tenant boolean := false;
  v_foreign boolean;
  r record;
begin
  if not (select relrowsecurity from pg_class where oid = v_table) then
    v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', in_table, 'problem', 'row-level security is off: this key reaches every client''s rows',
      'mend', format('alter table %I.%I enable row level security', in_schema, in_table));
  end if;
  for r in
    select polname, polcmd, pg_get_expr(polqual, polrelid) as qual, pg_get_expr(polwithcheck, polrelid) as checked from pg_policy
    where polrelid = v_table and polpermissive
      and exists (select from unnest(polroles) x where x = 0 or pg_has_role(x, 'member'))
  loop
    if coalesce(r.qual, r.checked) !~ c_tenant or coalesce(r.checked, r.qual) !~ c_tenant then
      v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', in_table, 'problem', format('the policy %s does not keep this key to its client', r.polname),
        'mend', case when r.polname = 'tenant' then v_mend else format('drop policy %I on %I.%I', r.polname, in_schema, in_table) end);
      v_tenant := v_tenant or r.polname = 'tenant';
    else
      v_tenant := v_tenant or r.polcmd = '*';
    end if;
  end loop;
  if not v_tenant then
    v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', in_table, 'problem', 'no policy lets this key at its client''s rows', 'mend', v_mend);
  end if;
  -- Whatever the reason may be: at most about 100 pages are looked at.
  if has_table_privilege(v_table, 'select') then
    execute format('select exists (select from %s tablesample system ($1) where client_id <> $2)', v_table)
      into v_foreign using (select least(100, 10000.0 / greatest(relpages, 1)) from pg_class where oid = v_table), {{ .schema }}.aw_client();
    if v_foreign and v_findings = '[]' then
      v_findings := v_findings || jsonb_build_object('about', 'policy', 'subject', in_table, 'problem', 'rows of other clients can be seen');
    end if;
  end if;
  return v_findings;
exception when insufficient_privilege then
  return v_findings; -- aw_client is not granted, which is told elsewhere
end $$;
