-- The syntax of questions. Any text is a question; an error is only one of more than 64 operators (aw_check_operators):
--   words       all of them, or else some, the rarer the better
--   "a phrase"  these words in this order
--   OR          in capitals, between words: what is before it or what is after it. A lower-case "or" is a word
--   -word       nothing with this word; also -"a phrase". A minus before a digit is a sign, within a word a hyphen
-- Words are compared as in the column document_chunks.search: lower case, no stemming, one form of each letter (aw_letters).
-- What is written without spaces (aw_pairs) is compared by its pairs of characters, which are in chunk_terms.terms: a run
-- of them is wherever its characters follow each other, also within a longer run. A single character excludes any pair
-- that has it, and finds the pairs that begin with it: the index has no others.
-- Parts of a token in scripts with and without spaces must both be there, in whatever order.
-- Functions that the planner can't put in place of their calls are in PL/pgSQL, also those of one expression: it plans them
-- once a session, and functions in SQL in every statement (TestInlined).

-- aw_terms are the significant words of a question: without the stop words of any of the languages, unless nothing
-- would be left.
create or replace function {{ .schema }}.aw_terms(words text) returns text[]
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_all text[] := tsvector_to_array(to_tsvector('simple', coalesce(words, '')));
  v_telling text[];
begin
  select array_agg(t) into v_telling from unnest(v_all) t
  where not exists (
    select
    from unnest(array['english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch']::regconfig[]) c
    where to_tsvector(c, t) = '');
  return coalesce(v_telling, v_all);
end $$;

-- aw_tokens are the parts of a question, separated by spaces or quotation marks. excluded: a minus precedes the part.
-- Of a word longer than Postgres allows, 2 KB, the beginning counts.
create or replace function {{ .schema }}.aw_tokens(words text) returns table (n bigint, token text, excluded boolean)
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return query
    select x.n, case when x.m[1] is not null and x.m[2] ~ '^(-|[.,$€£¥]*[0-9])' then '-' || x.m[2] else x.m[2] end,
           x.m[1] is not null and x.m[2] !~ '^(-|[.,$€£¥]*[0-9])'
    from regexp_matches((select string_agg(left(s.word, 500), ' ' order by s.n)
                         from regexp_split_to_table(left(translate(words, '“”„＂－　', '""""- '), 8000), '\s+')
                              with ordinality s(word, n)),
                        '((?<!\S)-)?("[^"]*"|"?[^\s"]+)', 'g') with ordinality x(m, n)
    -- Not symbols.
    where x.m[2] ~ '[[:alnum:]]|[^\x01-\xbf\u2000-\u2bff\u3000-\u303f\ufe00-\ufe0f\U0001f000-\U0001faff]';
end $$;

-- aw_word is one word, as it is in a text, as a query.
create or replace function {{ .schema }}.aw_word(word text) returns tsquery
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery;
end $$;

-- aw_run_of_pairs is a run of characters without spaces as a query: its pairs, in order; of a single character the pairs
-- that begin with it.
create or replace function {{ .schema }}.aw_run_of_pairs(run text) returns tsquery
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return (
    select (string_agg({{ .schema }}.aw_word(substr(run, i, 2))::text, ' <-> ' order by i) || case length(run) when 1 then ':*' else '' end)::tsquery
    from generate_series(1, greatest(length(run) - 1, 1)) i);
end $$;

-- aw_dotless are the forms that lower case may give a Turkish word in a text: Postgres takes I for the capital of i. They are
-- the word itself, and what becomes of it with a capital first letter, and in capitals.
create or replace function {{ .schema }}.aw_dotless(word text) returns text[]
language plpgsql immutable parallel safe set search_path = {{ .path }} as $$
begin
  return (
    select array(select distinct f from unnest(array[w,
        regexp_replace(regexp_replace(w, '\mi', lower('İ'), 'g'), '\mı', 'i', 'g'), replace(replace(w, 'i', lower('İ')), 'ı', 'i')]) f)
    from (select lower(translate(word, 'Iİ', 'ıi')) as w) x);
end $$;

-- aw_phrase is a token as a query, empty or null if it has no word. A signed number is also found without its sign: the text
-- parser doesn't take dashes and the typographic minus for one. Letters are looked for as they are, too: texts that were
-- indexed before aw_letters have theirs. An Arabic word, unless it is in quotation marks, is also looked for with its article,
-- or without. A word with an I may be a Turkish one.
create or replace function {{ .schema }}.aw_phrase(token text) returns tsquery
language plpgsql immutable set search_path = {{ .path }} as $$
declare
  v_letters text := {{ .schema }}.aw_letters(token);
  v_words tsquery;
  v_runs text; -- queries as texts: that of each longer one would be copied. These runs follow each other
  v_last integer; -- the length of the last of them
  v_all text;
  r record;
begin
  if v_letters !~ '[{{ .unspaced }}]' then
    if token ~ '^[-−–][.,$€£¥]*[0-9]' then
      return phraseto_tsquery('simple', '-' || ltrim(v_letters, '-−–')) || phraseto_tsquery('simple', ltrim(v_letters, '-−–'));
    end if;
    v_words := phraseto_tsquery('simple', token);
    if v_letters <> token then
      v_words := v_words || phraseto_tsquery('simple', v_letters);
    end if;
    if v_letters ~ '^[\u0621-\u064a]{3,}$' then
      v_words := v_words || phraseto_tsquery('simple', case when v_letters ~ '^ال...' then substr(v_letters, 3) else 'ال' || v_letters end);
    elsif v_letters ~ '[Iİı]' then
      v_words := coalesce(v_words || (
        select string_agg('(' || p.q || ')', ' | ')::tsquery
        from (select phraseto_tsquery('simple', f)::text as q from unnest({{ .schema }}.aw_dotless(v_letters)) f) p
        where p.q <> ''), v_words); -- null: of a tag
    end if;
    return v_words;
  end if;
  for r in select m[1] as run, m[2] as words
           from regexp_matches({{ .schema }}.aw_plain(token), '([{{ .unspaced }}]+)|([^{{ .unspaced }}]+)', 'g') m loop
    if r.run is null then
      continue when r.words !~ '[[:alnum:]]|[^\x01-\x7f]';
      v_words := phraseto_tsquery('simple', r.words);
      if numnode(v_words) > 0 then
        v_all := concat_ws(' & ', v_all, v_runs, '(' || v_words::text || ')');
        v_runs := null;
      end if;
      continue;
    end if;
    -- As aw_pairs counts positions.
    v_runs := concat(v_runs || format(' <%s> ', least(v_last, 2)), {{ .schema }}.aw_run_of_pairs(r.run)::text);
    v_last := length(r.run);
  end loop;
  return nullif(concat_ws(' & ', v_all, v_runs), '')::tsquery;
end $$;

-- aw_beside reports whether a text or a query has words that are looked for in chunk_terms, too: of scripts without
-- spaces, and Arabic and Persian ones, of which texts that were indexed before aw_letters have other forms.
create or replace function {{ .schema }}.aw_beside(words text) returns boolean
language sql immutable parallel safe
return coalesce(words ~ '[\u0600-\u06ff{{ .unspaced }}]', false);

-- aw_labelled restricts words of a query to document_chunks.search, by its weights: chunk_terms has none, and has stems. In
-- a question with words that are looked for in both, those of an alternative without such words have one weight more,
-- which tells them apart for aw_in_terms and changes nothing.
create or replace function {{ .schema }}.aw_labelled(q tsquery, weights text) returns tsquery
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return regexp_replace(q::text, '(''([^'']|'''')*'')', '\1:' || weights, 'g')::tsquery;
end $$;

-- aw_in_terms is what a question asks for (aw_question.everything) of chunk_terms.terms alone.
create or replace function {{ .schema }}.aw_in_terms(q tsquery) returns tsquery
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return regexp_replace(q::text, '''([^'']|'''')*'':AB(?!C)', '!''no term''', 'g')::tsquery;
end $$;

-- aw_singles are the single characters of a query, of scripts without spaces, which any pair may have; null: it has none.
create or replace function {{ .schema }}.aw_singles(q tsquery) returns text
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return (
    select string_agg(distinct m[1], '')
    from regexp_matches(q::text, '''([{{ .unspaced }}])''', 'g') m);
end $$;

-- aw_any_of is what a text or its terms must have to match a query, beside its single characters (aw_singles): one word of
-- each of its parts, of a phrase the first one.
create or replace function {{ .schema }}.aw_any_of(q tsquery) returns tsquery
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return replace(regexp_replace(q::text, ' <(-|[0-9]+)> ''([^'']|'''')*''(:[*A-D]+)?', '', 'g'), ' & ', ' | ')::tsquery;
end $$;

-- aw_shows reports whether a chunk matches a query of aw_question, which may have words that are looked for in its terms,
-- too. "search" is the chunk's, "any_of" is aw_any_of, and "singles" aw_singles of the query: to find them takes longer than
-- to look at a chunk. Most chunks have none of the words, and end there. A context that a model wrote doesn't count, nor
-- does a stem: the terms, which have both, only tell what need not be looked at, so the query must not have what is excluded.
drop function if exists {{ .schema }}.aw_shows(text, uuid, tsvector, tsquery); -- without "singles"
drop function if exists {{ .schema }}.aw_shows(text, uuid, tsvector, tsquery, text); -- without "any_of"
create or replace function {{ .schema }}.aw_shows(
  client text, chunk uuid, search tsvector, q tsquery, any_of tsquery, singles text) returns boolean
language plpgsql stable cost 1000 set search_path = {{ .path }} as $$
declare
  v_terms tsvector;
  v_language text;
  v_sure boolean; -- v_terms are the words of the text
begin
  select t.terms, t.language into v_terms, v_language
    from {{ .schema }}.chunk_terms t where t.client_id = client and t.chunk_id = chunk;
  if v_terms is not null and not (search @@ any_of or v_terms @@ any_of
      or singles is not null and array_to_string(tsvector_to_array(v_terms), ' ') ~ ('[' || singles || ']')) then
    return false;
  end if;
  loop
    if v_terms is null then
      v_terms := coalesce((
        select {{ .schema }}.aw_terms_of('pg_catalog.simple'::regconfig, array_to_string(c.heading_path, ' ') || E'\n' || c.content)
        from {{ .schema }}.document_chunks c where c.client_id = client and c.id = chunk), '');
      v_sure := true;
    end if;
    if not (case when singles is null then (search || v_terms) @@ q
      else (search || v_terms || array_to_tsvector(array(
        select distinct x.one from unnest(string_to_array(
          regexp_replace(v_terms::text, '[^' || singles || ']+', '', 'g'), null)) x(one)))) @@ q end) then
      return false;
    end if;
    exit when v_sure or {{ .schema }}.aw_text_config(v_language) = 'pg_catalog.simple'::regconfig and exists (
      select from {{ .schema }}.document_chunks c where c.client_id = client and c.id = chunk and c.context is null);
    v_terms := null;
  end loop;
  return true;
end $$;

-- aw_check_operators refuses a question of more than 64 exclusions, phrases and alternatives that differ. Each is looked
-- for in every chunk that might be found: a question of 1,000 would hold the server for seconds. To leave out some of them,
-- or to take all for words, would find what was to be left out.
create or replace function {{ .schema }}.aw_check_operators(words text) returns void
language plpgsql immutable set search_path = {{ .path }} as $$
declare
  v_most constant integer := 64;
  v_count integer;
begin
  with tokens as (
    select t.*, count(*) filter (where t.token = 'OR' and not t.excluded) over (order by t.n) as part
    from {{ .schema }}.aw_tokens(words) t
  ), parts as (
    select string_agg(t.token, ' ' order by t.n) as text from tokens t where not t.excluded and t.token <> 'OR' group by t.part
  )
  select (select count(distinct t.token) from tokens t where t.excluded)
       + (select count(distinct t.token) from tokens t where not t.excluded and t.token ~ '"')
       + (select greatest(count(distinct p.text) - 1, 0) from parts p) into v_count;
  if v_count > v_most then
    raise exception 'the question has % exclusions, phrases and ORs; at most % are read', v_count, v_most using errcode = 'AW031';
  end if;
end $$;

-- aw_question parses a question.
--   asks: the text is not blank, but it may have no word.
--   terms: its significant words, each as a query; empty if it has none.
--   everything: the whole question, without "but". akin: the beginnings of terms. but: what must not be found, or null.
--   positive: its text without what is excluded. structured: it has a phrase or OR.
do $$
begin
  if exists (select from pg_proc where pronamespace = '{{ .schema }}'::regnamespace and proname = 'aw_question'
             and not proargnames @> array['structured']) then
    drop function {{ .schema }}.aw_question(text);
  end if;
end $$;
create or replace function {{ .schema }}.aw_question(
  words text, out asks boolean, out everything tsquery, out terms tsquery[], out akin tsquery, out but tsquery,
  out positive text, out structured boolean
) language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_generic_plan as $$
declare
  v_beside boolean := {{ .schema }}.aw_beside({{ .schema }}.aw_letters(words));
  v_text text;
  v_terms text[];
begin
  if words ~ '["“”„＂]|\mOR\M|(^|[\s　])[-－]' then
    perform {{ .schema }}.aw_check_operators(words);
  end if;
  asks := coalesce(words, '') ~ '\S';
  with included as (
    select t.n, t.token, t.token = 'OR' and t.n > min(t.n) over () and t.n < max(t.n) over () as either
    from {{ .schema }}.aw_tokens(words) t where not t.excluded
  ), sorted as (
    select a.*, count(*) filter (where a.either) over (order by a.n) as part from included a
  ), parts as (
    select string_agg(s.token, ' ' order by s.n) as text,
           string_agg('(' || s.query || ')', ' & ' order by s.n) filter (where s.query <> '') as query
    from (
      select s.*, (case when v_beside and not s.beside
                        then {{ .schema }}.aw_labelled(s.phrase, case when bool_or(s.beside) over (partition by s.part) then 'AB' else 'ABC' end)
                        else s.phrase end)::text as query
      from (select s.*, {{ .schema }}.aw_phrase(s.token) as phrase,
                   {{ .schema }}.aw_beside({{ .schema }}.aw_letters(s.token)) as beside
            from sorted s where not s.either) s) s
    group by s.part
  )
  select string_agg(p.text, ' '), string_agg(distinct '(' || p.query || ')', ' | ')::tsquery, count(*) > 1
    into v_text, everything, structured
  from parts p;
  positive := v_text;
  structured := structured or v_text ~ '"';

  v_terms := array(select t from unnest({{ .schema }}.aw_terms(case
    when {{ .schema }}.aw_letters(v_text) = v_text then v_text else v_text || ' ' || {{ .schema }}.aw_letters(v_text) end)) t
    order by length(t) desc, t limit 32);
  terms := array(select case when t ~ '^-[.0-9]' then {{ .schema }}.aw_word(t) || {{ .schema }}.aw_word(substr(t, 2))
                             when {{ .schema }}.aw_beside(t) then {{ .schema }}.aw_phrase(t)
                             when v_beside then {{ .schema }}.aw_labelled({{ .schema }}.aw_word(t), 'ABC')
                             else {{ .schema }}.aw_word(t) end from unnest(v_terms) t);
  akin := (select string_agg({{ .schema }}.aw_word(
             case when t ~ '[0-9]' then t else left(t, greatest(length(t) - 2, 4)) end)::text || ':*', ' | ')::tsquery
           from unnest(v_terms) t);
  but := (select string_agg(distinct '(' || x.query || ')', ' | ')::tsquery
          from (select (case when v_beside and not {{ .schema }}.aw_beside({{ .schema }}.aw_letters(t.token))
                             then {{ .schema }}.aw_labelled({{ .schema }}.aw_phrase(t.token), 'AB')
                             else {{ .schema }}.aw_phrase(t.token) end)::text as query
                from {{ .schema }}.aw_tokens(words) t where t.excluded) x
          where x.query <> '');
end $$;
