// Package reindex measures the cost of ingesting a document again, and compares it with the promise: of a document
// of 100 pages, only the surroundings of an edit are embedded again. It generates prose, which goes through the
// whole of ingest: a bucket, the extractors, Postgres. Its tests and `make bench ONLY=reindex` share it.
package reindex
