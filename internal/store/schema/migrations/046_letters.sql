-- Terms have one form of each letter and digit since aw_letters (functions/05_session.sql). The upkeep makes those of
-- documents from before again, where they differ, while searches go on with those that there are (aw_renew_terms in
-- functions/61_renewal.sql). Columns without a default: no row is rewritten.
set local search_path = pg_catalog, pg_temp; -- see 05_session.sql: nothing that others made is found without its schema

-- The terms of the chunks of the active version before this position are those of the present rules; -1: all are; null:
-- it is not known of any.
alter table {{ .schema }}.documents add column terms_renewed integer;
create index documents_to_renew on {{ .schema }}.documents (client_id, id)
  where active_version is not null and terms_renewed is distinct from -1;

-- The terms of this staged version were all made by the present rules; null: it is not known.
alter table {{ .schema }}.document_versions add column terms_renewed boolean;
