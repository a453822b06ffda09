-- The second look at the best chunks of a search: what BM25 doesn't see, because it compares whole words and no order.

-- aw_closeness compares chunks with a question more closely, each measure from 0 to 1:
--   pieces: the part of the question's terms, weighted by their rarity in the collection, whose pieces of four
--     characters are in the chunk's terms. It finds compounds, prefixes, and forms that the stemmer keeps apart. Pairs
--     of characters count whole; those of alphabets (Thai, Lao, Burmese, Khmer) not at all: almost every chunk has them.
--   pairs: the part of its neighbouring terms, by the rarity of the more frequent one, that are neighbours in the chunk.
--     A stop word may be between them.
-- The terms are those of the chunk's language. A question of more than v_most terms is compared by the rarest ones.
create or replace function {{ .schema }}.aw_closeness(client text, words text, ids uuid[])
returns table (id uuid, pieces double precision, pairs double precision)
language plpgsql stable rows 50 set search_path = {{ .path }}
-- One plan for all questions, made when the tables may be small and kept while they grow. So it reads by keys alone:
-- neither the table nor the list of the client's chunks.
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
#variable_conflict use_column
declare
  v_most constant integer := 32;
  v_all double precision;
begin
  if ids = '{}' then
    return;
  end if;
  select sum(t.chunks) into v_all from {{ .schema }}.term_totals t where aw_closeness.client is null or t.client_id = aw_closeness.client;
  return query
  with candidates as materialized (
    select t.chunk_id, t.language, t.terms, ' ' || array_to_string(tsvector_to_array(t.terms), ' ') || ' ' as line
    from {{ .schema }}.chunk_terms t
    where t.chunk_id = any (ids) and (aw_closeness.client is null or t.client_id = aw_closeness.client)
  ), asked as materialized (
    select l.language, a.lexeme, a.positions
    from (select distinct c.language from candidates c) l,
      unnest({{ .schema }}.aw_terms_of({{ .schema }}.aw_text_config(l.language), words)) a(lexeme, positions, weights)
  ), counted as materialized (
    select a.lexeme, (
      select coalesce(sum(n.chunks), 0) from {{ .schema }}.term_counts n
      where n.term = a.lexeme and (aw_closeness.client is null or n.client_id = aw_closeness.client))::double precision as chunks
    from (select distinct a.lexeme from asked a) a
  ), terms as materialized (
    select x.* from (
      select a.language, a.lexeme, a.positions, ln(1 + (greatest(v_all - c.chunks, 0) + 0.5) / (c.chunks + 0.5)) as rarity,
             row_number() over (partition by a.language order by c.chunks, a.lexeme) as n
      from asked a join counted c on c.lexeme = a.lexeme) x
    where x.n <= v_most
  ), parts as materialized (
    select t.language, substr(' ' || t.lexeme || ' ', i, 4) as part,
           t.rarity / greatest(length(t.lexeme) - 1, 1) / sum(t.rarity / greatest(length(t.lexeme) - 1, 1)) over (partition by t.language) as weight
    from terms t, generate_series(1, greatest(length(t.lexeme) - 1, 1)) i
    where t.lexeme !~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]'
  ), neighbours as materialized (
    select x.language, tsquery_phrase({{ .schema }}.aw_word(x.before), {{ .schema }}.aw_word(x.lexeme), x.gap) as both,
           x.weight / sum(x.weight) over (partition by x.language) as weight
    from (
      select t.language, t.lexeme, p.position - lag(p.position) over w as gap, lag(t.lexeme) over w as before,
             least(t.rarity, lag(t.rarity) over w) as weight
      from terms t, unnest(t.positions) p(position)
      window w as (partition by t.language order by p.position, t.lexeme)) x
    where x.gap between 1 and 2
  )
  select c.chunk_id,
         (select coalesce(sum(p.weight), 0) from parts p where p.language = c.language and strpos(c.line, p.part) > 0),
         (select coalesce(sum(n.weight), 0) from neighbours n where n.language = c.language and c.terms @@ n.both)
  from candidates c;
end $$;
