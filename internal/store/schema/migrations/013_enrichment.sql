-- What was found out about a document: its language, outline, properties, and what personal data were met.
set local search_path = {{ .schema }}, extensions, public;

alter table documents
  add column language      text,  -- ISO 639-1 or a BCP 47 tag; und: it can't be told; null: not looked for yet
  add column outline       jsonb, -- headings in reading order: [{level, text, page, chunk}]
  add column properties    jsonb, -- {author, keywords, producer, created, …}, and how title and language were found
  add column personal_data jsonb; -- {mode, detector, found: {kind: count}}; null: not looked for

alter table document_chunks add column language text; -- ISO 639-1; null: it can't be told from the chunk alone
