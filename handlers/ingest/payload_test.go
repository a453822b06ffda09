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
			"a value of the type array); " + kinds,
		`{"filename":"a","document_set":"s","metadata":"m"}`: "payload has a field of the wrong type (metadata has " +
			"a value of the type string); " + kinds,
		`{"document_set":"s","source_uri":"http://h/a?key=s3cret"}`:                                        `payload.source_uri has the scheme "http"; give blob:NAME or an https address`,
		`{"document_set":"s","source_uri":"https://me:s3cret@h/a"}`:                                        "payload.source_uri has a user name in it; give an address that needs no login, e.g. a signed one",
		`{"document_set":"s","source_uri":"blob:../a"}`:                                                    `payload.source_uri is refused: the blob name "../a" contains ".." as a folder; names can't leave the container`,
		`{"document_set":"s","source_uri":"blob:a","blob":"a"}`:                                            "payload.source_uri is given with payload.blob; give one of them",
		`{"document_set":"s","source_uri":"https://h/a","delete":true}`:                                    "payload.filename is missing; name the document that is to be deleted",
		`{"document_set":"s","prefix":"a/","filename":"b"}`:                                                "payload.filename is given with payload.prefix; leave one of them out",
		`{"document_set":"s","prefix":"a/","delete":true}`:                                                 "payload.delete is given with payload.prefix; delete_missing deletes documents whose blobs are gone",
		`{"document_set":"s","prefix":"../a"}`:                                                             `payload.prefix can't begin the name of a blob: it has a control character, a backslash or ".." in it, or begins with "/"`,
		`{"prefix":"a/"}`:                                                                                  "payload.document_set is missing; name the set that the document belongs to",
		`{"document_set":"s","filename":"a","delete_missing":true}`:                                        "payload.delete_missing is true, and there is no prefix; name one in payload.prefix",
		`{"document_set":"s","filename":"a","only_missing":true}`:                                          "payload.only_missing is true, and delete is not; send delete, too, or leave it out",
		`{"document_set":"s","filename":"a","source_uri":"https://h/a","delete":true,"only_missing":true}`: "payload.only_missing is true, and the document is not a blob; leave it out to delete the document in any case",
	} {
		_, err := readPayload(json.RawMessage(raw))
		if got := taskerr.Classify(err); got.Class != taskerr.ValidationError || got.Message != want {
			t.Errorf("%s:\ngot  %s: %s\nwant %s", raw, got.Class, got.Message, want)
		}
	}
}

// A document has the name that the task gives it, or that of its blob; of an address only the server knows it.
func TestPayloadSources(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]string{
		`{"document_set":"s","filename":"a"}`:                                          {"a", "a"},
		`{"document_set":"s","filename":"a","blob":"b"}`:                               {"a", "b"},
		`{"document_set":"s","blob":"b","source_uri":"","filename":"a"}`:               {"a", "b"},
		`{"document_set":"s","source_uri":"blob:in/b"}`:                                {"in/b", "in/b"},
		`{"document_set":"s","source_uri":"blob:in/b","filename":"a"}`:                 {"a", "in/b"},
		`{"document_set":"s","source_uri":"https://h/d/a.pdf"}`:                        {"", "https://h/d/a.pdf"},
		`{"document_set":"s","source_uri":"https://h/d/a.pdf","filename":"b"}`:         {"b", "https://h/d/a.pdf"},
		`{"document_set":"s","source_uri":"https://h/a","filename":"b","delete":true}`: {"b", "https://h/a"},
		`{"document_set":"s","prefix":""}`:                                             {"", ""},
	} {
		p, err := readPayload(json.RawMessage(raw))
		if err != nil || p.Filename != want[0] || p.Blob != want[1] {
			t.Errorf("%s: %q from %q, %v", raw, p.Filename, p.Blob, err)
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
