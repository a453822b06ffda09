-- Documents whose bytes come from elsewhere, the blobs of a prefix as jobs of their own, and the end of old rows.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- What a web server said of when the document was changed; null: it said nothing, or the document is a blob.
alter table {{ .schema }}.documents add column source_modified text;
-- By hash: the name of a blob may be longer than an entry of a btree.
create index documents_by_blob on {{ .schema }}.documents using hash (blob);
create index documents_in_order on {{ .schema }}.documents (document_set, id, client_id);

-- What the end of jobs looks at: see aw_expire_jobs.
create index jobs_without_events on {{ .schema }}.jobs (completed_at, id, client_id)
  where completed_at is not null and events_removed_to >= event_seq;
create index jobs_by_parent on {{ .schema }}.jobs (parent_job_id, client_id)
  where parent_job_id is not null and completed_at is null;
create index document_versions_active_by_job on {{ .schema }}.document_versions (job_id, client_id)
  where status = 'active';
