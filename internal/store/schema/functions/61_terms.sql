-- Terms: what BM25 compares. SQL is the only place that makes them, of documents and of questions. A word is a term by
-- the stemmer of its document's language, without the stop words of that language. Scripts that don't separate words by
-- spaces have pairs of neighbouring characters instead.

-- aw_text_config is the text search configuration of a language, ISO 639-1 or a BCP 47 tag.
create or replace function {{ .schema }}.aw_text_config(language text) returns regconfig
language plpgsql stable parallel safe set search_path = {{ .path }} as $$
begin
  return coalesce((select c.oid::regconfig from pg_ts_config c where c.cfgnamespace = 'pg_catalog'::regnamespace and c.cfgname = case split_part(language, '-', 1)
    when 'ar' then 'arabic' when 'ca' then 'catalan' when 'da' then 'danish' when 'de' then 'german'
    when 'el' then 'greek' when 'en' then 'english' when 'es' then 'spanish' when 'eu' then 'basque'
    when 'fi' then 'finnish' when 'fr' then 'french' when 'ga' then 'irish' when 'hi' then 'hindi'
    when 'hu' then 'hungarian' when 'hy' then 'armenian' when 'id' then 'indonesian' when 'it' then 'italian'
    when 'lt' then 'lithuanian' when 'nb' then 'norwegian' when 'ne' then 'nepali' when 'nl' then 'dutch'
    when 'nn' then 'norwegian' when 'no' then 'norwegian' when 'pt' then 'portuguese' when 'ro' then 'romanian'
    when 'ru' then 'russian' when 'sr' then 'serbian' when 'sv' then 'swedish' when 'ta' then 'tamil'
    when 'tr' then 'turkish' when 'yi' then 'yiddish' end), 'pg_catalog.simple'::regconfig);
end $$;

-- aw_plain is a text with one form of each letter (aw_letters), and spaces for punctuation outside ASCII, which the parser
-- takes for letters in some locales. A dash before a digit is none: ranges of years would have negative ends.
create or replace function {{ .schema }}.aw_plain(words text) returns text
language plpgsql immutable parallel safe set search_path = {{ .path }} as $$
begin
  if octet_length(words) = length(words) then
    return regexp_replace(words, '-(?=[0-9])', ' ', 'g');
  end if;
  return regexp_replace(
    regexp_replace({{ .schema }}.aw_letters(words),
      '[\u00a0-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u060c\u061b\u061f\u06d4\u0964\u0965\u2000-\u206f\u2212\u3000-\u3004\u3007-\u3030\uff00-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff5b-\uff65]',
      ' ', 'g'),
    '-(?=[0-9])', ' ', 'g');
end $$;

-- aw_pairs are the pairs of neighbouring characters, in order, of the runs of scripts without spaces: Thai, Lao,
-- Burmese, Khmer, Kana, Han, Hangul. A run of one character is a term itself.
create or replace function {{ .schema }}.aw_pairs(words text) returns tsvector
language plpgsql immutable parallel safe set search_path = {{ .path }} as $$
begin
  return (
    select coalesce(string_agg('''' || substr(r.run, i, 2) || ''':' || least(r.before + i, 16383), ' '), '')::tsvector
    from (select m.run[1] as run, m.n,
                 sum(length(m.run[1])) over (order by m.n) - length(m.run[1]) as before
          from regexp_matches(words, '([{{ .unspaced }}]+)', 'g')
               with ordinality m(run, n)) r,
      generate_series(1, greatest(length(r.run) - 1, 1)) i);
end $$;

-- aw_terms_of are the terms of a text. Most texts are ASCII: they have neither pairs nor any sign that aw_plain replaces
-- except dashes.
create or replace function {{ .schema }}.aw_terms_of(config regconfig, words text) returns tsvector
language plpgsql stable parallel safe set search_path = {{ .path }} as $$
declare
  v_plain text;
begin
  if octet_length(words) = length(words) then
    return to_tsvector(config, regexp_replace(words, '-(?=[0-9])', ' ', 'g'));
  end if;
  v_plain := {{ .schema }}.aw_plain(words);
  if v_plain !~ '[{{ .unspaced }}]' then
    return to_tsvector(config, v_plain);
  end if;
  return to_tsvector(config, regexp_replace(v_plain,
           '[{{ .unspaced }}]+', ' ', 'g'))
    || {{ .schema }}.aw_pairs(v_plain);
end $$;

-- aw_spoken is the language of a chunk, ISO 639-1: its own, or that of its document; empty: undetermined.
create or replace function {{ .schema }}.aw_spoken(language text, of_document text) returns text
language sql immutable
return coalesce(nullif(nullif(split_part(coalesce(nullif(language, 'und'), of_document), '-', 1), 'und'), ''), '');

-- aw_make_terms makes the terms of chunks of one version of each document: of their headings, the context that a model
-- wrote, and their content. of_documents are the documents' languages. "first" and "most": only of the chunks at the
-- positions from "first" on, at most "most" of them, and marked with their version; null: of all. It returns the number
-- of chunks.
create or replace function {{ .schema }}.aw_make_terms(
  client text, documents uuid[], numbers integer[], of_documents text[], first integer, most integer
) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_count integer;
begin
  -- Materialized: otherwise each use of a column computes it again, and the terms are by far the largest part.
  with spoken as materialized (
    select c.id, c.document_id, c.version, c.heading_path, concat(c.context || E'\n', c.content) as content,
           {{ .schema }}.aw_spoken(c.language, d.language) as language
    from unnest(documents, numbers, of_documents) d(id, version, language)
    join {{ .schema }}.document_chunks c on c.client_id = client and c.document_id = d.id and c.version = d.version
    where c.position >= coalesce(first, 0) and c.position < coalesce(first + most, 2147483647)
  ), configs as materialized (
    select l.language, {{ .schema }}.aw_text_config(l.language) as config
    from (select distinct s.language from spoken s) l
  ), made as materialized (
    select s.id, s.document_id, s.version, s.language,
           {{ .schema }}.aw_terms_of(l.config, array_to_string(s.heading_path, ' ') || E'\n' || s.content) as terms
    from spoken s join configs l on l.language = s.language
  )
  insert into {{ .schema }}.chunk_terms (client_id, chunk_id, document_id, version, language, words, terms)
  select client, m.id, m.document_id, case when first is not null then m.version end, m.language,
         (select coalesce(sum(cardinality(u.positions)), 0) from unnest(m.terms) u(lexeme, positions, weights)), m.terms
  from made m;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- aw_index_all_terms makes the terms of documents' active versions, in place of those of earlier ones. For many documents
-- at once the counts change once a term, and not once a term and document. It returns the number of chunks.
create or replace function {{ .schema }}.aw_index_all_terms(client text, ids uuid[]) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_had uuid[];
  v_count integer;
begin
  v_had := array(select d.id from {{ .schema }}.documents d
    where d.client_id = client and d.id = any (ids)
      and (d.terms_version is not null or exists (
        select from {{ .schema }}.document_versions v
        where v.client_id = client and v.document_id = d.id and v.version = d.active_version and v.terms_staged)));
  if v_had <> '{}' then
    delete from {{ .schema }}.chunk_terms t
      where t.client_id = client and t.chunk_id in (
        select c.id from {{ .schema }}.documents d
        join {{ .schema }}.document_chunks c
          on c.client_id = d.client_id and c.document_id = d.id and c.version = d.active_version
        where d.client_id = client and d.id = any (v_had));
  end if;
  v_count := (
    select {{ .schema }}.aw_make_terms(
      client, array_agg(d.id), array_agg(d.active_version), array_agg(d.language), null::integer, null::integer)
    from {{ .schema }}.documents d where d.client_id = client and d.id = any (ids));
  update {{ .schema }}.documents d set terms_version = d.active_version, terms_renewed = -1
    where d.client_id = client and d.id = any (ids);
  return v_count;
end $$;

-- aw_index_terms is aw_index_all_terms for one document.
create or replace function {{ .schema }}.aw_index_terms(client text, document uuid) returns void
language plpgsql set search_path = {{ .path }} as $$
begin
  perform {{ .schema }}.aw_index_all_terms(client, array[document]);
end $$;

-- aw_index_part makes the terms of the chunks of one version that are at the positions from "first" on, at most "most" of
-- them, in place of those that they have.
create or replace function {{ .schema }}.aw_index_part(
  client text, document uuid, number integer, of_document text, first integer, most integer
) returns void
language plpgsql set search_path = {{ .path }} as $$
begin
  delete from {{ .schema }}.chunk_terms t
    where t.client_id = client and t.chunk_id in (
      select c.id from {{ .schema }}.document_chunks c
      where c.client_id = client and c.document_id = document and c.version = number
        and c.position >= first and c.position < first + most);
  perform {{ .schema }}.aw_make_terms(client, array[document], array[number], array[of_document], first, most);
end $$;

-- aw_stage_terms makes the terms of the chunks of a staged version that are at the positions from p.from on, at most
-- p.limit. p.language is what the document's will be. Repeated, it changes nothing.
create or replace function {{ .schema }}.aw_stage_terms(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  j {{ .schema }}.jobs := {{ .schema }}.aw_lock_for_staging(p);
  v {{ .schema }}.document_versions :=
    {{ .schema }}.aw_lock_staged_version(j, (p ->> 'document_id')::uuid, (p ->> 'version')::int, true);
begin
  update {{ .schema }}.document_versions s set terms_staged = true, terms_renewed = true
    where s.client_id = j.client_id and s.document_id = v.document_id and s.version = v.version
      and s.terms_staged is null;
  perform {{ .schema }}.aw_index_part(j.client_id, v.document_id, v.version, nullif(p ->> 'language', ''),
    greatest((p ->> 'from')::int, 0), least(greatest((p ->> 'limit')::int, 1), 5000));
  return '{}';
end $$;

-- aw_take_staged_terms takes over the terms of a version that is active now, all made by aw_stage_terms.
create or replace function {{ .schema }}.aw_take_staged_terms(d {{ .schema }}.documents, number integer, most integer) returns void
language plpgsql set search_path = {{ .path }} as $$
declare
  v_count integer;
begin
  select count(*) into v_count
    from {{ .schema }}.document_chunks c
    join {{ .schema }}.chunk_terms t on t.client_id = c.client_id and t.chunk_id = c.id
    where c.client_id = d.client_id and c.document_id = d.id and c.version = number;
  if v_count <> most then
    raise exception 'version % of document % has terms for % of % chunks', number, d.id, v_count, most
      using errcode = 'AW008';
  end if;
  update {{ .schema }}.documents u set terms_version = number, terms_renewed = (
      select case when v.terms_renewed then -1 end from {{ .schema }}.document_versions v
      where v.client_id = d.client_id and v.document_id = d.id and v.version = number)
    where u.client_id = d.client_id and u.id = d.id;
end $$;

-- aw_fill_terms indexes documents that have no terms yet, until they have "most" chunks; one that has more is indexed in
-- parts. Those that a job has locked are left to it, or to the next call.
create or replace function {{ .schema }}.aw_fill_terms(client text, most integer) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  d {{ .schema }}.documents;
  v_last uuid := '00000000-0000-0000-0000-000000000000';
  v_chunks integer;
  v_first integer;
  v_ids uuid[] := '{}';
  v_count integer := 0;
begin
  while v_count < most loop
    select * into d from {{ .schema }}.documents x
      where x.client_id = client and x.active_version is not null and x.terms_version is distinct from x.active_version
        and x.id > v_last
      order by x.id limit 1 for update skip locked;
    exit when not found;
    v_last := d.id;
    select count(*) into v_chunks from {{ .schema }}.document_chunks c
      where c.client_id = client and c.document_id = v_last and c.version = d.active_version;
    v_first := (
      select c.position from {{ .schema }}.document_chunks c
      where c.client_id = client and c.document_id = v_last and c.version = d.active_version
        and not exists (select from {{ .schema }}.chunk_terms t where t.client_id = client and t.chunk_id = c.id)
      order by c.position limit 1);
    if v_chunks <= most and (v_chunks = 0 or v_first = 0) then
      v_ids := v_ids || v_last;
      v_count := v_count + greatest(v_chunks, 1);
      continue;
    end if;
    if v_ids <> '{}' then -- it has a call of its own
      v_count := most;
      exit;
    end if;
    if v_first is not null then
      perform {{ .schema }}.aw_index_part(client, v_last, d.active_version, d.language, v_first, most);
    end if;
    if coalesce(v_chunks - v_first, 0) <= most then
      update {{ .schema }}.documents u set terms_version = d.active_version where u.client_id = client and u.id = v_last; -- parts may be older
    end if;
    return most; -- there may be more to do
  end loop;
  perform {{ .schema }}.aw_index_all_terms(client, v_ids) where v_ids <> '{}';
  return v_count;
end $$;

-- aw_take_part locks a part of a client's counts until the transaction ends. It never waits.
create or replace function {{ .schema }}.aw_take_part(client text) returns integer
language plpgsql set search_path = {{ .path }} as $$
declare
  v_part integer;
begin
  loop
    select p.part into v_part from {{ .schema }}.term_parts p
      where p.client_id = client order by p.part limit 1 for update skip locked;
    if found then
      return v_part;
    end if;
    -- By chance: an insert of the number that another one takes at this moment would wait.
    insert into {{ .schema }}.term_parts (client_id, part) values (client, trunc(random() * 2147483647)::integer)
      on conflict do nothing;
  end loop;
end $$;

-- aw_count_terms adds the changes of chunk_terms to the counts, in the same statement, whoever makes them.
create or replace function {{ .schema }}.aw_count_terms() returns trigger
language plpgsql set search_path = {{ .path }} as $$
declare
  v_sign integer := case tg_op when 'INSERT' then 1 else -1 end;
  v_client text;
  v_part integer;
  v_none text[]; -- the terms that are counted zero times now
begin
  for v_client in select distinct c.client_id from changed c loop
    v_part := {{ .schema }}.aw_take_part(v_client);
    with counted as (
      insert into {{ .schema }}.term_counts as o (client_id, term, part, chunks)
      select v_client, t.term, v_part, v_sign * count(*)
      from changed c, unnest(tsvector_to_array(c.terms)) t(term) where c.client_id = v_client group by t.term
      on conflict (term, client_id, part) do update set chunks = o.chunks + excluded.chunks
      returning o.term, o.chunks)
    select array_agg(x.term) into v_none from counted x where x.chunks = 0;
    insert into {{ .schema }}.term_totals as o (client_id, language, part, chunks, words)
    select v_client, c.language, v_part, v_sign * count(*), v_sign * sum(c.words)
    from changed c where c.client_id = v_client group by c.language
    on conflict (language, client_id, part) do update
      set chunks = o.chunks + excluded.chunks, words = o.words + excluded.words;
    if v_sign < 0 then
      delete from {{ .schema }}.term_counts o
      where o.client_id = v_client and o.part = v_part and o.term = any (v_none);
    end if;
  end loop;
  return null;
end $$;

-- aw_drop_terms removes the terms of removed chunks.
create or replace function {{ .schema }}.aw_drop_terms() returns trigger
language plpgsql set search_path = {{ .path }} as $$
begin
  delete from {{ .schema }}.chunk_terms t using changed c where t.client_id = c.client_id and t.chunk_id = c.id;
  return null;
end $$;

do $$
begin
  if not exists (select from pg_trigger where tgrelid = '{{ .schema }}.chunk_terms'::regclass and tgname = 'count_added') then
    create trigger count_added after insert on {{ .schema }}.chunk_terms referencing new table as changed
      for each statement execute function {{ .schema }}.aw_count_terms();
    create trigger count_removed after delete on {{ .schema }}.chunk_terms referencing old table as changed
      for each statement execute function {{ .schema }}.aw_count_terms();
  end if;
  if not exists (select from pg_trigger where tgrelid = '{{ .schema }}.document_chunks'::regclass and tgname = 'drop_terms') then
    create trigger drop_terms after delete on {{ .schema }}.document_chunks referencing old table as changed
      for each statement execute function {{ .schema }}.aw_drop_terms();
  end if;
end $$;
