package ingest

import (
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Errors of a payload are sentences for its sender.
func TestPayloadProblems(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"document_set":"s"}`:                            "payload.filename is missing; name the document",
		`{"filename":"../a","document_set":"s"}`:          `payload.filename is refused: the blob name "../a" contains ".." as a folder; names can't leave the container`,
		`{"filename":"a","document_set":"s","blob":"/b"}`: `payload.blob is refused: the blob name "/b" starts with "/"; names are relative to the container`,
		`{"Filename":"a","document_set":"s"}`:             "payload.filename is missing; name the document",
		`{"filename":"a"}`: "payload.document_set is missing; name the set that " +
			"the document belongs to",
		`{"filename":"a","document_set":" s"}`: "payload.document_set begins or ends with white space",
		`{"filename":[],"document_set":"s"}`: "payload has a field of the wrong type (filename has " +
			"a value of the type array); filename, document_set and blob are strings, metadata is an object, delete " +
			"and purge are true or false",
		`{"filename":"a","document_set":"s","metadata":"m"}`: "payload has a field of the wrong type (metadata has " +
			"a value of the type string); filename, document_set and blob are strings, metadata is an object, " +
			"delete and purge are true or false",
	} {
		_, err := readPayload(json.RawMessage(raw))
		if got := taskerr.Classify(err); got.Class != taskerr.ValidationError || got.Message != want {
			t.Errorf("%s:\ngot  %s: %s\nwant %s", raw, got.Class, got.Message, want)
		}
	}
}

// Unknown fields are ignored, however similar to known ones.
func TestPayloadOfExactNames(t *testing.T) {
	t.Parallel()
	p, err := readPayload(json.RawMessage(
		`{"filename":"a","document_set":"s","metadata":{"Filename":1},"FILENAME":5,"Blob":"other","zoom":{}}`))
	if err != nil || p.Filename != "a" || p.Blob != "a" || len(p.Metadata) != 1 {
		t.Errorf("got %+v, %v", p, err)
	}
}
