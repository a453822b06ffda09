-- How often a series of a job was given back because a service was down, and since when it waits: both are bounded,
-- so that every accepted task ends (I11).
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- Without a value for the rows that are there. With one the functions that take a row would have to go first, and until
-- all are renewed the workers of the version before could not record what they did.
alter table {{ .schema }}.jobs add column releases integer; -- null is 0
alter table {{ .schema }}.jobs add column waiting_since timestamptz;
