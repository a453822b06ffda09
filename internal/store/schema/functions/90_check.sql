-- aw_check is what a worker needs to know to decide whether it can work with this schema and its key.
create or replace function {{ .schema }}.aw_check(p jsonb) returns jsonb
language plpgsql stable set search_path = {{ .path }} as $$
declare
  v_client text := {{ .schema }}.aw_tenant(p);
begin
  perform from {{ .schema }}.jobs where client_id = v_client limit 1;
  return jsonb_build_object('version', (select version from {{ .schema }}.aw_schema_version),
    'dimensions', (select atttypmod from pg_attribute
                   where attrelid = '{{ .schema }}.document_chunks'::regclass and attname = 'embedding'),
    'role', {{ .schema }}.aw_caller(), 'bound_to', {{ .schema }}.aw_bound(),
    'every_tenant', {{ .schema }}.aw_unbound());
end $$;
