-- Which documents a search looks in, beside their set. What narrows a search acts in each of its legs, before their limits:
-- a filter after them would lose hits.

-- aw_fits reports whether a document fits "within", the JSON of a store.Within (null: every document does). A field that
-- is null narrows nothing. A document's date is that of the work if it states one, else that of its file, else when it
-- was ingested; all are RFC 3339 in UTC, so that their texts compare. The body is an expression, which the planner puts
-- in place of the call.
create or replace function {{ .schema }}.aw_fits(d {{ .schema }}.documents, within jsonb) returns boolean
language sql stable parallel safe
return within is null
  or (coalesce(within -> 'metadata', 'null') = 'null' or d.metadata @> (within -> 'metadata'))
    and (within ->> 'language' is null or lower(d.language) = lower(within ->> 'language')
         or starts_with(lower(d.language), lower(within ->> 'language') || '-'))
    and (not within ? 'except' or not (within -> 'except') ? d.id::text)
    and (not within ?| array['from', 'to'] or
         coalesce(d.properties ->> 'published', d.properties ->> 'modified', d.properties ->> 'created',
                  to_char(d.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) collate "C"
           between coalesce(within ->> 'from', '') and coalesce(within ->> 'to', '~'));

-- aw_checked_within is "within" of a call; null: nothing narrows it. What would narrow nothing, or too much, is refused: a
-- field with another name or type, and a date whose text would not compare.
create or replace function {{ .schema }}.aw_checked_within(within jsonb) returns jsonb
language plpgsql immutable set search_path = {{ .path }} as $$
declare
  v_types constant jsonb := '{"metadata": "object", "language": "string", "from": "string", "to": "string",
                              "except": "array", "except_chunks": "array"}';
  v_field record;
begin
  if coalesce(within, 'null') = 'null' then
    return null;
  end if;
  if jsonb_typeof(within) <> 'object' then
    raise exception 'within must be a JSON object, not of type %', jsonb_typeof(within) using errcode = 'AW006';
  end if;
  for v_field in select key, value, v_types ->> key as type from jsonb_each(within) where value <> 'null' loop
    if v_field.type is null then
      raise exception 'within has no field "%"; it has metadata, language, from, to, except and except_chunks',
        left(v_field.key, 40) using errcode = 'AW006';
    elsif jsonb_typeof(v_field.value) <> v_field.type then
      raise exception 'within.% must be of type %, not %', v_field.key, v_field.type, jsonb_typeof(v_field.value)
        using errcode = 'AW006';
    elsif v_field.type = 'array' and jsonb_path_exists(v_field.value, '$[*] ? (@.type() <> "string")') then
      raise exception 'within.% must be a list of ids', v_field.key using errcode = 'AW006';
    elsif v_field.key in ('from', 'to') and v_field.value #>> '{}' !~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$' then
      raise exception 'within.% must be a time in UTC like 2024-12-31T00:00:00Z', v_field.key using errcode = 'AW006';
    end if;
  end loop;
  return within;
end $$;

-- aw_leaves_out reports whether a search leaves out a chunk that its caller has already. The body is put in place of the
-- call.
create or replace function {{ .schema }}.aw_leaves_out(chunk uuid, within jsonb) returns boolean
language sql immutable parallel safe
return within is not null and coalesce(within -> 'except_chunks' ? chunk::text, false);

-- aw_within are the chunks of a narrow search, in a set (null: all) and the documents that fit "within"; null: they are
-- more than most, or nothing narrows the search.
create or replace function {{ .schema }}.aw_within(client text, in_set text, within jsonb, most integer) returns uuid[]
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_ids uuid[];
begin
  if in_set is null and within is null then
    return null;
  end if;
  v_ids := array(
    select c.id from {{ .schema }}.documents d
    join {{ .schema }}.document_chunks c
      on c.client_id = d.client_id and c.document_id = d.id and c.version = d.active_version
    where (aw_within.client is null or d.client_id = aw_within.client)
      and (aw_within.in_set is null or d.document_set = aw_within.in_set)
      and {{ .schema }}.aw_fits(d, aw_within.within) and not {{ .schema }}.aw_leaves_out(c.id, aw_within.within)
    limit most + 1);
  return case when cardinality(v_ids) <= most then v_ids end;
end $$;
