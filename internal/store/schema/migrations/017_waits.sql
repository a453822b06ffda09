-- How often a series of a job was given back because a service was down, and since when it waits: both are bounded,
-- so that every accepted task ends (I11).
set local search_path = {{ .schema }}, extensions, public;

alter table jobs add column releases integer not null default 0;
alter table jobs add column waiting_since timestamptz;
