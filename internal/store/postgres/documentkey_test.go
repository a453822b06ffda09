package postgres_test

import (
	"crypto/md5"
	"encoding/hex"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestDocumentKey: the key of a document is the same in each version of the worker, as rows keep it, and an empty name or
// a null is no name.
func TestDocumentKey(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.PostgresWith(t, schema.Options{Dimensions: searchDimensions}))
	for _, c := range []struct{ kind, payload, hashed string }{
		{"ingest", `{"document_set":"s","filename":"a.pdf"}`, `["ingest", "s", null, "a.pdf"]`},
		{"ingest", `{"document_set":"s","filename":"a.pdf","blob":"b","source_uri":"https://h/c"}`, `["ingest", "s", null, "a.pdf"]`},
		{"ingest", `{"document_set":"s","source_uri":"blob:in/a.pdf"}`, `["ingest", "s", null, "in/a.pdf"]`},
		{"ingest", `{"document_set":"s","prefix":""}`, `["ingest", "s", null, ""]`},
		{"convert", `{"filename":"ä \"b\".pdf"}`, `["convert", null, null, "ä \"b\".pdf"]`},
		{"convert", `{"blob":"in/a.pdf","source_uri":""}`, `["convert", null, null, "in/a.pdf"]`},
		{"convert", `{"source_uri":"https://h/a?b=c"}`, `["convert", null, null, "https://h/a?b=c"]`},
		{"convert", `{"filename":"","source_uri":"https://h/a"}`, `["convert", null, null, "https://h/a"]`},
		{"convert", `{"filename":null,"blob":"","source_uri":"https://h/a"}`, `["convert", null, null, "https://h/a"]`},
		{"convert", `{"filename":"","blob":null,"source_uri":"blob:a"}`, `["convert", null, null, "a"]`},
		{"export", `{"deck_id":"d"}`, `["export", null, "d", null]`},
		{"export", `{}`, `["export", null, null, null]`},
		{"summarize", `{"filename":"a.pdf"}`, ""},
	} {
		var key *string
		if err := conn.QueryRow(t.Context(), "select aw_document_key($1, $2)", c.kind, c.payload).Scan(&key); err != nil {
			t.Fatal(err)
		}
		sum := md5.Sum([]byte(c.hashed))
		if want := hex.EncodeToString(sum[:]); (key != nil) != (c.hashed != "") || key != nil && *key != want {
			t.Errorf("%s %s: its key is not the hash of %s", c.kind, c.payload, c.hashed)
		}
	}
}
