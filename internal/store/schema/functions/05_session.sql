-- What tables, policies and triggers call. A function of ours finds built-in names by its search path, which is
-- pg_catalog alone (pg_temp last, or it would come first): a schema in which others may create things is on no path,
-- since an exact match there beats a built-in function of polymorphic arguments whatever the order is. All else is
-- qualified, and functions of ours are called with all their arguments in their exact types.
{{ if not .keep }}
-- PUBLIC may create in the schema public up to PostgreSQL 14, and in databases that come from there.
revoke create on schema {{ .schema }} from public;
{{ end }}

-- Functions of these names are replaced here, and keep their owners. One that somebody else made would be replaced by
-- a superuser too, and stay his, to change as he likes.
do $$
declare
  f record;
begin
  for f in
    select p.oid::regprocedure as name, p.proowner::regrole as owner from pg_proc p
    where p.pronamespace = '{{ .schema }}'::regnamespace and p.proname = any ({{ .names }})
      and pg_get_userbyid(p.proowner) not in (current_user, 'aw_owner', 'aw_searcher')
      and p.proowner <> (select relowner from pg_class where oid = '{{ .schema }}.jobs'::regclass)
  loop
    raise exception 'function % belongs to %, who did not make this schema', f.name, f.owner
      using hint = format('look at what it does, then: drop function %s', f.name);
  end loop;
end $$;

-- The tenant that this session is bound to, null when it is bound to none (service key, superuser).
--   1. a login named async_worker_<client> or async_worker_reader_<client> is bound by its name: no setting of its own
--      can change that;
--   2. behind PostgREST the claim client_id of the JWT binds;
--   3. on a direct connection the setting app.client_id binds.
-- The body is parsed here and now, so no search_path of a caller can make it mean something else.
create or replace function {{ .schema }}.aw_bound() returns text
language sql stable parallel safe
return case
  when session_user::text like 'async\_worker\_reader\_%' then substr(session_user::text, 21)
  when session_user::text like 'async\_worker\_%' then substr(session_user::text, 14)
  else coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'client_id',
    nullif(current_setting('app.client_id', true), ''))
end;

-- aw_caller is the role of whoever calls, also within a function that runs as its owner: only a member of a role can
-- take it, and nobody can in there.
create or replace function {{ .schema }}.aw_caller() returns text
language sql stable parallel safe
return coalesce(nullif(nullif(current_setting('role', true), 'none'), ''), session_user::text);

-- aw_unbound says whether the caller is of no tenant because he may be of every one.
create or replace function {{ .schema }}.aw_unbound() returns boolean
language sql stable parallel safe
return {{ .schema }}.aw_bound() is null and exists (
  select from pg_catalog.pg_roles r where r.rolname = {{ .schema }}.aw_caller() and (r.rolsuper or r.rolbypassrls));

-- aw_asked is the tenant that a call names, of a caller who may name anyone; aw_tenant notes it.
create or replace function {{ .schema }}.aw_asked() returns text
language sql stable parallel safe
return case when {{ .schema }}.aw_unbound() then nullif(current_setting('app.asked_client', true), '') end;

-- aw_client is the tenant whose rows there are for this call: the policies of all tables ask it.
create or replace function {{ .schema }}.aw_client() returns text
language sql stable parallel safe
return coalesce({{ .schema }}.aw_bound(), {{ .schema }}.aw_asked());

-- What full-text search looks at: the headings weigh more than the text. 'simple' does not stem: the documents' languages
-- are many, and the vectors find what is only similar. array_to_string is not marked immutable because of types whose
-- text depends on settings; text is none of them.
create or replace function {{ .schema }}.aw_fulltext(heading_path text[], content text) returns tsvector
language sql immutable parallel safe
return setweight(to_tsvector('pg_catalog.simple'::regconfig, array_to_string(heading_path, ' ')), 'A')
    || setweight(to_tsvector('pg_catalog.simple'::regconfig, content), 'B');

alter function {{ .schema }}.aw_guard_job() set search_path = {{ .path }};

-- A delivery that is over stays so, unless a person has it sent again: that takes a new fence, which no settling of an
-- attempt does.
create or replace function {{ .schema }}.aw_guard_delivery() returns trigger
language plpgsql set search_path = {{ .path }} as $$
begin
  if new.fence < old.fence or (old.status <> 'pending' and new.status <> old.status
                               and not (new.status = 'pending' and new.fence > old.fence and new.lease_expires_at is null)) then
    raise exception 'delivery % is over, or its fence would fall', old.id using errcode = 'AW011';
  end if;
  return new;
end $$;
