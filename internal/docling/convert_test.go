package docling_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestWhatIsSent(t *testing.T) {
	inBubble(t, doclingtest.Options{}, func(b *bench) {
		b.client = b.connect(docling.Options{Tenant: "acme"})
		if r := b.good(); r.Status != docling.Success {
			b.Errorf("status %q", r.Status)
		}
		u := b.server.Uploads()[0]
		if u.Name != "document.pdf" || u.Size != 18 || u.Tenant != "acme" ||
			!slices.Equal(u.Fields["to_formats"], []string{"json"}) {
			b.Errorf("sent %+v", u)
		}
	})
}

// Engines that answer polls at once are polled at intervals.
func TestPollsArePaced(t *testing.T) {
	for name, long := range map[string]bool{"at once": false, "long poll": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, doclingtest.Options{LongPoll: long, Workers: 1}, func(b *bench) {
				b.server.Plan(doclingtest.Conversion{Takes: 2 * time.Minute})
				began := time.Now()
				b.good()
				if n := b.server.Calls(doclingtest.Poll); n > 40 || n < 12 {
					b.Errorf("%d polls in two minutes", n)
				}
				if took := time.Since(began); took > 126*time.Second {
					b.Errorf("the end was seen after %v", took)
				}
				b.paid(1)
			})
		})
	}
}

// The task of an ended attempt is resumed, and nothing is paid twice.
func TestResumes(t *testing.T) {
	inBubble(t, doclingtest.Options{}, func(b *bench) {
		b.server.Plan(doclingtest.Conversion{Takes: time.Minute})
		ended := errors.New("killed")
		ctx, cancel := context.WithTimeoutCause(b.Context(), 10*time.Second, ended)
		defer cancel()
		if _, err := b.client.Convert(ctx, b.request(), b.memory, b.shelf); !errors.Is(err, ended) {
			b.Fatalf("the first attempt ended with %v, want the cause", err)
		}
		b.good()
		b.paid(1)
	})
}

// A task for another file, with other options or on another server is not resumed.
func TestOtherTasksAreNotResumed(t *testing.T) {
	for name, edit := range map[string]func(*docling.Request){
		"other bytes": func(r *docling.Request) { r.SHA256 = "ba5eba11" },
		"other options": func(r *docling.Request) {
			r.Options = append(r.Options, docling.Field{Name: "force_ocr", Value: "true"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, doclingtest.Options{Removal: time.Hour}, func(b *bench) {
				b.good()
				q := b.request()
				edit(&q)
				if _, err := b.client.Convert(b.Context(), q, b.memory, b.shelf); err != nil {
					b.Fatal(err)
				}
				b.paid(2)
			})
		})
	}
	t.Run("another timeout", func(t *testing.T) {
		inBubble(t, doclingtest.Options{}, func(b *bench) {
			b.good()
			q := b.request()
			q.Options[2].Value = "7"
			if _, err := b.client.Convert(b.Context(), q, b.memory, b.shelf); err != nil {
				b.Fatal(err)
			}
			b.paid(1)
		})
	})
}

// A downloaded result is kept and not paid again, whatever happens to the attempt afterwards.
func TestResultIsKept(t *testing.T) {
	inBubble(t, doclingtest.Options{}, func(b *bench) {
		b.good()
		b.good()
		b.memory = &memory{} // another task with the same bytes
		b.good()
		b.paid(1)
		q := b.request()
		q.Fresh = true
		for range 2 { // the second is a retry of the first
			if _, err := b.client.Convert(b.Context(), q, b.memory, b.shelf); err != nil {
				b.Fatal(err)
			}
		}
		b.paid(2)
	})
}

// Without a shelf, or with a broken one, the server has the result for a while.
func TestBrokenShelf(t *testing.T) {
	inBubble(t, doclingtest.Options{Removal: 5 * time.Minute}, func(b *bench) {
		b.shelf.broken = true
		b.good()
		b.good()
		b.paid(1)
		time.Sleep(6 * time.Minute)
		b.good() // it is gone: convert again
		b.paid(2)
	})
}

func TestForgottenIsSubmittedOnce(t *testing.T) {
	inBubble(t, doclingtest.Options{}, func(b *bench) {
		b.server.Plan(doclingtest.Conversion{Takes: time.Minute, Forget: true})
		b.good()
		b.paid(2)
	})
	t.Run("twice", func(t *testing.T) {
		inBubble(t, doclingtest.Options{}, func(b *bench) {
			forget := doclingtest.Conversion{Takes: time.Minute, Forget: true}
			b.server.Plan(forget, forget)
			b.fails(taskerr.DependencyUnavailable, "", "forgot the document twice")
			b.paid(2)
			b.good()
			b.paid(3)
		})
	})
	t.Run("result", func(t *testing.T) {
		inBubble(t, doclingtest.Options{}, func(b *bench) {
			b.server.Plan(doclingtest.Conversion{Vanish: true})
			b.good()
			b.paid(2)
		})
	})
}

// An interrupted download is repeated while the server has the result.
func TestBrokenOffAnswers(t *testing.T) {
	inBubble(t, doclingtest.Options{Removal: 5 * time.Minute}, func(b *bench) {
		b.server.Script(doclingtest.Poll, doclingtest.Dropped, doclingtest.CutShort, doclingtest.Unready)
		b.server.Script(doclingtest.Fetch, doclingtest.CutShort, doclingtest.GaveUp, doclingtest.CutShort)
		b.good()
		b.paid(1)
	})
}

// An outage is reported to the circuit breaker, and the task stays known.
func TestDown(t *testing.T) {
	inBubble(t, doclingtest.Options{}, func(b *bench) {
		b.server.Stop()
		b.fails(taskerr.DependencyUnavailable, taskerr.Docling, "could not be reached")
		b.server.Start()
		b.server.Plan(doclingtest.Conversion{Takes: time.Minute})
		time.AfterFunc(5*time.Second, b.server.Stop)
		b.fails(taskerr.DependencyUnavailable, taskerr.Docling, "could not be reached")
		b.paid(1)
		b.server.Start()
		b.good()
		b.paid(1)
	})
}
