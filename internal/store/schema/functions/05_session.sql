-- What tables, policies and triggers call. Our functions find built-in names by their search path, which is
-- pg_catalog alone (pg_temp last, or it would come first). No schema in which others may create objects is on the
-- path: an exact match there beats a built-in function with polymorphic arguments, whatever the order of the path.
-- All other names are qualified, and our functions are called with all their arguments, in their exact types.
{{ if not .keep }}
-- Up to PostgreSQL 14, and in databases upgraded from there, PUBLIC may create objects in the schema public.
revoke create on schema {{ .schema }} from public;
{{ end }}

-- Functions of these names are replaced here, and keep their owners. A superuser would also replace a function that
-- another role created, and that role would still own it and could change it.
do $$
declare
  f record;
begin
  for f in
    select p.oid::regprocedure as name, p.proowner::regrole as owner from pg_proc p
    where p.pronamespace = '{{ .schema }}'::regnamespace and p.proname = any ({{ .names }})
      and pg_get_userbyid(p.proowner) not in (current_user, 'aw_owner', 'aw_searcher', 'aw_keeper')
      and p.proowner <> (select relowner from pg_class where oid = '{{ .schema }}.jobs'::regclass)
  loop
    raise exception 'function % belongs to %, which did not create this schema', f.name, f.owner
      using hint = format('inspect it, then: drop function %s', f.name);
  end loop;
end $$;

-- aw_bound is the tenant that this session is bound to, null for a session that is bound to none (service key,
-- superuser).
--   1. A login named async_worker_<client> or async_worker_reader_<client> is bound by its name: none of its settings
--      can change that.
--   2. Behind PostgREST the claim client_id of the JWT binds.
--   3. On a direct connection the setting app.client_id binds.
-- The body is parsed when the function is created, so the caller's search_path can't change its meaning.
create or replace function {{ .schema }}.aw_bound() returns text
language sql stable parallel safe
return case
  when session_user::text like 'async\_worker\_reader\_%' then substr(session_user::text, 21)
  when session_user::text like 'async\_worker\_%' then substr(session_user::text, 14)
  else coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'client_id',
    nullif(current_setting('app.client_id', true), ''))
end;

-- aw_caller is the caller's role, also within a security definer function: only a member of a role can set it, and
-- within such a function nobody can.
create or replace function {{ .schema }}.aw_caller() returns text
language sql stable parallel safe
return coalesce(nullif(nullif(current_setting('role', true), 'none'), ''), session_user::text);

-- aw_unbound reports whether the caller is bound to no tenant because it may act for each of them.
create or replace function {{ .schema }}.aw_unbound() returns boolean
language sql stable parallel safe
return {{ .schema }}.aw_bound() is null and exists (
  select from pg_catalog.pg_roles r where r.rolname = {{ .schema }}.aw_caller() and (r.rolsuper or r.rolbypassrls));

-- aw_asked is the tenant that a call names, if the caller may name any. aw_tenant sets it.
create or replace function {{ .schema }}.aw_asked() returns text
language sql stable parallel safe
return case when {{ .schema }}.aw_unbound() then nullif(current_setting('app.asked_client', true), '') end;

-- aw_client is the tenant whose rows this call can see and write: the policies of all tables call it.
create or replace function {{ .schema }}.aw_client() returns text
language sql stable parallel safe
return coalesce({{ .schema }}.aw_bound(), {{ .schema }}.aw_asked());

-- aw_fulltext is what full-text search indexes: headings weigh more than the text. 'simple' does not stem: documents
-- are in many languages, and vectors find what is only similar. array_to_string is not marked immutable because the
-- text of some types depends on settings; that of type text doesn't.
create or replace function {{ .schema }}.aw_fulltext(heading_path text[], content text) returns tsvector
language sql immutable parallel safe
return setweight(to_tsvector('pg_catalog.simple'::regconfig, array_to_string(heading_path, ' ')), 'A')
    || setweight(to_tsvector('pg_catalog.simple'::regconfig, content), 'B');

alter function {{ .schema }}.aw_guard_job() set search_path = {{ .path }};

-- aw_guard_delivery keeps a finished delivery finished, unless a person has it sent again: that takes a new fence,
-- which settling an attempt never does.
create or replace function {{ .schema }}.aw_guard_delivery() returns trigger
language plpgsql set search_path = {{ .path }} as $$
begin
  if new.fence < old.fence
     or (old.status <> 'pending' and new.status <> old.status
         and not (new.status = 'pending' and new.fence > old.fence and new.lease_expires_at is null)) then
    raise exception 'delivery % has ended, or its fence would fall', old.id using errcode = 'AW011';
  end if;
  return new;
end $$;
