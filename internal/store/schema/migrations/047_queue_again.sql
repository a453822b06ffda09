-- Messages that somebody holds, or held, have an index of their own: what a dead worker held is received before what
-- waits for the first time (functions/56_queue.sql). A message is in one of the two, so that one costs as much to write
-- as the one index of before. That one is dropped with the functions that read it (functions/99_retired.sql): a receive
-- between the two would sort the whole queue, and a drop here would deadlock with who sends.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

create index aw_queue_messages_waiting on {{ .schema }}.aw_queue_messages (queue, visible_at) where receipt is null;
create index aw_queue_messages_held on {{ .schema }}.aw_queue_messages (queue, visible_at) where receipt is not null;
