package docling_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		fault   doclingtest.Fault
		class   taskerr.Class
		of      taskerr.Dependency
		message string
		after   time.Duration
	}{
		"not ready": {
			doclingtest.Unready, taskerr.DependencyUnavailable, taskerr.Docling,
			"Models not yet loaded", 0,
		},
		"busy": {
			doclingtest.Busy, taskerr.DependencyUnavailable, taskerr.Docling, "Server is busy",
			time.Second,
		},
		"rate": {
			doclingtest.LimitRate, taskerr.DependencyUnavailable, taskerr.Docling, "HTTP 429",
			7 * time.Second,
		},
		"gateway": {doclingtest.GaveUp, taskerr.NetworkTimeout, taskerr.Docling, "HTTP 504", 0},
		"dropped": {doclingtest.Dropped, taskerr.DependencyUnavailable, taskerr.Docling, "broke", 0},
		"no answer": {
			doclingtest.NoAnswer, taskerr.NetworkTimeout, taskerr.Docling,
			"did not answer within 1m0s", 0,
		},
		"cut": {doclingtest.CutShort, taskerr.DependencyUnavailable, taskerr.Docling, "broke", 0},
		"error": {
			doclingtest.Fault{Status: 500},
			taskerr.DependencyUnavailable, taskerr.Docling, "HTTP 500",
			0,
		},
		"forbidden": {
			doclingtest.Fault{Status: 403},
			taskerr.DependencyUnavailable, taskerr.Docling,
			"refuses the key", 0,
		},
		"no such path": {
			doclingtest.Fault{Status: 404, Detail: "Not Found"},
			taskerr.DependencyUnavailable,
			taskerr.Docling, "no docling-serve at DOCLING_URL", 0,
		},
		"redirect": {
			doclingtest.Fault{
				Status: 307,
				Header: http.Header{"Location": {"http://elsewhere.invalid/"}},
			},
			taskerr.DependencyUnavailable,
			taskerr.Docling, "redirect to http://elsewhere.invalid; set DOCLING_URL", 0,
		},
		"too large": {doclingtest.Fault{Status: 413}, taskerr.QuotaExceeded, "", "HTTP 413", 0},
		"refused, a text": {
			doclingtest.Fault{Status: 422, Detail: "ocr_preset 'x' is not allowed."},
			taskerr.DependencyUnavailable, taskerr.Docling, "ocr_preset 'x' is not allowed.", 0,
		},
		"refused, a list": {
			doclingtest.Fault{
				Status: 422,
				Detail: []any{map[string]any{
					"loc": []any{"body", "page_range", 0},
					"msg": "Input should be greater than 0",
				}},
			},
			taskerr.DependencyUnavailable, taskerr.Docling,
			"body.page_range.0: Input should be greater than 0", 0,
		},
		"another service": {
			doclingtest.Fault{Status: 200, Detail: "hello"},
			taskerr.DependencyUnavailable,
			taskerr.Docling, "no task status", 0,
		},
		"a task not known": {
			doclingtest.Fault{Status: 404, Detail: "Task not found."},
			taskerr.DependencyUnavailable,
			taskerr.Docling, "does not fit", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, doclingtest.Options{}, func(b *bench) {
				b.server.Script(doclingtest.Submit, test.fault)
				if e := b.fails(test.class, test.of, test.message); e.RetryAfter != test.after {
					b.Errorf("Retry-After %v, want %v", e.RetryAfter, test.after)
				}
				if n := b.server.Calls(doclingtest.Submit); n != 1 {
					b.Errorf("submitted %d times in one attempt", n)
				}
			})
		})
	}
	t.Run("wrong key", func(t *testing.T) {
		inBubble(t, doclingtest.Options{Key: "another"}, func(b *bench) {
			if e := b.fails(taskerr.DependencyUnavailable, taskerr.Docling,
				"refuses the key"); !strings.Contains(e.Hint, "DOCLING_API_KEY") ||
				strings.Contains(e.Error(), doclingtest.Key) {
				b.Errorf("got %+v", e)
			}
		})
	})
}

// If the server refuses the document_timeout, the server's own applies.
func TestTimeoutOfTheServersPolicy(t *testing.T) {
	inBubble(t, doclingtest.Options{MaxTimeout: time.Minute}, func(b *bench) {
		b.good()
		if got := b.server.Uploads(); len(got) != 1 || got[0].Fields["document_timeout"] != nil {
			b.Errorf("sent %+v", got)
		}
	})
}

func TestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		plan    doclingtest.Conversion
		class   taskerr.Class
		message string
	}{
		"retryable": {
			doclingtest.Conversion{Failure: &docling.Failure{
				Category: "capacity",
				Message:  "Service capacity was exhausted while processing the task.", Retryable: true,
			}},
			taskerr.DependencyUnavailable, "capacity was exhausted",
		},
		"policy": {doclingtest.Conversion{Failure: &docling.Failure{
			Category: "policy",
			Message:  "Document exceeds service limits.",
		}}, taskerr.QuotaExceeded, "exceeds service limits"},
		"internal": {doclingtest.Conversion{Failure: &docling.Failure{
			Category: "internal",
			Message:  "Internal processing error.",
		}}, taskerr.DependencyUnavailable, "Internal processing error."},
		"backend": {doclingtest.Conversion{Failure: &docling.Failure{
			Category: "backend_failure",
			Message:  "The PDF is broken.",
		}}, taskerr.CorruptionDetected, "The PDF is broken."},
		"engine local": {
			doclingtest.Conversion{Bare: "Internal processing error."},
			taskerr.DependencyUnavailable,
			"Internal processing error.",
		},
		"document": {
			doclingtest.Conversion{
				Status: docling.Failed,
				Errors: []docling.ErrorItem{{Message: "Input document is not valid."}},
			},
			taskerr.CorruptionDetected,
			"is not valid",
		},
		"out of time": {doclingtest.Conversion{
			Status: docling.Failed,
			Errors: []docling.ErrorItem{
				{Message: "exceeded timeout", Category: "timeout"},
			},
		}, taskerr.Timeout, "split it, or allow the task more"},
		"skipped":    {doclingtest.Conversion{Status: docling.Skipped}, taskerr.UnsupportedFormat, "skipped"},
		"new status": {doclingtest.Conversion{Status: "postponed"}, taskerr.DependencyUnavailable, "postponed"},
		"no document": {
			doclingtest.Conversion{Document: json.RawMessage("null")},
			taskerr.DependencyUnavailable,
			"without json_content",
		},
		"no JSON": {
			doclingtest.Conversion{Document: json.RawMessage(`{"texts": [{"text": 7}]}`)},
			taskerr.DependencyUnavailable, "can't be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, doclingtest.Options{}, func(b *bench) {
				b.server.Plan(test.plan)
				_, err := b.convert()
				if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != test.class ||
					!strings.Contains(e.Message, test.message) {
					b.Fatalf("got %v, want %s that says %q", err, test.class, test.message)
				} else if own := "hints.timeout_seconds"; e.Class == taskerr.Timeout && !strings.Contains(e.Hint, own) {
					b.Errorf("the hint is %q, want %s", e.Hint, own)
				}
				b.paid(1)
				b.good() // a failure is not kept
				b.paid(2)
			})
		})
	}
}

func TestPartialSuccess(t *testing.T) {
	inBubble(t, doclingtest.Options{}, func(b *bench) {
		b.server.Plan(doclingtest.Conversion{
			Status: docling.PartialSuccess, Errors: []docling.ErrorItem{
				{Message: "page 2 failed", Category: "inference_failure", Page: 2},
			},
		})
		for range 2 {
			if r := b.good(); r.Status != docling.PartialSuccess || len(r.Errors) != 1 || r.Errors[0].Page != 2 {
				b.Errorf("got %+v", r)
			}
		}
		b.paid(1)
		b.memory = &memory{} // another task has the whole document, and so have all after it
		for range 2 {
			if r := b.good(); r.Status != docling.Success {
				b.Errorf("another task got %+v", r)
			}
			b.memory = &memory{}
		}
		b.paid(2)
	})
}

func TestResultIsBounded(t *testing.T) {
	inBubble(t, doclingtest.Options{}, func(b *bench) {
		b.client = b.connect(docling.Options{MaxResult: 1000})
		b.fails(taskerr.QuotaExceeded, "", "docling made more than")
	})
}

func TestURL(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "docling:5001", "ftp://docling", "http://"} {
		if _, err := docling.New(docling.Options{URL: bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
