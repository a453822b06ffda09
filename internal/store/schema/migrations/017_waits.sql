-- How often a series of a job was given back because a service was down, and since when it waits: both are bounded,
-- so that every accepted task ends (I11).
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- As in 006: a table can't be rewritten while a function with a parsed body takes its rows.
do $$
declare
  f regprocedure;
begin
  for f in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = '{{ .schema }}'::regnamespace and p.proname like 'aw\_%' and p.prosqlbody is not null
      and exists (select from unnest(p.proargtypes) t join pg_class c on c.reltype = t and c.relkind = 'r')
  loop
    execute format('drop function %s', f);
  end loop;
end $$;

alter table {{ .schema }}.jobs add column releases integer not null default 0;
alter table {{ .schema }}.jobs add column waiting_since timestamptz;
