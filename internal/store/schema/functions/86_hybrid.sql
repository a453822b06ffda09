-- Hybrid search: words and vectors, each with its own limit. A score is from 0 to 1, and means the same from question to
-- question.
--
-- Vectors of the offline provider are words, too: there the sum of the two scores orders, and the best v_closely are
-- compared with the question once more (aw_closeness).
--
-- With a model's vectors neither leg is always the better one. A hit gets from each by how much it is better than the
-- v_base-th of the leg: of BM25 as it is, which is a part of all words; of the cosine as a part of what is missing to
-- 1, because each model has a range of its own. So a leg that has a clear answer decides, and one whose hits are all
-- alike hardly matters. The best v_closely by words also get half of the part of the question's neighbouring terms that
-- are neighbours in them: models know forms of words well, and their order less. What words give is less by the part of
-- the question that no chunk has: in a question of another language than the documents, words that match are names. The
-- score is the best that a hit or one behind it is worth (aw_worth). Source of combining scores in place of ranks: Bruch,
-- Gai, Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 42(1), 2023; there with the best of each
-- leg as 1, which would make a leg that found nothing as sure as one that did.
--
-- Without BM25, which is for an index without terms, places are combined: Cormack, Clarke, Buettcher, "Reciprocal Rank
-- Fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.

-- matched: whether a hit has a word of the question. The attribute is added here and not by a migration: between the
-- two the previous functions would return a column too few.
do $$
begin
  if not exists (select from pg_attribute
                 where attrelid = '{{ .schema }}.document_chunk_hit'::regclass and attname = 'matched') then
    alter type {{ .schema }}.document_chunk_hit add attribute matched boolean; -- false: only its vector is near
  end if;
end $$;

-- aw_find searches for one client, or (null) in all rows that the caller may see.
--   words: null or blank: by vector only. vec: null: by words only. n: 1-100 hits. in_set: null: all sets.
--   within: null, or which documents (aw_fits).
-- A question without a word finds nothing. A chunk whose vector is near is a hit even if it has none of the words. But
-- vectors of the offline provider represent only words: there it must have at least the beginning of one.
drop function if exists {{ .schema }}.aw_find(text, text, {{ .vector }}.halfvec, integer, text); -- without "within"
create or replace function {{ .schema }}.aw_find(
  client text, words text, vec {{ .vector }}.halfvec, n integer, in_set text, within jsonb default null)
returns setof {{ .schema }}.document_chunk_hit
language plpgsql stable rows 10 set search_path = {{ .path }} set plan_cache_mode = force_custom_plan set jit = off as $$
#variable_conflict use_column
declare
  v_n integer := least(greatest(coalesce(n, 10), 1), 100);
  v_leg integer := least(greatest(4 * v_n, 40), 200);
  v_closely constant integer := 40;
  v_base constant integer := 40;
  v_question record;
  v_any tsquery;
  v_beside boolean;
  v_any_of tsquery;
  v_singles text;
  v_bound boolean := {{ .schema }}.aw_client() is not null;
  v_ranks boolean;
begin
  if {{ .vector }}.l2_norm(vec) = 0 then -- it has no direction: every cosine distance from it is NaN
    vec := null;
  end if;
  v_question := {{ .schema }}.aw_question(words);
  if v_question.asks and v_question.terms = '{}' then
    return;
  end if;
  v_any := (select string_agg(q::text, ' | ')::tsquery from unnest(v_question.terms) q);
  v_beside := {{ .schema }}.aw_beside(v_any::text);
  v_any_of := {{ .schema }}.aw_any_of(v_any);
  v_singles := {{ .schema }}.aw_singles(v_any);
  v_ranks := v_question.asks and {{ .schema }}.aw_indexed(client);

  return query
  with ranked as materialized (
    select m.* from {{ .schema }}.aw_ranked_own(v_question.positive, v_question.but, v_leg, in_set, within) m
    where v_ranks and v_bound
    union all
    select m.* from {{ .schema }}.aw_ranked(client, v_question.positive, v_question.but, v_leg, in_set, within) m
    where v_ranks and not v_bound
  ), present as materialized ( -- of an index without terms, of stop words alone, and of what the operators ask for
    select m.*
    from {{ .schema }}.aw_matching_own(v_question.everything, v_question.terms, v_question.but, v_leg, in_set, within) m
    where v_question.asks and v_bound and (v_question.structured or not exists (select from ranked))
    union all
    select m.*
    from {{ .schema }}.aw_matching(client, v_question.everything, v_question.terms, v_question.but, v_leg, in_set, within) m
    where v_question.asks and not v_bound and (v_question.structured or not exists (select from ranked))
  ), matching as materialized (
    select coalesce(r.id, p.id) as id, r.score as words, r.known, coalesce(p.complete, false) as complete,
           rank() over (order by coalesce(p.complete, false) desc, r.score desc nulls last,
                                 p.weight desc nulls last, p.rank desc nulls last) as place
    from ranked r full join present p on p.id = r.id
  ), nearest as materialized (
    select m.*, rank() over (order by m.distance) as place
    from {{ .schema }}.aw_nearest(client, vec, v_leg, in_set, v_question.but, within) m
    where vec is not null and m.distance <> 'NaN' -- a chunk whose vector is all zeros
  ), base as materialized (
    select coalesce((select r.score from ranked r order by r.score desc offset v_base - 1 limit 1), 0) as words,
           1 - (select max(n.distance) from nearest n where n.place <= v_base) as similarity
  ), fused as materialized (
    select coalesce(m.id, n.id) as id, m.words, m.known, coalesce(m.complete, false) as complete,
           (coalesce(51.0 / (50 + m.place), 0) + coalesce(51.0 / (50 + n.place), 0)) / 2 as fused
    from matching m full join nearest n on n.id = m.id
  ), hits as materialized ( -- else the words would be compared with chunks that are not hits
    select c.id, c.document_id, d.document_set, d.filename, c.version, c.content, c.heading_path, c.pages, c.boxes,
           c.kind, c.position, f.words, f.known, f.complete,
           coalesce(1 - nullif(c.embedding operator({{ .vector }}.<=>) vec, 'NaN'), 0)::double precision as similarity,
           f.fused::double precision, f.words is not null or coalesce(
             case when v_beside then {{ .schema }}.aw_shows(c.client_id, c.id, c.search, v_any, v_any_of, v_singles)
                  else c.search @@ v_any end, false) as matched,
           c.search @@ v_question.akin or c.model not like 'offline-%' as related,
           vec is null or bool_and(c.model like 'offline-%') over () as offline, exists (select from ranked) as scored
    from fused f
    -- The list: behind row-level security the join alone would read the whole table.
    join {{ .schema }}.document_chunks c on c.id = f.id and c.id = any (array(select x.id from fused x))
    join {{ .schema }}.documents d
      on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
    where aw_find.client is null or c.client_id = aw_find.client
  )
  select h.id, h.document_id, h.document_set, h.filename, h.version, h.content, h.heading_path, h.pages, h.boxes,
         h.kind, h.similarity,
         case when s.summed then s.score else max(s.worth) over (order by s.score) end, h.matched
  from base b cross join hits h
  left join {{ .schema }}.aw_closeness(client, v_question.positive, array(
    select x.id from hits x where x.scored and (x.offline or x.words is not null)
    order by coalesce(x.words, 0) + case when x.offline then x.similarity else 0 end desc, x.id limit v_closely)) c on c.id = h.id,
  lateral (
    select o.summed, case when o.summed then
      -- Of a question with a phrase or OR, what has all that it asks for is above one half.
      (1 - exp(-(coalesce(h.words, 0) + greatest(h.similarity, 0)) * (1 + coalesce(c.pieces, 0)) - 0.25 * coalesce(c.pairs, 0)) + h.complete::int)
        / case when v_question.structured then 2 else 1 end
    when h.scored then
      coalesce(h.known * (greatest(h.words - b.words, 0) + 0.5 * coalesce(c.pairs, 0)), 0)
        + coalesce(greatest(h.similarity - b.similarity, 0) / nullif(1 - b.similarity, 0), 0)
        + (v_question.structured and h.complete)::int
    else h.fused end as score,
    {{ .schema }}.aw_worth(h.words, h.similarity, h.matched, h.complete, v_question.structured) as worth
    from (select h.scored and h.offline as summed) o) s
  where h.matched or h.related or not v_question.asks
  -- Hits behind the v_base-th of both legs get nothing from them: their places order. The order of equally good hits stays
  -- the same when documents are ingested again.
  order by s.score desc, case when not s.summed then h.fused end desc, h.words desc nulls last, h.similarity desc, h.filename, h.document_set, h.position, h.id
  limit v_n;
end $$;

-- aw_search searches for the tenant of a call; p is a store.Query. p.explain: each hit has what its legs say of it.
-- p.mark: each has the aw_marks of this question, which is p.text without what it excludes.
create or replace function {{ .schema }}.aw_search(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_vector {{ .vector }}.halfvec := p ->> 'embedding';
  v_within jsonb := {{ .schema }}.aw_checked_within(p -> 'within');
  v_hits jsonb;
begin
  v_hits := coalesce((
    select jsonb_agg(jsonb_build_object('chunk_id', h.id, 'document_id', h.document_id, 'document_set', h.document_set,
      'filename', h.filename, 'version', h.version, 'content', h.content, 'heading_path', h.heading_path,
      'pages', h.pages, 'boxes', h.boxes, 'kind', h.kind, 'score', h.score, 'similarity', h.similarity,
      'matched', h.matched) order by h.n)
    from {{ .schema }}.aw_find(v_client, p ->> 'text', v_vector,
                 (p ->> 'limit')::int, nullif(p ->> 'document_set', ''), v_within)
         with ordinality as h(id, document_id, document_set, filename, version, content, heading_path, pages, boxes,
                              kind, similarity, score, matched, n)), '[]');
  if (p ->> 'explain')::boolean then
    v_hits := {{ .schema }}.aw_explained(v_client, p, v_vector, v_hits);
  end if;
  if p ->> 'mark' <> '' then
    v_hits := {{ .schema }}.aw_marked(v_client, p ->> 'mark', v_hits);
  end if;
  return v_hits;
end $$;

-- aw_find_own is aw_find for the client that the session is bound to, never for another one. It is security definer.
create or replace function {{ .schema }}.aw_find_own(words text, vec {{ .vector }}.halfvec, n integer, in_set text)
returns setof {{ .schema }}.document_chunk_hit
language plpgsql stable rows 10 set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_bound();
begin
  if v_client is not null then
    return query select * from {{ .schema }}.aw_find(v_client, words, vec, n, in_set);
  end if;
end $$;

-- The two functions for the frontend (docs/frontend.md). A session that is bound to a client sees that client's active
-- versions; the service key sees those of all clients. Without query_embedding it searches by words only.
create or replace function {{ .schema }}.hybrid_search(
  query_text text, query_embedding {{ .vector }}.halfvec default null, match_count integer default 10,
  document_set text default null
) returns setof {{ .schema }}.document_chunk_hit
language plpgsql stable rows 10 set search_path = {{ .path }} as $$
begin
  if {{ .schema }}.aw_bound() is null and {{ .schema }}.aw_unbound() then
    return query
      select * from {{ .schema }}.aw_find(null::text, query_text, query_embedding, match_count, document_set);
  else
    return query select * from {{ .schema }}.aw_find_own(query_text, query_embedding, match_count, document_set);
  end if;
end $$;

create or replace function {{ .schema }}.match_document_chunks(
  query_embedding {{ .vector }}.halfvec, match_count integer default 10, document_set text default null
) returns setof {{ .schema }}.document_chunk_hit
language plpgsql stable rows 10 set search_path = {{ .path }} as $$
begin
  return query select * from {{ .schema }}.hybrid_search(null::text, query_embedding, match_count, document_set);
end $$;
