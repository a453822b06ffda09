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

-- aw_one_form is aw_letters for any text. Some signs would run into their neighbours: a fraction and a trade mark become a
-- space, and so do raised digits after three letters, which are a footnote's mark (m² and km² have fewer); circled digits
-- and letters get spaces. The Thai and Lao am, which NFKC takes apart, is one character.
create or replace function {{ .schema }}.aw_one_form(words text) returns text
language plpgsql immutable parallel safe set search_path = {{ .path }} as $$
declare
  v_words text := words;
begin
  if words ~ '[^\x01-\x7f\u00a0-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0180-\u01c3\u01cd-\u01f0\u01f4-\u02af\u0386\u0388-\u03cf\u0400-\u0482\u048a-\u0586\u05d0-\u05ea\u060c\u061b\u061f-\u063a\u0640-\u0652\u0660-\u0674\u0679-\u06d4\u06f0-\u06f9\u0900-\u093b\u093d-\u0957\u0960-\u097f\u0e01-\u0e4c\u0e4e-\u0e5b\u0e81-\u0ecc\u0ed0-\u0ed9\u1000-\u109f\u1780-\u17ff\u1e00-\u1e99\u1e9c-\u1eff\u2000-\u206f\u20ac\u2190-\u2210\u2212-\u22ff\u2500-\u26ff\u3000-\u301f\u3041-\u3096\u30a1-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff0c\uff0f\uff1a-\uff20\uff3b-\uff3f\uff5b-\uff60]'
     and words is not nfkc normalized then -- the check costs ten times as much as the list
    v_words := replace(replace(
      normalize(
        regexp_replace(
          regexp_replace(words,
            '[\u00a0\u00a8\u00af\u00b4\u00b8\u00bc-\u00be\u2000-\u200a\u2010-\u206f\u207a-\u207e\u208a-\u208e\u2120\u2122\u2150-\u215f\u2189\u3000\uff01-\uff0c\uff0f\uff1a-\uff20\uff3b-\uff3f\uff5b-\uff65]|(?<=[^\x01-\x40\x5b-\x60\x7b-\xbf\u2000-\u303f]{3})[\u00b2\u00b3\u00b9\u2070-\u2079]+',
            ' ', 'g'),
          '([\u2460-\u24ff])', ' \1 ', 'g'),
        nfkc),
      U&'\0e4d\0e32', U&'\0e33'), U&'\0ecd\0eb2', U&'\0eb3');
  end if;
  return translate(regexp_replace(v_words, '[\u00ad\u0640\u064b-\u0652\u0654\u0670\u200d-\u200f]', '', 'g'), 'یکۀھ', 'يكهه');
end $$;

-- aw_letters is a text with one form of each letter and digit, that of Unicode's NFKC: composed, of usual width, and
-- without ligatures. Arabic and Persian have no vowel signs, and one yeh, kaf and heh. Signs that don't show are removed.
-- The list has what no form changes, and what the parser or aw_plain take for spaces; texts of nothing else are most
-- texts. The body is an expression, which the planner puts in place of the call.
create or replace function {{ .schema }}.aw_letters(words text) returns text
language sql immutable parallel safe
return case when octet_length(words) = length(words) then words -- ASCII
  when words ~ '[^\x01-\x7f\u00a0-\u00a9\u00ab\u00ac\u00ae-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0180-\u01c3\u01cd-\u01f0\u01f4-\u02af\u0386\u0388-\u03cf\u0400-\u0482\u048a-\u0586\u05d0-\u05ea\u060c\u061b\u061f-\u063a\u0641-\u064a\u0660-\u066f\u0671-\u0674\u0679-\u06a8\u06aa-\u06bd\u06bf\u06c1-\u06cb\u06cd-\u06d4\u06f0-\u06f9\u0900-\u093b\u093d-\u0957\u0960-\u097f\u0e01-\u0e4c\u0e4e-\u0e5b\u0e81-\u0ecc\u0ed0-\u0ed9\u1000-\u109f\u1780-\u17ff\u1e00-\u1e99\u1e9c-\u1eff\u2000-\u200c\u2010-\u206f\u20ac\u2190-\u2210\u2212-\u22ff\u2500-\u26ff\u3000-\u301f\u3041-\u3096\u30a1-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff0c\uff0f\uff1a-\uff20\uff3b-\uff3f\uff5b-\uff60]'
  then {{ .schema }}.aw_one_form(words) else words end;

-- aw_apart is a text with spaces around what is written in scripts without spaces: the parser takes 東京tower for one word.
create or replace function {{ .schema }}.aw_apart(words text) returns text
language sql immutable parallel safe
return case when octet_length(words) > length(words) and words ~ '[{{ .unspaced }}]'
  then regexp_replace(words, '([{{ .unspaced }}]+)', ' \1 ', 'g') else words end;

-- aw_fulltext is what full-text search indexes: headings weigh more than the text. 'simple' does not stem: documents
-- are in many languages, and vectors find what is only similar. array_to_string is not marked immutable because the
-- text of some types depends on settings; that of type text doesn't. In SQL it would be planned for each statement that
-- writes chunks, and started for each chunk; the functions that get a variable are put in place of their calls.
create or replace function {{ .schema }}.aw_fulltext(heading_path text[], content text) returns tsvector
language plpgsql immutable parallel safe set search_path = {{ .path }} as $$
declare
  v_heading text := array_to_string(heading_path, ' ');
  v_content text := {{ .schema }}.aw_letters(content);
begin
  v_heading := {{ .schema }}.aw_letters(v_heading);
  return setweight(to_tsvector('pg_catalog.simple'::regconfig, {{ .schema }}.aw_apart(v_heading)), 'A')
      || setweight(to_tsvector('pg_catalog.simple'::regconfig, {{ .schema }}.aw_apart(v_content)), 'B');
end $$;

-- aw_guard_job refuses changes of a job that break an invariant, and notes when it was changed. That its events were removed
-- is no change of it.
create or replace function {{ .schema }}.aw_guard_job() returns trigger
language plpgsql set search_path = {{ .path }} as $$
begin
  if new.fence < old.fence then -- I4
    raise exception 'the fence of job % would fall from % to %', old.id, old.fence, new.fence using errcode = 'AW011';
  end if;
  if new.status <> old.status then -- I3
    if (old.status = 'pending' and new.status in ('running', 'failed', 'canceled'))
       or (old.status = 'running' and new.status in ('pending', 'succeeded', 'failed', 'canceled')) then
      null;
    -- A forced message leaves a terminal state, only into another series under a new fence.
    elsif old.status in ('succeeded', 'failed', 'canceled') and new.status = 'running'
       and new.series = old.series + 1 and new.fence = old.fence + 1 then
      null;
    -- A retry by hand leaves failed, only into another series that nobody holds.
    elsif old.status = 'failed' and new.status = 'pending'
       and new.series = old.series + 1 and new.fence = old.fence then
      null;
    else
      raise exception 'job % can not go from % to %', old.id, old.status, new.status using errcode = 'AW010';
    end if;
  end if;
  if new.progress < old.progress and new.series = old.series then -- I8
    raise exception 'the progress of job % would fall from % to %', old.id, old.progress, new.progress
      using errcode = 'AW011';
  end if;
  if new.events_removed_to is distinct from old.events_removed_to then
    old.events_removed_to := new.events_removed_to;
    if old is not distinct from new then
      return new;
    end if;
  end if;
  new.updated_at := clock_timestamp();
  return new;
end $$;

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
