-- What tables, policies and triggers call. A function of ours finds built-in names by its search path, which is
-- pg_catalog alone (pg_temp last, or it would come first): a schema in which others may create things is on no path,
-- since an exact match there beats a built-in function of polymorphic arguments whatever the order is. All else is
-- qualified, and functions of ours are called with all their arguments in their exact types.
{{ if not .keep }}
-- PUBLIC may create in the schema public up to PostgreSQL 14, and in databases that come from there.
revoke create on schema {{ .schema }} from public;
{{ end }}
-- The tenant that this session is bound to, null when it is bound to none (service key, superuser).
--   1. a login named async_worker_<client> is bound by its name: no setting of its own can change that;
--   2. behind PostgREST the claim client_id of the JWT binds;
--   3. on a direct connection the setting app.client_id binds.
-- The body is parsed here and now, so no search_path of a caller can make it mean something else.
create or replace function {{ .schema }}.aw_client() returns text
language sql stable parallel safe
return case
  when session_user::text like 'async\_worker\_%' then substr(session_user::text, 14)
  else coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'client_id',
    nullif(current_setting('app.client_id', true), ''))
end;

alter function {{ .schema }}.aw_guard_job() set search_path = {{ .path }};
alter function {{ .schema }}.aw_guard_delivery() set search_path = {{ .path }};
