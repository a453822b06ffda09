-- How rare the words of a question are in a client's chunks, for vectors that are made of words.

-- aw_rarity_of is {all, words}: the number of chunks, and in how many of them each word of a question is, in whatever form
-- (aw_weighted_terms): 0: no chunk has it; null: it is a stop word. Words are in lower case, with one form of each letter;
-- what is written without spaces is pairs of characters. What was not counted is missing: compounds, whose parts are words,
-- too, and all but the longest 64 words.
create or replace function {{ .schema }}.aw_rarity_of(client text, question text) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_generic_plan as $$
begin
  return jsonb_build_object(
    'all', (select coalesce(sum(t.chunks), 0) from {{ .schema }}.term_totals t where t.client_id = client),
    'words', (
      with counted as materialized (
        select w.word, t.chunks from {{ .schema }}.aw_weighted_terms(client, question) t, unnest(t.named) w(word)
      )
      select coalesce(jsonb_object_agg(a.word, c.chunks), '{}')
      from (
        select t.word from unnest({{ .schema }}.aw_terms_of('pg_catalog.simple'::regconfig, question)) t(word, positions, weights)
        order by length(t.word) desc, t.word limit 64) a
      left join counted c on c.word = a.word
      where not (a.word ~ '-' and a.word ~ '^[[:alnum:]-]+$')));
end $$;

-- aw_rarity_own is aw_rarity_of for the client of the session, never for another one. It runs as aw_searcher, as
-- aw_marks_own does.
create or replace function {{ .schema }}.aw_rarity_own(question text) returns jsonb
language sql stable security definer set search_path = {{ .path }}
return {{ .schema }}.aw_rarity_of(coalesce({{ .schema }}.aw_client(), ''), question);

-- aw_rarity is aw_rarity_of for the tenant of a call and p.text, without what it excludes.
create or replace function {{ .schema }}.aw_rarity(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  if {{ .schema }}.aw_client() is not null then
    return {{ .schema }}.aw_rarity_own(p ->> 'text');
  end if;
  return {{ .schema }}.aw_rarity_of(v_client, p ->> 'text');
end $$;
