-- Which chunks the search for words scores. In a large collection a question's frequent words are in too many chunks to
-- read them all. The best ones have most of the weight of the question's words, so that a query for enough of the weight
-- finds them: the index reads the rare words' lists whole, and of those of frequent words only what the rare ones leave.

-- aw_enough is the query of what has terms, from the first-th on, whose weights sum up to need or more, one of them not
-- behind the last-th (null: of all). To answer it the index visits all chunks that have a term up to the last-th.
drop function if exists {{ .schema }}.aw_enough(tsquery[], double precision[], double precision, integer); -- without "last"
create or replace function {{ .schema }}.aw_enough(
  terms tsquery[], weights double precision[], need double precision, first integer, last integer default null)
returns tsquery
language plpgsql immutable set search_path = {{ .path }} as $$
declare
  v_left double precision := (select sum(w) from unnest(weights[first:]) w);
  v_any tsquery;
  v_one tsquery;
begin
  for i in first .. coalesce(last, cardinality(terms)) loop
    exit when v_left < need;
    v_one := terms[i];
    if weights[i] < need then
      v_one := v_one && {{ .schema }}.aw_enough(terms, weights, need - weights[i], i + 1);
    end if;
    v_any := coalesce(v_any || v_one, v_one); -- "null && x" is null: without the rest it is not enough
    v_left := v_left - weights[i];
  end loop;
  return v_any;
end $$;

-- aw_first is how many of the first terms have up_to chunks together, if no chunk has two of them.
create or replace function {{ .schema }}.aw_first(chunks double precision[], up_to double precision) returns integer
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return (
    select count(*)::integer
    from (select sum(c.chunks) over (order by c.n) as visited from unnest(chunks) with ordinality c(chunks, n)) x
    where x.visited <= up_to);
end $$;

-- aw_need is the smallest sum of weights that about "most" chunks have, or fewer, if the terms are independent of each
-- other: chunks of the terms' chunks, the rarest first, of "all", and if only those with a term that is not behind the
-- last-th count (null: with any). If more have all the terms, it is the sum of all.
drop function if exists {{ .schema }}.aw_need(double precision[], double precision[], double precision, double precision);
create or replace function {{ .schema }}.aw_need(
  chunks double precision[], weights double precision[], all_chunks double precision, most double precision,
  last integer default null)
returns double precision
language plpgsql immutable set search_path = {{ .path }} as $$
begin
  return (
    with parts as (
      select s.n, sum(x.weight) filter (where s.n & (1 << x.i::integer - 1) <> 0) as weight,
             all_chunks * exp(sum(ln(case when s.n & (1 << x.i::integer - 1) <> 0 then x.part else 1 - x.part end))) as expected
      from generate_series(1, (1 << cardinality(chunks)) - 1) s(n),
        (select least(greatest(c / all_chunks, 1e-9), 1 - 1e-9) as part, w as weight, t.i
         from unnest(chunks, weights) with ordinality t(c, w, i)) x
      where last is null or s.n & ((1 << last) - 1) <> 0
      group by s.n
    ), summed as (
      select p.weight, sum(p.expected) over (order by p.weight desc) as expected from parts p
    )
    -- A little less: sums of the same weights in another order may differ.
    select (1 - 1e-9) * coalesce(min(s.weight) filter (where s.expected <= most), max(s.weight)) from summed s);
end $$;
