-- Derived contents have versions, and say what they were made of and how.
set local search_path = {{ .schema }}, extensions, public;

alter table derived_contents
  add column version         integer   not null default 1 check (version >= 1), -- of those of the source
  add column source_blob     text,
  add column source_sha256   text,      -- of the source's bytes, in hex
  add column recipe          text,      -- engine, languages, pages and options that made it
  add column mean_confidence real,      -- 0-1; null: the engine has none
  add column unread_pages    integer[] not null default '{}';

-- What was there before versions: in the order in which it came.
update derived_contents d set version = n.version
from (select client_id, id, row_number() over (partition by client_id, source_filename order by created_at, id) as version
      from derived_contents) n
where n.client_id = d.client_id and n.id = d.id and n.version > 1;

create unique index derived_contents_by_source on derived_contents (source_filename, version, client_id);
