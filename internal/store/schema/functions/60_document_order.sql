-- Tasks on one document that come back after a newer one: see aw_stage_document.

-- aw_active_version is the version of a document that readers see, as a store.ActiveVersion; null: there is none.
create or replace function {{ .schema }}.aw_active_version(d {{ .schema }}.documents) returns jsonb
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_generic_plan as $$
begin
  return (select jsonb_build_object(
      'version', v.version, 'content_sha256', v.content_sha256, 'pipeline', v.pipeline,
      'pages', v.pages, 'chunks', v.chunks, 'characters', v.characters, 'extractor', v.extractor,
      'text_sha256', v.text_sha256, 'format', v.format, 'blob', d.blob, 'source_etag', d.source_etag,
      'source_modified', d.source_modified, 'contexts', coalesce(v.contexts, 0),
      'warnings', v.warnings,
      'given_title', case when jsonb_typeof(d.metadata -> 'title') = 'string' then d.metadata ->> 'title' end)
    from {{ .schema }}.document_versions v
    where v.client_id = d.client_id and v.document_id = d.id and v.status = 'active');
end $$;

-- aw_of_queue reports whether the time at which a job's message was sent is of its queue's clock: it is before the row was
-- written, or a forced message's. Else it is of the database's. Null: not known, as the job was done again by hand.
create or replace function {{ .schema }}.aw_of_queue(j {{ .schema }}.jobs) returns boolean
language sql immutable
return case when j.first_queued_at is null then coalesce(j.queued_at < j.created_at, false) or j.series > 1 end;

-- aw_superseded reports whether a task whose message was sent after that of job j has made document d what it is: then j must
-- neither replace nor remove it. So it is with a job that tries again, or waited for a service, and let the newer one pass. The
-- messages must be a second apart, as some queues tell no more; if their times are of two clocks, a minute: doctor warns of
-- such as differ more from the machine's. A time to come is of a clock that was wrong. A task that a person has done again goes
-- on: queued_at, or created_at of a replay, is when that was requested.
create or replace function {{ .schema }}.aw_superseded(d {{ .schema }}.documents, j {{ .schema }}.jobs) returns boolean
language plpgsql stable set search_path = {{ .path }} set plan_cache_mode = force_generic_plan as $$
declare
  v_apart constant interval := d.task_sent_at - coalesce(j.queued_at, j.created_at);
begin
  if d.active_version is null or coalesce(v_apart < interval '1 second' or d.task_sent_at > clock_timestamp(), true) then
    return false;
  end if;
  return v_apart >= interval '1 minute' or coalesce({{ .schema }}.aw_of_queue(j) = (
    select {{ .schema }}.aw_of_queue(o) from {{ .schema }}.jobs o where o.client_id = d.client_id and o.id = d.task_job_id), false);
end $$;

-- aw_note_task records that job j has made document d what it is, or found it unchanged. A removal that found the blob there
-- has not read it. The newest message counts; of a task that was done again by hand, its first one: the file is as old as that.
-- A time to come doesn't. The caller has locked the document.
create or replace function {{ .schema }}.aw_note_task(d {{ .schema }}.documents, j {{ .schema }}.jobs) returns void
language plpgsql set search_path = {{ .path }} set plan_cache_mode = force_generic_plan as $$
declare
  v_sent timestamptz := coalesce(j.first_queued_at, j.queued_at, j.created_at);
begin
  if j.payload -> 'delete' = 'true' then
    return;
  end if;
  update {{ .schema }}.documents u set task_sent_at = v_sent, task_job_id = j.id
  where u.client_id = d.client_id and u.id = d.id
    and not coalesce(u.task_sent_at > v_sent and u.task_sent_at <= clock_timestamp(), false);
end $$;
