-- The search for words: BM25 over the terms of 61_terms.sql. Source: Robertson, Zaragoza, "The Probabilistic Relevance
-- Framework: BM25 and Beyond", 2009, with k1 = 1.2, b = 0.75, and k3 = 8 for the words of a question (Robertson, Walker,
-- "Okapi/Keenbow at TREC-8", 1999). The counts are those of the client's whole collection.

-- aw_indexed reports whether all chunks that a search may find have terms. client null: those of all clients.
create or replace function {{ .schema }}.aw_indexed(client text) returns boolean
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan
-- The planner takes it that nearly all documents lack terms, and would read the table to the first of them.
set enable_seqscan = off as $$
begin
  return not exists (
    select from {{ .schema }}.documents d
    where (aw_indexed.client is null or d.client_id = aw_indexed.client)
      and d.active_version is not null and d.terms_version is distinct from d.active_version);
end $$;

-- aw_frequency is how often a term is in a chunk that has it. ts_rank sums 1/i² over a term's n occurrences, and
-- divides by π²/6; n follows from what is missing to the limit of the sum, about 1/(n + 1/2).
create or replace function {{ .schema }}.aw_frequency(terms tsvector, term tsquery) returns double precision
language sql immutable parallel safe
return round(1 / (1.6449340668 * (1 - ts_rank('{1,1,1,1}'::real[], terms, term)::double precision)) - 0.5);

-- aw_weighted_terms are the words of a question, the rarest first: each as a query for the terms that it has in the
-- languages of a collection, those terms ("forms"), in how many chunks one of them is, its weight, and how the question
-- writes it ("named", in lower case). Words with a term in
-- common are one. A word that the question repeats weighs more, up to 9 times, so that a long question is about what it
-- keeps naming. A word that no chunk has comes last, without a query.
--
-- In a collection with Turkish, a word with an I has the terms of each form that a text may have of it (aw_dotless).
--
-- A word that is a stop word of a language has no term in it, and none in a language that fits the question less: the
-- German article "die" is no English verb where the question's other words are German. A language fits as far as words
-- are its stop words, or have a term in it that chunks have. What fits equally has its terms, which weigh v_doubt of what
-- others do. In chunks of an undetermined language the stop words of any of several have none. A question of such words
-- alone has them all.
do $$
begin
  if exists (select from pg_proc where pronamespace = '{{ .schema }}'::regnamespace and proname = 'aw_weighted_terms'
             and not proargnames @> array['named']) then
    drop function {{ .schema }}.aw_weighted_terms(text, text);
  end if;
end $$;
create or replace function {{ .schema }}.aw_weighted_terms(client text, words text)
returns table (query tsquery, forms tsquery[], chunks double precision, weight double precision, named text[])
language plpgsql stable set search_path = {{ .path }}
-- One plan for all questions: to make it takes several times as long as to run it. It reads by keys alone.
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_telling text[] := {{ .schema }}.aw_terms({{ .schema }}.aw_plain(words));
  v_doubt constant double precision := 0.25;
  v_all double precision;
  v_languages text[];
  v_turkish text; -- the question, in a collection with Turkish or Azerbaijani
begin
  select sum(t.chunks), array_agg(t.language)
    into v_all, v_languages
  from (select t.language, sum(t.chunks) as chunks from {{ .schema }}.term_totals t
        where aw_weighted_terms.client is null or t.client_id = aw_weighted_terms.client
        group by t.language having sum(t.chunks) > 0) t;
  v_turkish := case when v_languages && '{tr,az}' then words end;
  return query
  with spoken as materialized (
    select {{ .schema }}.aw_text_config(l.language) as config, bool_or(l.language <> '') as determined
    from unnest(v_languages) l(language) group by 1
  ), asked as materialized (
    select w.word, w.n, w.times,
           w.word ~ '[{{ .unspaced }}]' as pair
    from (
      select a.word, cardinality(a.positions) as times, row_number() over (order by length(a.word) desc, a.word) as n
      from unnest({{ .schema }}.aw_terms_of('pg_catalog.simple'::regconfig, words)) a(word, positions, weights)) w
    where w.n <= 64
      and not (w.word ~ '-' and w.word ~ '^[[:alnum:]-]+$') -- its parts are words, too
  ), dotless as materialized (
    select w.word, string_agg(array_to_string({{ .schema }}.aw_dotless(m[1]), ' '), ' ') as forms
    from regexp_matches(v_turkish, '([[:alnum:]]*[Iİıi][[:alnum:]]*)', 'g') m,
      unnest(tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, m[1]))) w(word)
    group by w.word
  ), stemmed as materialized ( -- no term: a stop word
    select a.n, s.config, s.determined or a.word = any (v_telling) as telling,
           case when d.forms is null or t.terms = '{}' then t.terms
                else tsvector_to_array(to_tsvector(s.config, a.word || ' ' || d.forms)) end as terms
    from asked a cross join spoken s
    left join dotless d on d.word = a.word and s.config in ('pg_catalog.turkish'::regconfig, 'pg_catalog.simple'::regconfig),
    lateral (select tsvector_to_array(to_tsvector(s.config, a.word)) as terms offset 0) t
    where not a.pair
    union all
    select a.n, null, true, array[a.word] from asked a where a.pair
  ), counted as materialized (
    select f.term, coalesce(case
        when client is null then (select sum(c.chunks) from {{ .schema }}.term_counts c where c.term = f.term)
        else (select sum(c.chunks) from {{ .schema }}.term_counts c where c.term = f.term and c.client_id = client) end,
      0)::double precision as chunks
    from (select distinct unnest(s.terms) as term from stemmed s) f
  ), formed as materialized (
    select s.n, s.config, s.telling, t.term, c.chunks
    from stemmed s, unnest(s.terms) t(term) join counted c on c.term = t.term
  ), fitting as materialized (
    select s.config, count(*) filter (where s.terms = '{}' or exists (
             select from formed f where f.n = s.n and f.config = s.config and f.chunks > 0)) as words
    from stemmed s where s.config is not null group by s.config
  ), stops as materialized ( -- how well the best of its languages fits
    select s.n, max(g.words) as words from stemmed s join fitting g on g.config = s.config where s.terms = '{}' group by s.n
  ), chosen as materialized (
    select f.n, f.term, f.chunks, coalesce(o.words >= g.words, false) as either,
           coalesce(o.words > g.words, false) as foreign_stop, bool_and(coalesce(o.words > g.words, false)) over () as no_other
    from formed f left join fitting g on g.config = f.config left join stops o on o.n = f.n
    where f.telling
  ), kept as materialized (
    select c.n, c.term, c.chunks, c.either, min(c.n) over (partition by c.term) as first
    from chosen c where c.no_other or not c.foreign_stop
  ), grouped as materialized (
    select k.n, min(k.first) as word from kept k group by k.n
  ), distinguished as (
    select g.word, k.term, min(k.chunks) as chunks, bool_and(k.either) as either
    from kept k join grouped g on g.n = k.n group by g.word, k.term
  ), found as (
    select d.word, array_agg({{ .schema }}.aw_word(d.term) order by d.term) filter (where d.chunks > 0) as forms,
           least(sum(d.chunks), v_all) as chunks, case when bool_and(d.either) then v_doubt else 1 end as sure
    from distinguished d group by d.word
  ), repeated as (
    select g.word, sum(a.times) as times, bool_or(o.n is not null) as stops, array_agg(a.word) as named
    from grouped g join asked a on a.n = g.n left join stops o on o.n = g.n group by g.word
  )
  select (select string_agg(q::text, ' | ')::tsquery from unnest(f.forms) q), f.forms, f.chunks,
         f.sure * 9.0 * r.times / (8 + r.times) * ln(1 + (v_all - f.chunks + 0.5) / (f.chunks + 0.5)), r.named
  from found f join repeated r on r.word = f.word
  where f.chunks > 0 or not r.stops -- a stop word of one language says nothing in another one
  order by f.chunks = 0, f.chunks, f.forms::text limit 64;
end $$;

-- aw_ranked are the chunks that match a question best by words, without those that match "but" (null: none is left
-- out), of a set (null: all) and of documents that fit "within" (aw_fits). score is BM25 as a part of what a chunk of
-- average length with all words, each once, has: it means the same from question to question, and may be above 1.
--
-- Scores are exact. Which chunks are scored is so, too, if no more than v_most have one of the words, or no more than
-- v_narrow are searched at all. Else these are, in rounds, the chunks with one of the v_sure rarest words, which v_rare
-- chunks have, and those that have enough of the weight of the v_heavy words that follow (85_candidates.sql), one of them
-- among the rarest that v_visited chunks have, or the rarest: about v_few, if the words are independent. The index reads
-- the lists of all these words. So the last ones are left out, down to v_least, as far as more than v_read chunks have
-- them and the rarer ones. With fewer, much of the best would be missed for eight frequent words that are seldom together.
-- If they go together, and more than v_most have enough, those that have more of it are scored as well. If all these are
-- not the n that are wanted, it is more of them, whatever words they have. What was scored with more of the weight stays:
-- more than v_most may have less of it, and which of them are scored is by chance, as it is for a frequent word alone.
drop function if exists {{ .schema }}.aw_ranked_own(text, tsquery, integer, text); -- without "within"
drop function if exists {{ .schema }}.aw_ranked(text, text, tsquery, integer, text);
do $$
begin
  if exists (select from pg_proc where pronamespace = '{{ .schema }}'::regnamespace and proname = 'aw_ranked'
             and not proargnames @> array['known']) then
    drop function if exists {{ .schema }}.aw_ranked_own(text, tsquery, integer, text, jsonb);
    drop function {{ .schema }}.aw_ranked(text, text, tsquery, integer, text, jsonb);
  end if;
end $$;
create or replace function {{ .schema }}.aw_ranked(
  client text, words text, but tsquery, n integer, in_set text, within jsonb)
returns table (id uuid, score double precision, known double precision)
language plpgsql stable rows 50 set search_path = {{ .path }} set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  v_most constant double precision := 2000;
  v_narrow constant double precision := 6000;
  v_rare constant double precision := 1000;
  v_sure integer;
  v_few double precision := 600;
  v_heavy constant integer := 6;
  v_least constant integer := 5;
  v_read constant double precision := 600000;
  v_until integer; -- the last one of the heavy words
  v_visited constant double precision := 30000;
  v_last integer;
  v_average double precision;
  v_all double precision;
  v_most_of_all boolean; -- nearly all chunks of the table are the client's
  v_within uuid[] := {{ .schema }}.aw_within(client, in_set, within, v_narrow::integer);
  v_left uuid[] := array(
    select d.id from {{ .schema }}.documents d
    where d.chunks_left and (aw_ranked.client is null or d.client_id = aw_ranked.client));
  v_terms tsquery[];
  v_chunks double precision[];
  v_weights double precision[];
  v_known double precision;
  v_need double precision;
  v_before double precision;
  v_any tsquery;
  v_every boolean := false; -- a chunk with any word is good enough
  v_closer boolean := false; -- the round before had more than are scored
  v_met bigint;
  v_sum text;
  v_ids uuid[];
  v_scores double precision[];
  v_new_ids uuid[];
  v_new_scores double precision[];
begin
  select sum(x.words) / nullif(sum(x.chunks), 0), sum(x.chunks) into v_average, v_all
  from {{ .schema }}.term_totals x where aw_ranked.client is null or x.client_id = aw_ranked.client;
  -- To read the client's list takes the index longer than the terms of a question. "is true" keeps it from that. Others'
  -- chunks are looked at instead, each for as long as 80 of the list: all of theirs may have a word that is rare here.
  v_most_of_all := v_all > 0.98 * (
    select c.reltuples from pg_class c where c.oid = '{{ .schema }}.chunk_terms'::regclass and c.reltuples > 0);
  -- A term that is missing has the frequency 0, and adds 0.
  select array_agg(t.query) filter (where t.chunks > 0), array_agg(t.chunks) filter (where t.chunks > 0),
         array_agg(t.weight) filter (where t.chunks > 0), sum(t.weight) filter (where t.chunks > 0) / sum(t.weight),
         string_agg(format('%s * (1 - r.norm / (greatest(%s) + r.norm))', 2.2 * t.weight, (
           select string_agg(format('{{ .schema }}.aw_frequency(r.terms, %L::tsquery)', f), ', ') from unnest(t.forms) f)),
           ' + ') filter (where t.chunks > 0)
    into v_terms, v_chunks, v_weights, v_known, v_sum
  from {{ .schema }}.aw_weighted_terms(client, words) t;
  if v_terms is null then
    return;
  end if;
  v_sure := {{ .schema }}.aw_first(v_chunks, v_rare);
  v_until := v_sure + greatest(v_least, {{ .schema }}.aw_first(v_chunks[v_sure + 1:v_sure + v_heavy], v_read));
  v_last := greatest({{ .schema }}.aw_first(v_chunks[v_sure + 1:v_sure + v_heavy], v_visited), 1);
  loop
    if v_every or v_all <= v_most or v_within is not null or (select sum(c) from unnest(v_chunks) c) <= v_most then
      v_need := 0;
      v_any := (select string_agg(q::text, ' | ')::tsquery from unnest(v_terms) q);
    elsif v_sure > 0 and v_ids is null then -- together with the next ones they could be too many
      v_need := null;
      v_any := (select string_agg(q::text, ' | ')::tsquery from unnest(v_terms[:v_sure]) q);
    else
      v_need := coalesce({{ .schema }}.aw_need(
        v_chunks[v_sure + 1:v_until], v_weights[v_sure + 1:v_until], v_all, v_few, v_last), 0);
      if v_need = v_before then -- even the rarest of what has less are more
        exit when v_closer;
        v_every := v_few > v_all;
        v_few := 20 * v_few;
        continue;
      end if;
      v_any := {{ .schema }}.aw_enough(
        v_terms[v_sure + 1:v_until], v_weights[v_sure + 1:v_until], v_need, 1, v_last);
    end if;
    execute format($query$
      select array_agg(s.chunk_id), array_agg(s.score), max(s.met) from (
        select v.chunk_id, v.score, count(*) over () as met
        from (select r.chunk_id, (%s) / $1 as score from (
          select t.chunk_id, t.terms, 0.3 + t.words * (0.9 / $2) as norm
          from {{ .schema }}.chunk_terms t
          where t.terms @@ $3 and ($4 is null or %s)
            and ($8 is null or t.chunk_id = any ($8))
            and (case when t.version is not null then exists ( -- else it is staged, or left
                select from {{ .schema }}.documents d
                where d.client_id = t.client_id and d.id = t.document_id and d.active_version = t.version)
              else t.document_id <> all ($10) or exists (
                select from {{ .schema }}.document_chunks c
                join {{ .schema }}.documents d
                  on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
                where c.client_id = t.client_id and c.id = t.chunk_id) end)
            and not {{ .schema }}.aw_leaves_out(t.chunk_id, $9)
            and ($8 is not null or $5 is null and $9 is null or exists (
              select from {{ .schema }}.documents d
              where d.client_id = t.client_id and d.id = t.document_id
                and ($5 is null or d.document_set = $5) and {{ .schema }}.aw_fits(d, $9)))
            and ($6 is null or $11 or not exists (
              select from {{ .schema }}.document_chunks c
              where c.client_id = t.client_id and c.id = t.chunk_id and c.search @@ $6))
            and (not $11 or not exists ( -- the offset: else the planner would ask for each chunk of the table
              select from {{ .schema }}.document_chunks c
              where c.client_id = t.client_id and c.id = t.chunk_id
                and {{ .schema }}.aw_shows(c.client_id, c.id, c.search, $6, $13, $12) offset 0))
          limit %s) r offset 0) v
        order by v.score desc, v.chunk_id limit $7) s $query$, v_sum,
        case when v_most_of_all then '(t.client_id = $4) is true' else 't.client_id = $4' end,
        case when v_within is null then v_most else v_narrow end::bigint)
      into v_new_ids, v_new_scores, v_met
      using (select sum(w) from unnest(v_weights) w), v_average, v_any, client, in_set, but, n,
        v_within, within, v_left, but is not null and {{ .schema }}.aw_beside(but::text), {{ .schema }}.aw_singles(but), {{ .schema }}.aw_any_of(but);
    select array_agg(s.id), array_agg(s.score) into v_ids, v_scores from (
      select distinct u.id, u.score from unnest(v_ids || v_new_ids, v_scores || v_new_scores) u(id, score)
      order by u.score desc, u.id limit n) s;
    v_ids := coalesce(v_ids, '{}');
    continue when v_need is null;
    exit when v_need = 0 or v_closer;
    v_closer := v_met >= v_most and v_before is null;
    exit when not v_closer and cardinality(v_ids) >= n;
    v_before := v_need;
    if v_closer then
      v_few := v_few / 20;
    else -- the words are seldom together, or the set has few of these chunks
      v_last := null;
      v_every := v_few > v_all;
      v_few := case when v_few < 0.95 * v_most then 0.95 * v_most else 20 * v_few end;
    end if;
  end loop;
  return query select u.id, u.score, v_known from unnest(v_ids, v_scores) u(id, score);
end $$;

-- aw_ranked_own is aw_ranked for the client of the session, never for another one. It runs as aw_searcher, which no
-- policy restricts: see migrations/012_search.sql. A session without a client finds nothing.
create or replace function {{ .schema }}.aw_ranked_own(words text, but tsquery, n integer, in_set text, within jsonb)
returns table (id uuid, score double precision, known double precision)
language plpgsql stable rows 50 security definer set search_path = {{ .path }} as $$
begin
  return query
    select m.id, m.score, m.known
    from {{ .schema }}.aw_ranked(coalesce({{ .schema }}.aw_client(), ''), words, but, n, in_set, within) m;
end $$;
