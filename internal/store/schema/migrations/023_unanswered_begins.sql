-- No table changes. The version tells a worker that the functions include aw_release_unanswered, which it calls.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema
