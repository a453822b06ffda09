-- The sweep also sends messages of jobs that ran before: aw_sweep takes the place of aw_unsent.
set local search_path = {{ .schema }}, extensions, public;

drop function if exists aw_unsent(jsonb);

drop index jobs_unsent;
create index jobs_unsent on jobs (created_at, client_id) where message is not null and sent_at is null;
