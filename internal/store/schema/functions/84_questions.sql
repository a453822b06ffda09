-- The syntax of questions. Any text is a question; none is an error:
--   words       all of them, or else some, the rarer the better
--   "a phrase"  these words in this order
--   OR          in capitals, between words: what is before it or what is after it. A lower-case "or" is a word
--   -word       nothing with this word; also -"a phrase". A minus before a digit is a sign, within a word a hyphen
-- Words are compared as in the column document_chunks.search: lower case, no stemming.

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
language sql immutable set search_path = {{ .path }} as $$
  select x.n, case when x.m[1] is not null and x.m[2] ~ '^(-|[.,$€£¥]*[0-9])' then '-' || x.m[2] else x.m[2] end,
         x.m[1] is not null and x.m[2] !~ '^(-|[.,$€£¥]*[0-9])'
  from regexp_matches((select string_agg(left(s.word, 500), ' ' order by s.n)
                       from regexp_split_to_table(left(translate(words, '“”„', '"""'), 8000), '\s+')
                            with ordinality s(word, n)),
                      '((?<!\S)-)?("[^"]*"|"?[^\s"]+)', 'g') with ordinality x(m, n)
  where x.m[2] ~ '[[:alnum:]]|[^\x01-\xbf\u2000-\u2bff\u3000-\u303f\ufe00-\ufe0f\U0001f000-\U0001faff]' -- not symbols
$$;

-- aw_phrase is a token as a query, empty if it has no word. A signed number is also found without its sign: the text
-- parser doesn't take dashes and the typographic minus for one.
create or replace function {{ .schema }}.aw_phrase(token text) returns tsquery
language sql immutable set search_path = {{ .path }} as $$
  select case when token ~ '^[-−–][.,$€£¥]*[0-9]'
    then phraseto_tsquery('simple', '-' || ltrim(token, '-−–')) || phraseto_tsquery('simple', ltrim(token, '-−–'))
    else phraseto_tsquery('simple', token) end
$$;

-- aw_question parses a question.
--   asks: the text is not blank, but it may have no word.
--   terms: its significant words, each as a query; empty if it has none.
--   everything: the whole question. akin: the beginnings of terms. but: what must not be found, or null.
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
) language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_text text;
  v_terms text[];
begin
  asks := coalesce(words, '') ~ '\S';
  with included as (
    select t.n, t.token, t.token = 'OR' and t.n > min(t.n) over () and t.n < max(t.n) over () as either
    from {{ .schema }}.aw_tokens(words) t where not t.excluded
  ), sorted as (
    select a.*, count(*) filter (where a.either) over (order by a.n) as part from included a
  ), parts as (
    select string_agg(s.token, ' ' order by s.n) as text,
           string_agg('(' || s.query || ')', ' & ' order by s.n) filter (where s.query <> '') as query
    from (select s.*, {{ .schema }}.aw_phrase(s.token)::text as query from sorted s where not s.either) s
    group by s.part
  )
  select string_agg(p.text, ' '), string_agg('(' || p.query || ')', ' | ')::tsquery, count(*) > 1
    into v_text, everything, structured
  from parts p;
  positive := v_text;
  structured := structured or v_text ~ '"';

  v_terms := array(select t from unnest({{ .schema }}.aw_terms(v_text)) t order by length(t) desc, t limit 32);
  terms := array(select case when t ~ '^-[.0-9]' then {{ .schema }}.aw_word(t) || {{ .schema }}.aw_word(substr(t, 2))
                             else {{ .schema }}.aw_word(t) end from unnest(v_terms) t);
  akin := (select string_agg({{ .schema }}.aw_word(
             case when t ~ '[0-9]' then t else left(t, greatest(length(t) - 2, 4)) end)::text || ':*', ' | ')::tsquery
           from unnest(v_terms) t);
  but := (select string_agg('(' || x.query || ')', ' | ')::tsquery
          from (select {{ .schema }}.aw_phrase(t.token)::text as query
                from {{ .schema }}.aw_tokens(words) t where t.excluded) x
          where x.query <> '');
  everything := case when but is null then everything else everything && !!but end;
end $$;

-- aw_word is one word, as it is in a text, as a query.
create or replace function {{ .schema }}.aw_word(word text) returns tsquery
language sql immutable set search_path = {{ .path }} as $$
  select ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery
$$;
