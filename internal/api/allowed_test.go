package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// located is a bucket whose blobs have addresses.
type located struct{ blob.Bucket }

func (located) Locate(address *url.URL) (string, bool, error) {
	name, found := strings.CutPrefix(address.Path, "/documents/")
	return name, found && address.Host == "store.example.org", nil
}

// Large messages are blobs, with whole webhook URLs in them: without the scope operate no job reads them, however its
// payload names them.
func TestSubmitCannotReadMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) {
		others := d.Check
		d.Bucket, d.Check = located{d.Bucket}, func(what task.Task) error {
			if what.Type == task.XML {
				return nil
			}
			return others(what)
		}
	})
	sets := 0
	for payload, forbidden := range map[string]bool{
		`"prefix":"tasks/"`:                            true,
		`"prefix":"tasks/job-"`:                        true,
		`"prefix":"Tasks/"`:                            true,
		`"prefix":"tas"`:                               false,
		`"prefix":""`:                                  false,
		`"filename":"tasks/a.json"`:                    true,
		`"filename":"tasks"`:                           false,
		`"filename":"tasks/a.json","blob":"in/a.json"`: false, // a name, of another blob
		`"filename":"tasks/a.json","source_uri":"blob:in/a.json"`:                   false,
		`"filename":"tasks/a.json","source_uri":"https://other.example.org/a.json"`: false,
		`"filename":"tasks/a.json","blob":""`:                                       true,
		`"filename":"tasks/a.json","source_uri":""`:                                 true,
		`"filename":"tasks/a.json","Blob":"in/a.json"`:                              true,
		`"filename":"in/a.json","blob":"tasks/a.json"`:                              true,
		`"blob":"tasks/a.json"`:                                                     true,
		`"blob":"tasks//a.json"`:                                                    true,
		`"blob":"t\u0061sks/a.json"`:                                                true,
		`"bl\u006fb":"TASKS/a.json"`:                                                true,
		`"blob":"in/tasks/a.json"`:                                                  false,
		`"source_uri":"blob:tasks/a.json"`:                                          true,
		`"source_uri":"blob:in/a.json"`:                                             false,
		`"source_uri":"https://store.example.org/documents/t%61sks%2Fa.json?sig=x"`: true,
		`"source_uri":"https://store.example.org/documents/in/a.json"`:              false,
		`"source_uri":"https://other.example.org/documents/tasks/a.json"`:           false,
	} {
		if !strings.Contains(payload, `"filename":`) && (strings.Contains(payload, `blob":`) || strings.Contains(payload, `bl\u006fb":`)) {
			payload += `,"filename":"a.json"`
		}
		for _, kind := range []string{"ingest", "ocr"} {
			if kind == "ocr" && strings.Contains(payload, "prefix") {
				continue
			}
			sets++ // each job's document is another one
			body := fmt.Sprintf(`{"type":%q,"payload":{"document_set":"s%d",%s}}`, kind, sets, payload)
			r := b.ask("POST", "/v1/jobs", body, "Authorization", "Bearer "+b.tokens["submit"])
			if !forbidden {
				b.want(r, http.StatusCreated, "")
				continue
			}
			if b.want(r, http.StatusForbidden, "FORBIDDEN"); !strings.Contains(r.field("detail"), "messages of other jobs") {
				t.Errorf("%s: %s", payload, r.text)
			}
			b.submitted(body) // by an operator
		}
	}
	for _, body := range []string{
		`{"type":"ocr","payload":{"filename":"a","blob":"b","template":"tasks/a.json"}}`,
		`{"type":"xml","payload":{"filename":"tasks/a.json","blob":"b"}}`, // xml has no blob
	} {
		b.want(b.ask("POST", "/v1/jobs", body, "Authorization", "Bearer "+b.tokens["submit"]), http.StatusForbidden, "FORBIDDEN")
	}
}
