-- Summaries, and the model's answers that they are made of. An answer is kept under the hash of all that it depends
-- on: any attempt, job or version of a document with the same question takes it from here.

-- aw_series is the current series of a job.
create or replace function {{ .schema }}.aw_series(client text, job text) returns integer
language plpgsql stable set search_path = {{ .path }} as $$
begin
  return coalesce((select j.series from {{ .schema }}.jobs j where j.client_id = client and j.id = job), 1);
end $$;

-- aw_partials_get returns the kept answers for p.keys; own: p.job_id has paid for it in its current series. With
-- p.own_only it returns no others: the task is to be done again, and only its own retries may reuse answers.
create or replace function {{ .schema }}.aw_partials_get(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_job text := p ->> 'job_id';
  v_series integer := {{ .schema }}.aw_series(v_client, v_job);
  v_own_only boolean := coalesce((p ->> 'own_only')::boolean, false);
  v_keys text[] := array(select jsonb_array_elements_text(p -> 'keys') limit 1000);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('key', a.key, 'answer', a.answer, 'prompt_tokens', a.prompt_tokens,
                                        'completion_tokens', a.completion_tokens, 'own', a.own) order by a.key)
    from (select x.*, x.job_id = v_job and x.series = v_series as own
          from {{ .schema }}.partials x where x.client_id = v_client and x.key = any (v_keys)) a
    where a.own or not v_own_only), '[]');
end $$;

-- aw_partials_put stores answers, and replaces those that exist. It needs no fence: an answer is right for its key
-- whoever got it, and as it was paid for it is kept even if the job was lost meanwhile. Its filename and blob are those
-- of the document that it is about, whose deletion removes it; null: those of aw_file_of.
create or replace function {{ .schema }}.aw_partials_put(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_job text := p ->> 'job_id';
  v_series integer := {{ .schema }}.aw_series(v_client, v_job);
  v_filename text;
  v_blob text;
  v_written integer;
begin
  select f.filename, f.blob into v_filename, v_blob
    from {{ .schema }}.jobs j cross join lateral {{ .schema }}.aw_file_of(j) f
    where j.client_id = v_client and j.id = v_job;
  insert into {{ .schema }}.partials (
    client_id, key, answer, prompt_tokens, completion_tokens, job_id, series, filename, blob)
  select distinct on (x.key) v_client, x.key, x.answer, x.prompt_tokens, x.completion_tokens, v_job, v_series,
         coalesce(x.filename, v_filename), coalesce(x.blob, v_blob)
  from jsonb_to_recordset(p -> 'partials') as x(
    key text, answer jsonb, prompt_tokens bigint, completion_tokens bigint, filename text, blob text)
  order by x.key
  on conflict (key, client_id) do update set answer = excluded.answer, prompt_tokens = excluded.prompt_tokens,
    completion_tokens = excluded.completion_tokens, job_id = excluded.job_id, series = excluded.series,
    filename = excluded.filename, blob = excluded.blob, created_at = clock_timestamp();
  get diagnostics v_written = row_count;
  return jsonb_build_object('written', v_written);
end $$;

-- aw_expire_partials removes answers older than older_than_ms, the oldest first, at most limit of them.
create or replace function {{ .schema }}.aw_expire_partials(p jsonb) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_before timestamptz := clock_timestamp() - {{ .schema }}.aw_interval(p -> 'older_than_ms');
  v_limit integer := least((p ->> 'limit')::int, 10000);
  v_removed integer;
begin
  with old as materialized (
    select o.key from {{ .schema }}.partials o where o.client_id = v_client and o.created_at < v_before
    order by o.created_at limit v_limit for update skip locked)
  delete from {{ .schema }}.partials x using old where x.client_id = v_client and x.key = old.key;
  get diagnostics v_removed = row_count;
  return jsonb_build_object('removed', v_removed);
end $$;

-- The effect save_summary. requested_by is that of the job's row.
create or replace function {{ .schema }}.aw_effect_save_summary(
  client text, job text, fence bigint, args jsonb
) returns jsonb
language plpgsql set search_path = {{ .path }} as $$
declare
  v_id uuid;
begin
  insert into {{ .schema }}.summaries (
    client_id, job_id, filename, blob, source_sha256, summary, key_points, model, style, language, max_words,
    extractive, unverified, left_out, prompt_tokens, completion_tokens, requested_by)
  values (client, job, args ->> 'filename', args ->> 'blob', args ->> 'source_sha256', args ->> 'summary',
          coalesce(nullif(args -> 'key_points', 'null'), '[]'), args ->> 'model', args ->> 'style',
          args ->> 'language',
          (args ->> 'max_words')::int, (args ->> 'extractive')::boolean, nullif(args -> 'unverified', 'null'),
          nullif(args -> 'left_out', 'null'), (args ->> 'prompt_tokens')::bigint,
          (args ->> 'completion_tokens')::bigint,
          (select j.requested_by from {{ .schema }}.jobs j where j.client_id = client and j.id = job))
  returning id into v_id;
  return jsonb_build_object('summary_id', v_id);
end $$;
