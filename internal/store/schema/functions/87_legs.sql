-- Why hits of a search are where they are. It calls what aw_find calls, with the same limits.

-- aw_legs are what the legs of a search (see aw_find for its arguments) say of some of its hits: in each leg the place,
-- from 1, and the score; what aw_closeness measured; how the two were combined, and with which weights:
--   sum: 1 - exp(-(words.score * weights.words + meaning.similarity * weights.meaning) * (1 + pieces * weights.pieces)
--     - pairs * weights.pairs); of a question with a phrase or OR half of that, and a half more if it is complete.
--   excess: known * (weights.words * max(words.score - words.base, 0) + weights.pairs * pairs) + weights.meaning *
--     max(meaning.score - meaning.base, 0) / (1 - meaning.base); of a question with a phrase or OR one more if it is
--     complete. base is the score of the leg's v_base-th hit. Hits behind the v_closely-th by words have no pairs.
--   fusion: the sum of weight * 51 / (50 + place).
create or replace function {{ .schema }}.aw_legs(
  client text, words text, vec {{ .vector }}.halfvec, n integer, in_set text, within jsonb, ids uuid[])
returns table (id uuid, legs jsonb)
language plpgsql stable rows 10 set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_n integer := least(greatest(coalesce(n, 10), 1), 100);
  v_leg integer := least(greatest(4 * v_n, 40), 200);
  v_closely constant integer := 40;
  v_base constant integer := 40;
  v_question record;
  v_bound boolean := {{ .schema }}.aw_client() is not null;
  v_ranks boolean;
begin
  if {{ .vector }}.l2_norm(vec) = 0 then
    vec := null;
  end if;
  v_question := {{ .schema }}.aw_question(words);
  v_ranks := v_question.asks and {{ .schema }}.aw_indexed(client);
  return query
  with ranked as materialized (
    select m.* from {{ .schema }}.aw_ranked_own(v_question.positive, v_question.but, v_leg, in_set, within) m
    where v_ranks and v_bound
    union all
    select m.* from {{ .schema }}.aw_ranked(client, v_question.positive, v_question.but, v_leg, in_set, within) m
    where v_ranks and not v_bound
  ), present as materialized (
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
    where vec is not null and m.distance <> 'NaN'
  ), base as materialized (
    select coalesce((select r.score from ranked r order by r.score desc offset v_base - 1 limit 1), 0) as words,
           1 - (select max(n.distance) from nearest n where n.place <= v_base) as similarity
  ), hits as materialized (
    -- The list: see aw_find.
    select c.id, m.words, m.known, m.place as words_place, coalesce(m.complete, false) as complete, e.place as meaning_place,
           coalesce(1 - nullif(c.embedding operator({{ .vector }}.<=>) vec, 'NaN'), 0)::double precision as similarity,
           exists (select from ranked) as scored, vec is null or bool_and(c.model like 'offline-%') over () as offline
    from matching m full join nearest e on e.id = m.id
    join {{ .schema }}.document_chunks c
      on c.id = coalesce(m.id, e.id)
        and c.id = any (array(select x.id from matching x union all select x.id from nearest x))
    where aw_legs.client is null or c.client_id = aw_legs.client
  )
  select h.id, jsonb_strip_nulls(jsonb_build_object(
    'method', s.method,
    'weights', case s.method when 'sum' then '{"words": 1, "meaning": 1, "pieces": 1, "pairs": 0.25}'
                 when 'excess' then '{"words": 1, "meaning": 1, "pairs": 0.5}'
                 else '{"words": 0.5, "meaning": 0.5}' end::jsonb,
    'words', case when h.words_place is not null then jsonb_build_object(
      'place', h.words_place, 'score', coalesce(h.words, 0), 'base', case s.method when 'excess' then b.words end) end,
    'meaning', case when vec is not null then jsonb_build_object(
      'place', coalesce(h.meaning_place, 0), 'score', h.similarity, 'base', case s.method when 'excess' then b.similarity end) end,
    'known', case s.method when 'excess' then h.known end,
    'pieces', case when s.method <> 'excess' then c.pieces end, 'pairs', c.pairs, 'structured', v_question.structured, 'complete', h.complete))
  from base b cross join hits h
  left join {{ .schema }}.aw_closeness(client, v_question.positive, array(
    select x.id from hits x where x.scored and (x.offline or x.words is not null)
    order by coalesce(x.words, 0) + case when x.offline then x.similarity else 0 end desc, x.id limit v_closely)) c on c.id = h.id,
  lateral (select case when not h.scored then 'fusion' when h.offline then 'sum' else 'excess' end as method) s
  where h.id = any (ids);
end $$;

-- aw_explained are the hits of aw_search with what aw_legs says of each.
create or replace function {{ .schema }}.aw_explained(
  client text, p jsonb, vec {{ .vector }}.halfvec, hits jsonb) returns jsonb
language sql stable set search_path = {{ .path }} as $$
  select coalesce(jsonb_agg(h.hit || coalesce(jsonb_build_object('legs', l.legs), '{}') order by h.n), '[]')
  from jsonb_array_elements(hits) with ordinality h(hit, n)
  left join {{ .schema }}.aw_legs(client, p ->> 'text', vec, (p ->> 'limit')::int, nullif(p ->> 'document_set', ''),
    nullif(p -> 'within', 'null'), array(select (x ->> 'chunk_id')::uuid from jsonb_array_elements(hits) x)) l
    on l.id = (h.hit ->> 'chunk_id')::uuid
$$;
