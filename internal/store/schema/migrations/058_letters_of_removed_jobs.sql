-- Dead letters whose job was removed: another job of that id begins with series 1 again, and could not fail, as there was one of
-- that series. aw_expire_jobs takes the series away since (functions/72_retention.sql). Only letters that were replayed lost their
-- jobs, and a job that was recorded after the letter is another one.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

do $$
declare
  -- An owner that does not bypass row-level security sees no row, of either table: it would be taken for removed.
  v_blind boolean := row_security_active('{{ .schema }}.jobs');
begin
  if v_blind then
    alter table {{ .schema }}.jobs no force row level security;
    alter table {{ .schema }}.dead_letters no force row level security;
  end if;
  update {{ .schema }}.dead_letters l set series = null
  where l.series is not null and l.replayed_at is not null
    and not exists (select from {{ .schema }}.jobs j
                    where j.client_id = l.client_id and j.id = l.job_id and j.created_at <= l.created_at);
  if v_blind then
    alter table {{ .schema }}.jobs force row level security;
    alter table {{ .schema }}.dead_letters force row level security;
  end if;
end $$;
