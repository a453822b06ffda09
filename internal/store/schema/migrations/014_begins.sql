-- Which request began the last attempt: one that was never answered is not counted, see aw_begin.
set local search_path = {{ .schema }}, extensions, public;

alter table jobs add column begin_id text;
