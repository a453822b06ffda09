-- The two searches for chunks, by vector and by words. 86_hybrid.sql combines them.

-- aw_eligible counts the chunks that a search may find, up to up_to: those of active versions of a client (null: all
-- that the caller may see) and a document set (null: all), whose documents fit "within" (aw_fits).
drop function if exists {{ .schema }}.aw_eligible(text, text, bigint); -- without "within"
create or replace function {{ .schema }}.aw_eligible(client text, in_set text, up_to bigint, within jsonb) returns bigint
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
begin
  return (select count(*) from (
    select from {{ .schema }}.documents d
    join {{ .schema }}.document_chunks c
      on c.client_id = d.client_id and c.document_id = d.id and c.version = d.active_version
    where (aw_eligible.client is null or d.client_id = aw_eligible.client)
      and (aw_eligible.in_set is null or d.document_set = aw_eligible.in_set)
      and {{ .schema }}.aw_fits(d, aw_eligible.within)
    limit up_to) few);
end $$;

-- aw_nearest are the n chunks nearest to a vector by cosine distance, unordered, without those that match "but"
-- (null: none is left out). If few chunks are eligible it compares all of them, which is exact; if many are, it scans
-- the HNSW index until it has n eligible ones. If "but" excludes many, the scan may stop early: then a quarter of n
-- is enough.
--
-- A comparison costs about half of what the index spends on a chunk that it visits, and to find n eligible ones it
-- visits n × all ÷ eligible. So comparing is cheaper up to about √(2 × n × all) eligible chunks.
drop function if exists {{ .schema }}.aw_nearest(text, {{ .vector }}.halfvec, integer, text); -- without "but"
drop function if exists {{ .schema }}.aw_nearest(text, {{ .vector }}.halfvec, integer, text, tsquery); -- without "within"
create or replace function {{ .schema }}.aw_nearest(
  client text, vec {{ .vector }}.halfvec, n integer, in_set text, but tsquery, within jsonb)
returns table (id uuid, distance double precision)
language plpgsql stable rows 50 set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_all double precision := (
    select greatest(reltuples, 1) from pg_class where oid = '{{ .schema }}.document_chunks'::regclass);
  v_few bigint := least(greatest(sqrt(2 * n * v_all), 1000), 20000);
  v_chunks double precision; -- that are eligible, as far as the ranking's totals know without a count
  v_documents bigint;
  v_ids uuid[];
  v_distances double precision[];
  v_beside boolean := {{ .schema }}.aw_beside(but::text);
  v_any_of tsquery := {{ .schema }}.aw_any_of(but);
  v_singles text := {{ .schema }}.aw_singles(but);
begin
  if in_set is null and within is null then
    v_chunks := (
      select sum(t.chunks) from {{ .schema }}.term_totals t
      where aw_nearest.client is null or t.client_id = aw_nearest.client);
  end if;
  if v_chunks > v_few or {{ .schema }}.aw_eligible(client, in_set, v_few + 1, within) > v_few then
    -- One large scan of the index finds better than several small ones: ef_search is about the number of chunks that n
    -- eligible ones should be among.
    if v_chunks > v_few then
      perform set_config('hnsw.ef_search', least(greatest(n * v_all / v_chunks, 100), 1000)::integer::text, true);
    else
      v_documents := (
        select greatest(reltuples, 1) from pg_class where oid = '{{ .schema }}.documents'::regclass);
      perform set_config('hnsw.ef_search', least(greatest(n * v_documents / (
        select greatest(count(*), 1) from (
          select from {{ .schema }}.documents d
          where (aw_nearest.client is null or d.client_id = aw_nearest.client)
            and (aw_nearest.in_set is null or d.document_set = aw_nearest.in_set)
            and {{ .schema }}.aw_fits(d, aw_nearest.within)
          limit 10000) e), 100), 1000)::text, true);
    end if;
    -- From pgvector 0.8 on the setting exists once the library is loaded; reading the vector has loaded it.
    if current_setting('hnsw.iterative_scan', true) is not null then
      perform set_config('hnsw.iterative_scan', 'relaxed_order', true),
              set_config('hnsw.max_scan_tuples', '50000', true), set_config('hnsw.scan_mem_multiplier', '8', true);
    end if;
    select array_agg(f.id), array_agg(f.distance) into v_ids, v_distances from (
      select c.id, c.embedding operator({{ .vector }}.<=>) vec as distance
      from {{ .schema }}.document_chunks c
      join {{ .schema }}.documents d
        on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
      where (aw_nearest.client is null or c.client_id = aw_nearest.client)
        and (aw_nearest.in_set is null or d.document_set = aw_nearest.in_set)
        and {{ .schema }}.aw_fits(d, aw_nearest.within) and not {{ .schema }}.aw_leaves_out(c.id, aw_nearest.within)
        and (aw_nearest.but is null or not case
          when v_beside then {{ .schema }}.aw_shows(c.client_id, c.id, c.search, aw_nearest.but, v_any_of, v_singles)
          else c.search @@ aw_nearest.but end)
      order by c.embedding operator({{ .vector }}.<=>) vec
      limit n) f;
    if cardinality(v_ids) >= n or but is not null and cardinality(v_ids) >= n / 4 then
      return query select unnest(v_ids), unnest(v_distances);
      return;
    end if;
  end if;
  return query -- also if the scan stopped early: all eligible chunks are far from the vector
  select c.id, c.embedding operator({{ .vector }}.<=>) vec
  from {{ .schema }}.documents d
  join {{ .schema }}.document_chunks c
    on c.client_id = d.client_id and c.document_id = d.id and c.version = d.active_version
  where (aw_nearest.client is null or d.client_id = aw_nearest.client)
    and (aw_nearest.in_set is null or d.document_set = aw_nearest.in_set)
    and {{ .schema }}.aw_fits(d, aw_nearest.within) and not {{ .schema }}.aw_leaves_out(c.id, aw_nearest.within)
    and (aw_nearest.but is null or not case
          when v_beside then {{ .schema }}.aw_shows(c.client_id, c.id, c.search, aw_nearest.but, v_any_of, v_singles)
          else c.search @@ aw_nearest.but end)
  order by (c.embedding operator({{ .vector }}.<=>) vec) + 0 -- so that no index is used
  limit n;
end $$;

-- aw_matching are chunks that have words of a question, best match first: those with all words, then those with some
-- of them, the rarer the better. all_words, terms and but are the results of aw_question. client null: all that the
-- caller may see. If words are looked for in the terms, too (aw_beside), those with all words are found by both indexes.
--
-- A word that thousands of chunks have distinguishes none of them: no more than v_most are ranked, unless
-- the search is among no more than that.
drop function if exists {{ .schema }}.aw_matching_own(tsquery, tsquery[], tsquery, integer, text); -- without "within"
drop function if exists {{ .schema }}.aw_matching(text, tsquery, tsquery[], tsquery, integer, text);
create or replace function {{ .schema }}.aw_matching(
  client text, all_words tsquery, terms tsquery[], but tsquery, n integer, in_set text, within jsonb)
returns table (id uuid, complete boolean, weight double precision, rank real)
language plpgsql stable rows 50 set search_path = {{ .path }} set plan_cache_mode = force_custom_plan as $$
declare
  v_most constant integer := 2000;
  v_within uuid[] := {{ .schema }}.aw_within(client, in_set, within, v_most);
  v_term tsquery;
  v_count bigint;
  v_counted bigint := 0;
  v_any tsquery;
  v_some tsquery;
  v_terms tsquery[];
  v_weights double precision[];
  v_all tsquery := case when but is null then all_words else all_words && !!but end;
  v_beside boolean := {{ .schema }}.aw_beside(v_all::text);
  v_in_terms tsquery := {{ .schema }}.aw_in_terms(all_words);
  v_any_of tsquery := {{ .schema }}.aw_any_of(all_words);
  v_any_of_but tsquery := {{ .schema }}.aw_any_of(but);
  v_singles text := {{ .schema }}.aw_singles(all_words);
  v_excluded text := {{ .schema }}.aw_singles(but);
  v_complete uuid[] := '{}';
begin
  if v_beside then
    v_complete := array(
      (select c.id
       from {{ .schema }}.chunk_terms t
       join {{ .schema }}.document_chunks c on c.client_id = t.client_id and c.id = t.chunk_id
       join {{ .schema }}.documents d
         on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
       where t.terms @@ v_in_terms
         and (aw_matching.client is null or t.client_id = aw_matching.client)
         and (aw_matching.in_set is null or d.document_set = aw_matching.in_set)
         and (v_within is null or t.chunk_id = any (v_within))
         and {{ .schema }}.aw_fits(d, aw_matching.within) and not {{ .schema }}.aw_leaves_out(c.id, aw_matching.within)
         and {{ .schema }}.aw_shows(c.client_id, c.id, c.search, all_words, v_any_of, v_singles)
         and (but is null or not {{ .schema }}.aw_shows(c.client_id, c.id, c.search, but, v_any_of_but, v_excluded))
       limit v_most)
      union
      (select c.id
       from {{ .schema }}.document_chunks c
       join {{ .schema }}.documents d
         on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
       where c.search @@ all_words
         and (aw_matching.client is null or c.client_id = aw_matching.client)
         and (aw_matching.in_set is null or d.document_set = aw_matching.in_set)
         and (v_within is null or c.id = any (v_within))
         and {{ .schema }}.aw_fits(d, aw_matching.within) and not {{ .schema }}.aw_leaves_out(c.id, aw_matching.within)
         and {{ .schema }}.aw_shows(c.client_id, c.id, c.search, all_words, v_any_of, v_singles)
         and (but is null or not {{ .schema }}.aw_shows(c.client_id, c.id, c.search, but, v_any_of_but, v_excluded))
       limit v_most));
  end if;
  -- Rarest first, as many as there is room for.
  for v_term, v_count in
    select t.q, (select count(*) from (
      select from {{ .schema }}.document_chunks c
      where c.search @@ t.q and (aw_matching.client is null or c.client_id = aw_matching.client)
      limit v_most + 1) x) as chunks
    from unnest(terms) with ordinality t(q, n) order by chunks, t.n
  loop
    continue when v_count = 0; -- it would be the rarest, and leave no room for frequent ones
    exit when v_within is null and v_any is not null and v_counted + v_count > v_most;
    v_any := coalesce(v_any || v_term, v_term);
    v_counted := v_counted + v_count;
    v_terms := v_terms || v_term;
    v_weights := v_weights || ln(1 + v_most / greatest(v_count, 1)::double precision);
  end loop;
  v_some := case when but is null then v_any else v_any && !!but end;

  return query
  with found as (
    (select c.id, c.search, true as complete
     from {{ .schema }}.document_chunks c
     join {{ .schema }}.documents d
       on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
     where case when v_beside then c.id = any (v_complete) else c.search @@ v_all end
       and (aw_matching.client is null or c.client_id = aw_matching.client)
       and (aw_matching.in_set is null or d.document_set = aw_matching.in_set)
       and (v_within is null or c.id = any (v_within))
       and {{ .schema }}.aw_fits(d, aw_matching.within) and not {{ .schema }}.aw_leaves_out(c.id, aw_matching.within)
     limit v_most)
    union all
    (select c.id, c.search, false
     from {{ .schema }}.document_chunks c
     join {{ .schema }}.documents d
       on d.client_id = c.client_id and d.id = c.document_id and d.active_version = c.version
     where c.search @@ v_some
       and case when v_beside then c.id <> all (v_complete)
             and (but is null or not {{ .schema }}.aw_shows(c.client_id, c.id, c.search, but, v_any_of_but, v_excluded))
           else not c.search @@ v_all end
       and (aw_matching.client is null or c.client_id = aw_matching.client)
       and (aw_matching.in_set is null or d.document_set = aw_matching.in_set)
       and (v_within is null or c.id = any (v_within))
       and {{ .schema }}.aw_fits(d, aw_matching.within) and not {{ .schema }}.aw_leaves_out(c.id, aw_matching.within)
     limit v_most)
  )
  select f.id, f.complete,
         (select sum(t.weight) from unnest(v_terms, v_weights) t(q, weight) where f.search @@ t.q) as weight,
         ts_rank_cd(f.search, v_any)
  from found f
  order by 2 desc, 3 desc nulls last, 4 desc, f.id
  limit n;
end $$;

-- aw_matching_own is aw_matching for the client of the session, never for another one. It runs as aw_searcher, which
-- no policy restricts: see migrations/012_search.sql. A session without a client finds nothing.
create or replace function {{ .schema }}.aw_matching_own(
  all_words tsquery, terms tsquery[], but tsquery, n integer, in_set text, within jsonb)
returns table (id uuid, complete boolean, weight double precision, rank real)
language plpgsql stable rows 50 security definer set search_path = {{ .path }} as $$
begin
  return query
    select m.id, m.complete, m.weight, m.rank
    from {{ .schema }}.aw_matching(coalesce({{ .schema }}.aw_client(), ''), all_words, terms, but, n, in_set, within) m;
end $$;
