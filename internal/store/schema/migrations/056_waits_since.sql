-- Since when a delivery waits for a receiver that is down, so that its wait counts from there, and not from its creation: the
-- time in which no worker ran, and the attempts before, are not the receiver's (functions/70_deliveries.sql).
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- null: it does not wait, or functions of before this migration made it wait. One that was given up keeps it.
alter table {{ .schema }}.webhook_deliveries add column waits_since timestamptz;

-- Those that wait have done so since the outage began, or since they were created in it. The literal: there may be no
-- aw_webhook_max_wait yet.
update {{ .schema }}.webhook_deliveries w set waits_since = s.since, next_attempt_at = s.since + interval '76 hours'
from (
  select d.client_id, d.id, greatest(d.created_at, o.since) as since
  from {{ .schema }}.webhook_deliveries d
  left join {{ .schema }}.webhook_outages o on o.client_id = d.client_id and o.receiver = d.waits_for
  where d.status = 'pending' and d.waits_for is not null) s
where w.client_id = s.client_id and w.id = s.id;
