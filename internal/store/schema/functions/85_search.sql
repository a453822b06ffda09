-- Hybrid search: full text and vectors, each limited inside its own subquery, joined by reciprocal rank
-- fusion. Source: Cormack, Clarke, Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual
-- rank learning methods", SIGIR 2009 (there k = 60; Supabase and pgvector's guides use 50).

-- aw_terms are the words of a question that tell something: without those that are stop words of any of the
-- languages, unless nothing would be left.
create or replace function aw_terms(words text) returns text[]
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_all text[] := tsvector_to_array(to_tsvector('simple', coalesce(words, '')));
  v_telling text[];
begin
  select array_agg(t) into v_telling from unnest(v_all) t
  where not exists (
    select from unnest(array['english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch']::regconfig[]) c
    where to_tsvector(c, t) = '');
  return coalesce(v_telling, v_all);
end $$;

-- aw_find does a search for one client, or (null) for all rows that the caller may see.
--   words: null or '': by vector only. vec: null: by text only. n: 1-100 hits. in_set: null: all sets.
create or replace function aw_find(client text, words text, vec halfvec, n integer, in_set text)
returns setof document_chunk_hit
language plpgsql stable set search_path = {{ .path }} as $$
#variable_conflict use_column
declare
  v_n integer := least(greatest(coalesce(n, 10), 1), 100);
  v_leg integer := least(greatest(4 * v_n, 40), 200);
  v_terms tsquery[];
  v_any tsquery;
  v_all tsquery := websearch_to_tsquery('simple', coalesce(words, ''));
begin
  if l2_norm(vec) = 0 then -- it has no direction: every cosine distance from it is NaN
    vec := null;
  end if;
  -- websearch_to_tsquery joins words by AND and knows quotes, OR and -. Rows with all words come first; those
  -- with only some of them come after, so that a question in plain words finds something too.
  select array_agg(q), string_agg(q::text, ' | ')::tsquery into v_terms, v_any
  from (select to_tsquery('simple', '''' || replace(replace(t, '\', '\\'), '''', '''''') || '''') as q
        from unnest(aw_terms(words)) t) x;
  -- With filters a plain HNSW scan may find too few rows; pgvector 0.8 can go on. The settings exist once
  -- the library is loaded, which reading the vector did.
  if vec is not null and current_setting('hnsw.iterative_scan', true) is not null then
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('hnsw.ef_search', greatest(40, v_leg)::text, true);
  end if;

  return query
  with by_text as (
    select t.id, row_number() over (order by t.complete desc, t.matched desc, t.rank desc, t.id) as place
    from (select c.id, c.search @@ v_all as complete, ts_rank_cd(c.search, v_any) as rank,
                 (select count(*) from unnest(v_terms) q where c.search @@ q) as matched
          from document_chunks c
          join documents d on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
          where (c.search @@ v_any or c.search @@ v_all)
            and (aw_find.client is null or c.client_id = aw_find.client)
            and (aw_find.in_set is null or d.document_set = aw_find.in_set)
          order by complete desc, matched desc, rank desc, c.id
          limit v_leg) t
  ), by_vector as (
    select t.id, t.distance, row_number() over (order by t.distance, t.id) as place
    from (select c.id, c.embedding <=> aw_find.vec as distance
          from document_chunks c
          join documents d on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
          where (aw_find.client is null or c.client_id = aw_find.client)
            and (aw_find.in_set is null or d.document_set = aw_find.in_set)
            and aw_find.vec is not null
          order by c.embedding <=> aw_find.vec
          limit v_leg) t
    where t.distance <> 'NaN' -- a chunk whose vector is all zeros
  )
  select c.id, c.document_id, d.document_set, d.filename, c.version, c.content, c.heading_path, c.pages, c.boxes, c.kind,
         coalesce(1 - nullif(v.distance, 'NaN'), 0)::double precision,
         (coalesce(1.0 / (50 + t.place), 0) + coalesce(1.0 / (50 + v.place), 0))::double precision as score
  from by_text t
  full join by_vector v using (id)
  join document_chunks c using (id)
  join documents d on d.client_id = c.client_id and d.id = c.document_id
  where aw_find.client is null or c.client_id = aw_find.client
  order by score desc, v.distance nulls last, id
  limit v_n;
end $$;

create or replace function aw_search(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := aw_tenant(p);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('chunk_id', h.id, 'document_id', h.document_id, 'document_set', h.document_set,
      'filename', h.filename, 'version', h.version, 'content', h.content, 'heading_path', h.heading_path,
      'pages', h.pages, 'boxes', h.boxes, 'kind', h.kind, 'score', h.score, 'similarity', h.similarity) order by h.n)
    from aw_find(v_client, p ->> 'text', (p ->> 'embedding')::halfvec, (p ->> 'limit')::int,
                 nullif(p ->> 'document_set', ''))
         with ordinality as h(id, document_id, document_set, filename, version, content, heading_path, pages, boxes, kind,
                              similarity, score, n)), '[]');
end $$;

-- The two functions for the frontend (DESIGN 2.5). A session that is bound to a client sees that client's
-- active versions; the service key sees everybody's.
create or replace function match_document_chunks(
  query_embedding halfvec, match_count integer default 10, document_set text default null
) returns setof document_chunk_hit
language sql stable set search_path = {{ .path }} as $$
  select * from aw_find(aw_client(), null, query_embedding, match_count, document_set)
$$;

create or replace function hybrid_search(
  query_text text, query_embedding halfvec, match_count integer default 10, document_set text default null
) returns setof document_chunk_hit
language sql stable set search_path = {{ .path }} as $$
  select * from aw_find(aw_client(), query_text, query_embedding, match_count, document_set)
$$;
