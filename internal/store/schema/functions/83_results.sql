-- What jobs have made, and how many there are, for people and frontends.

-- aw_result is the row of a result: p.kind is summary, agent_run, derived_content, deck or llm_check, p.id its id.
create or replace function {{ .schema }}.aw_result(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} set timezone = 'UTC' as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
  v_id uuid := ({{ .schema }}.aw_uuids(jsonb_build_array(p -> 'id'), 1))[1];
  v_row jsonb;
begin
  case p ->> 'kind'
    when 'summary' then
      select to_jsonb(s) into v_row from {{ .schema }}.summaries s where s.client_id = v_client and s.id = v_id;
    when 'agent_run' then
      select to_jsonb(a) into v_row from {{ .schema }}.agent_runs a where a.client_id = v_client and a.id = v_id;
    when 'derived_content' then
      select to_jsonb(d) into v_row from {{ .schema }}.derived_contents d where d.client_id = v_client and d.id = v_id;
    when 'deck' then
      select to_jsonb(d) into v_row from {{ .schema }}.decks d where d.client_id = v_client and d.id = v_id;
    when 'llm_check' then
      select to_jsonb(c) into v_row from {{ .schema }}.llm_checks c where c.client_id = v_client and c.id = v_id;
    else
      raise exception 'there is no kind of results %', left(p ->> 'kind', 40) using errcode = 'AW006';
  end case;
  if v_row is null then
    raise exception 'there is no % with this id', replace(p ->> 'kind', '_', ' ') using errcode = 'AW002';
  end if;
  return v_row;
end $$;

-- aw_stats counts jobs by type and status: the active ones, and those made within p.within_ms that have
-- ended.
create or replace function {{ .schema }}.aw_stats(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  return coalesce((
    select jsonb_agg(jsonb_build_object('type', x.type, 'status', x.status, 'jobs', x.jobs) order by x.type, x.status)
    from (select j.type, j.status, count(*) as jobs from (
            select o.type, o.status from {{ .schema }}.jobs o
            where o.client_id = v_client and o.status in ('pending', 'running')
            union all
            select o.type, o.status from {{ .schema }}.jobs o
            where o.client_id = v_client and o.status in ('succeeded', 'failed', 'canceled')
              and o.created_at > clock_timestamp() - {{ .schema }}.aw_interval(p -> 'within_ms')) j
          group by j.type, j.status) x), '[]');
end $$;
