// Package reindex measures what it costs to ingest a document again, and holds that against what is promised: of
// a document of 100 pages, only the surroundings of an edit are embedded again. The documents are made here, of
// prose, and go through the whole of ingest: a bucket, the extractors, Postgres. Its tests and `make bench
// ONLY=reindex` share it.
package reindex
