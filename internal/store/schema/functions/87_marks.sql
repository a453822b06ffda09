-- What a reader should see marked in the hits of a search: the words that the search compared, in the forms that the texts
-- have.

-- aw_marks are, of each of some chunks of a client,
--   words: the words of its content that have a term of the question (aw_weighted_terms) in the chunk's language. They are
--     lower case, with one form of each letter. Words that are written without spaces are not among them.
--   alike: the question's words apart from stop words, or all if there are only such. They are for a text that has none of
--     "words", by equality or by a common beginning.
--   stemmed: whether the chunk's language has a stemmer. Without one, "alike" is for every text.
-- A call of the dictionary for a word takes a third of what the text parser does, and most words need none: but for those
-- of v_whole, stemmers leave a word's first letter alone if it is of ASCII. Numbers and addresses, which the parser gives to
-- no stemmer, have one form.
create or replace function {{ .schema }}.aw_marks(client text, question text, ids uuid[])
returns table (id uuid, marks jsonb)
language plpgsql stable rows 10 set search_path = {{ .path }} set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_whole constant text[] := array['dutch', 'indonesian', 'irish', 'serbian'];
  v_any tsquery;
  v_terms text[];
  v_firsts integer[];
  v_telling text[] := {{ .schema }}.aw_terms({{ .schema }}.aw_plain(question));
  -- In a database with the locale C, words begin and end with quotation marks.
  v_glued boolean := to_tsvector('pg_catalog.simple'::regconfig, U&'a\2019b') @@ U&'a\2019b'::tsquery;
begin
  -- A form is written as aw_word does.
  select string_agg(f::text, ' | ')::tsquery,
         array_agg(replace(replace(substr(f::text, 2, length(f::text) - 2), '''''', ''''), '\\', '\'))
    into v_any, v_terms
    from {{ .schema }}.aw_weighted_terms(client, question) t, unnest(t.forms) f;
  v_firsts := array(select distinct ascii(t) from unnest(v_terms || '-'::text) t);
  return query
  with hits as materialized (
    select c.id, {{ .schema }}.aw_text_config(coalesce(t.language, '')) as config,
           case when t.terms @@ v_any then tsvector_to_array(ts_filter(c.search, '{b}')) else '{}' end as words
    from {{ .schema }}.document_chunks c
    left join {{ .schema }}.chunk_terms t on t.client_id = c.client_id and t.chunk_id = c.id
    where c.client_id = aw_marks.client and c.id = any (ids)
  ), configs as materialized (
    select c.oid::regconfig as config, c.cfgname = any (v_whole) as whole, d.of_ascii, d.of_others,
           coalesce(nullif(array(
             select t from unnest(v_telling) t where to_tsvector(c.oid::regconfig, t) <> ''), '{}'), v_telling) as alike
    from pg_ts_config c,
      lateral (select max(m.mapdict::oid) filter (where m.maptokentype = 1)::regdictionary as of_ascii,
                      max(m.mapdict::oid) filter (where m.maptokentype = 2)::regdictionary as of_others -- asciiword, word
               from pg_ts_config_map m where m.mapcfg = c.oid and m.maptokentype in (1, 2)) d
    where c.oid = any (array(select h.config::oid from hits h))
  )
  select h.id, jsonb_build_object('words', array(
      select ltrim(w, '-')
      from unnest(case when v_glued then string_to_array({{ .schema }}.aw_plain(array_to_string(h.words, ' ')), ' ') else h.words end) w
      where (ascii(w) > 127 or ascii(w) = any (v_firsts) or s.whole)
        and (ltrim(w, '-') = any (v_terms)
             or ts_lexize(case when octet_length(w) = length(w) then s.of_ascii else s.of_others end, w) && v_terms)),
    'alike', s.alike, 'stemmed', h.config <> 'pg_catalog.simple'::regconfig)
  from hits h join configs s on s.config = h.config;
end $$;

-- aw_marks_own is aw_marks for the client of the session, never for another one. It runs as aw_searcher, which no policy
-- restricts, as aw_ranked_own: under a policy, plans of what both call would be made once more in every search.
create or replace function {{ .schema }}.aw_marks_own(question text, ids uuid[])
returns table (id uuid, marks jsonb)
language plpgsql stable rows 10 security definer set search_path = {{ .path }} as $$
begin
  return query
    select m.id, m.marks from {{ .schema }}.aw_marks(coalesce({{ .schema }}.aw_client(), ''), question, ids) m;
end $$;

-- aw_marked are the hits of aw_search with their aw_marks.
create or replace function {{ .schema }}.aw_marked(client text, question text, hits jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_ids uuid[] := array(select (h ->> 'chunk_id')::uuid from jsonb_array_elements(hits) h);
  v_bound boolean := {{ .schema }}.aw_client() is not null;
begin
  return coalesce((
    with marks as materialized (
      select m.* from {{ .schema }}.aw_marks_own(question, v_ids) m where v_bound
      union all
      select m.* from {{ .schema }}.aw_marks(client, question, v_ids) m where not v_bound
    )
    select jsonb_agg(h.hit || coalesce(jsonb_build_object('marks', m.marks), '{}') order by h.n)
    from jsonb_array_elements(hits) with ordinality h(hit, n)
    left join marks m on m.id = (h.hit ->> 'chunk_id')::uuid), '[]');
end $$;
