-- The client comes first: until now the name of a queue had to imply it, and versions before 050 let a client create a queue
-- of any name and fill it (functions/56_queue.sql). What a tenant has put into a queue of another's name is not read past by
-- that one's receives (I10), and need not be removed. The indexes of 047 are dropped in functions/99_retired.sql, for the
-- reasons given there.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create index aw_queue_messages_unreceived on {{ .schema }}.aw_queue_messages (client_id, queue, visible_at)
  where receipt is null;
create index aw_queue_messages_received on {{ .schema }}.aw_queue_messages (client_id, queue, visible_at)
  where receipt is not null;
