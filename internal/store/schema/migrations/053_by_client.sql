-- Indexes with the client first, so that a tenant's lists and polls read its own entries alone: in an index that has the client
-- last they read the entries of all tenants. Each has a condition that only the queries it is for imply. Else the planner could
-- take it for the client's row of an id, and read all of a client that it believes to be small. Their predecessors are dropped in
-- functions/99_retired.sql, for the reasons given there. The tables are in the order in which a commit locks them.
-- "if not exists": in a large database they are built before, without a lock (docs/database.md).
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- One whose build was cut off is there, but no query uses it.
do $$
declare
  v_index regclass;
begin
  for v_index in
    select x.indexrelid from pg_index x join pg_class c on c.oid = x.indexrelid
    where not x.indisvalid and c.relname in ('jobs_newest', 'jobs_ended', 'agent_runs_citing', 'cognee_documents_next',
      'cognee_documents_waiting', 'cognee_documents_left')
      and x.indrelid in ('{{ .schema }}.jobs'::regclass, '{{ .schema }}.agent_runs'::regclass,
        '{{ .schema }}.cognee_documents'::regclass)
  loop
    if exists (select from pg_stat_progress_create_index b where b.index_relid = v_index) then
      raise exception 'the index % is being built: run migrate again when it is done', v_index;
    end if;
    execute format('drop index %s', v_index);
  end loop;
end $$;

-- That progress is 0 or more is always true.
create index if not exists jobs_newest on {{ .schema }}.jobs (client_id, created_at desc) where progress >= 0;
create index if not exists jobs_ended on {{ .schema }}.jobs (client_id, completed_at) include (status, series_started_at)
  where completed_at is not null and progress >= 0;
-- No index tells which answers cite a document: @> is not leakproof, so row-level security comes before it.
create index if not exists agent_runs_citing on {{ .schema }}.agent_runs (client_id) where citations <> '[]';
create index if not exists cognee_documents_next on {{ .schema }}.cognee_documents (client_id, next_attempt_at)
  where status = 'pending';
create index if not exists cognee_documents_waiting on {{ .schema }}.cognee_documents (client_id, document_set)
  where status = 'pending';
create index if not exists cognee_documents_left on {{ .schema }}.cognee_documents (client_id, status)
  where status in ('refused', 'failed');
