-- Hybrid search: words and vectors, each with its own limit, combined by reciprocal rank fusion. Source: Cormack,
-- Clarke, Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009
-- (there k = 60; Supabase and pgvector's guides use 50).

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
-- A question without a word finds nothing. A chunk whose vector is near is a hit even if it has none of the words. But
-- vectors of the offline provider represent only words: there it must have at least the beginning of one.
create or replace function {{ .schema }}.aw_find(
  client text, words text, vec {{ .vector }}.halfvec, n integer, in_set text)
returns setof {{ .schema }}.document_chunk_hit
language plpgsql stable rows 10 set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_n integer := least(greatest(coalesce(n, 10), 1), 100);
  v_leg integer := least(greatest(4 * v_n, 40), 200);
  v_question record;
  v_any tsquery;
  v_bound boolean := {{ .schema }}.aw_client() is not null;
begin
  if {{ .vector }}.l2_norm(vec) = 0 then -- it has no direction: every cosine distance from it is NaN
    vec := null;
  end if;
  v_question := {{ .schema }}.aw_question(words);
  if v_question.asks and v_question.terms = '{}' then
    return;
  end if;
  v_any := (select string_agg(q::text, ' | ')::tsquery from unnest(v_question.terms) q);

  return query
  with matching as materialized (
    select m.*
    from {{ .schema }}.aw_matching_own(v_question.everything, v_question.terms, v_question.but, v_leg, in_set) m
    where v_question.asks and v_bound
    union all
    select m.*
    from {{ .schema }}.aw_matching(client, v_question.everything, v_question.terms, v_question.but, v_leg, in_set) m
    where v_question.asks and not v_bound
  ), nearest as materialized (
    select m.* from {{ .schema }}.aw_nearest(client, vec, v_leg, in_set, v_question.but) m
    where vec is not null and m.distance <> 'NaN' -- a chunk whose vector is all zeros
  ), places as (
    select m.id, rank() over (order by m.complete desc, m.weight desc nulls last, m.rank desc) as place
    from matching m
    union all
    select m.id, rank() over (order by m.distance) from nearest m
  ), fused as (
    select p.id, sum(1.0 / (50 + p.place))::double precision as score from places p group by p.id
  ), hits as materialized ( -- else the words would be compared with chunks that are not hits
    select c.id, c.document_id, d.document_set, d.filename, c.version, c.content, c.heading_path, c.pages, c.boxes,
           c.kind, c.position,
           coalesce(1 - nullif(c.embedding operator({{ .vector }}.<=>) vec, 'NaN'), 0)::double precision as similarity,
           f.score, coalesce(c.search @@ v_any, false) as matched,
           c.search @@ v_question.akin or c.model not like 'offline-%' as related
    from fused f
    join {{ .schema }}.document_chunks c on c.id = f.id
    join {{ .schema }}.documents d
      on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
    where aw_find.client is null or c.client_id = aw_find.client
  )
  select h.id, h.document_id, h.document_set, h.filename, h.version, h.content, h.heading_path, h.pages, h.boxes,
         h.kind, h.similarity, h.score, h.matched
  from hits h
  where h.matched or h.related or not v_question.asks
  -- The order of equally good hits stays the same when documents are ingested again.
  order by h.score desc, h.similarity desc, h.filename, h.document_set, h.position, h.id
  limit v_n;
end $$;

create or replace function {{ .schema }}.aw_search(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('chunk_id', h.id, 'document_id', h.document_id, 'document_set', h.document_set,
      'filename', h.filename, 'version', h.version, 'content', h.content, 'heading_path', h.heading_path,
      'pages', h.pages, 'boxes', h.boxes, 'kind', h.kind, 'score', h.score, 'similarity', h.similarity,
      'matched', h.matched) order by h.n)
    from {{ .schema }}.aw_find(v_client, p ->> 'text', (p ->> 'embedding')::{{ .vector }}.halfvec,
                 (p ->> 'limit')::int, nullif(p ->> 'document_set', ''))
         with ordinality as h(id, document_id, document_set, filename, version, content, heading_path, pages, boxes,
                              kind, similarity, score, matched, n)), '[]');
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
