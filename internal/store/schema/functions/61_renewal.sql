-- Terms whose rules have changed since they were made.

-- aw_renew_terms makes the terms of documents that have some from before aw_letters again, where they differ, and of such
-- chunks document_chunks.search, too, if it has other words now. What searches look for in the terms (aw_beside) doesn't
-- count: an update of a chunk is dear, because of the index of vectors. It looks at "most" chunks at most and returns how
-- many it looked at. Documents that a job has locked are left to the next call.
create or replace function {{ .schema }}.aw_renew_terms(client text, most integer) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  d {{ .schema }}.documents;
  v_last uuid := '00000000-0000-0000-0000-000000000000';
  v_count integer := 0;
  v_first integer;
  v_seen integer;
  v_next integer;
  v_ids uuid[];
  v_search uuid[];
  v_versions integer[];
  v_languages text[];
  v_terms tsvector[];
begin
  while v_count < most loop
    select * into d from {{ .schema }}.documents x
      where x.client_id = client and x.active_version is not null and x.terms_renewed is distinct from -1
        and x.terms_version = x.active_version and x.id > v_last
      order by x.id limit 1 for update skip locked;
    exit when not found;
    v_last := d.id;
    v_first := coalesce(d.terms_renewed, 0);
    with looked as materialized (
      select c.id, c.position, array_to_string(c.heading_path, ' ') || E'\n' || concat(c.context || E'\n', c.content) as content
      from {{ .schema }}.document_chunks c
      where c.client_id = client and c.document_id = d.id and c.version = d.active_version and c.position >= v_first
      order by c.position limit most - v_count
    ), made as materialized (
      select l.id, t.version, t.language, t.terms as had,
             {{ .schema }}.aw_terms_of({{ .schema }}.aw_text_config(t.language), l.content) as terms,
             regexp_replace(l.content, '[\u0600-\u06ff\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc]+', ' ', 'g') as spaced
      from looked l join {{ .schema }}.chunk_terms t on t.client_id = client and t.chunk_id = l.id
      where octet_length(l.content) > length(l.content) and (l.content is not nfkc normalized or l.content ~ '\u0654')
    ), changed as (
      select m.* from made m where m.terms <> m.had
    )
    select array_agg(x.id), array_agg(x.version), array_agg(x.language), array_agg(x.terms),
           array_agg(x.id) filter (where to_tsvector('simple', x.spaced) <> to_tsvector('simple', {{ .schema }}.aw_letters(x.spaced))),
           (select count(*) from looked), (select max(l.position) + 1 from looked l)
      into v_ids, v_versions, v_languages, v_terms, v_search, v_seen, v_next
    from changed x;
    if v_ids is not null then
      delete from {{ .schema }}.chunk_terms t where t.client_id = client and t.chunk_id = any (v_ids);
      insert into {{ .schema }}.chunk_terms (client_id, chunk_id, document_id, version, language, words, terms)
      select client, n.id, d.id, n.version, n.language,
             (select coalesce(sum(cardinality(u.positions)), 0) from unnest(n.terms) u(lexeme, positions, weights)), n.terms
      from (select unnest(v_ids) as id, unnest(v_versions) as version, unnest(v_languages) as language, unnest(v_terms) as terms) n;
      update {{ .schema }}.document_chunks c set content = c.content where c.client_id = client and c.id = any (v_search);
    end if;
    update {{ .schema }}.documents u set terms_renewed = case when v_seen < most - v_count then -1 else v_next end
      where u.client_id = client and u.id = d.id;
    v_count := v_count + greatest(v_seen, 1);
  end loop;
  return v_count;
end $$;
