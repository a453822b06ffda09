package http_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"

	"github.com/seed-7227ef26/async-worker/internal/events"
)

// forms is how a receiver answers requests by their form, to the one bad event, and to an empty batch; zero: it takes them.
type forms struct{ batch, single, bad, empty int }

// answer answers by the form first, as who can't read a request does.
func (f forms) answer(bad string) func(http.ResponseWriter, *http.Request, []byte, []cloudevents.Event) int {
	return func(_ http.ResponseWriter, r *http.Request, body []byte, _ []cloudevents.Event) int {
		switch {
		case single(r) && f.single != 0:
			return f.single
		case !single(r) && f.batch != 0:
			return f.batch
		case string(body) == "[]" && f.empty != 0:
			return f.empty
		case bad != "" && strings.Contains(string(body), bad):
			return f.bad
		}
		return 0
	}
}

// A receiver gets the events in the form that it takes, all of them and in their order, except for one that it refuses; and
// it is asked once which form that is.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forms
		most int // requests for 30 events, without a bad one
	}{
		"both":                             {forms{0, 0, 400, 0}, 1},
		"batches alone":                    {forms{0, 415, 400, 0}, 1},
		"batches alone, refused as bad":    {forms{0, 400, 422, 0}, 1},
		"batches alone, else it breaks":    {forms{0, 500, 400, 0}, 1},
		"batches alone that are not empty": {forms{0, 500, 400, 400}, 1},
		"single ones alone":                {forms{415, 0, 400, 0}, 31},
		"single ones alone, unreadable":    {forms{400, 0, 400, 0}, 36},
		"single ones alone, unacceptable":  {forms{422, 0, 422, 0}, 36},
	} {
		for _, place := range []int{-1, 0, 14, 29} {
			all, bad, want := page(t, 30, nil), "", 0
			if place >= 0 {
				bad, want = all[place].ID, 1
			}
			r := receive(t, c.answer(bad))
			s := open(t, r.URL)
			sent, err := s.Send(t.Context(), all)
			if err != nil || sent.Done != len(all) || len(sent.Refused) != want || want == 1 && sent.Refused[0].Event.ID != bad {
				t.Fatalf("%s, the bad one is number %d: %+v, %v", name, place, sent, err)
			}
			expected := ids(all)
			if place >= 0 {
				expected = slices.Delete(expected, place, place+1)
			} else if r.requests > c.most {
				t.Errorf("%s: %d requests", name, r.requests)
			}
			before := r.requests
			more := page(t, 5, nil)
			if sent, err := s.Send(t.Context(), more); err != nil || sent.Done != 5 || r.requests > before+5 {
				t.Errorf("%s: %d requests for the next 5 events: %+v, %v", name, r.requests-before, sent, err)
			}
			if got := r.ids(); !slices.Equal(got, append(expected, ids(more)...)) {
				t.Errorf("%s, the bad one is number %d: %d events arrived, or not in order", name, place, len(got))
			}
		}
	}
}

// What a receiver wants is remembered by the sink alone: another one begins with a batch.
func TestFormIsAskedAgain(t *testing.T) {
	t.Parallel()
	var first atomic.Pointer[string]
	r := receive(t, func(_ http.ResponseWriter, r *http.Request, _ []byte, _ []cloudevents.Event) int {
		first.CompareAndSwap(nil, new(r.Header.Get("Content-Type")))
		if !single(r) {
			return http.StatusUnsupportedMediaType
		}
		return 0
	})
	for range 2 {
		first.Store(nil)
		if sent, err := open(t, r.URL).Send(t.Context(), page(t, 3, nil)); err != nil || sent.Done != 3 {
			t.Fatalf("%+v, %v", sent, err)
		}
		if form := *first.Load(); form != "application/cloudevents-batch+json; charset=utf-8" {
			t.Errorf("it begins with %s", form)
		}
	}
}

// A receiver of single events that is down just when it is found out loses none by that: an outage refuses no event.
func TestOutageWhileAsked(t *testing.T) {
	t.Parallel()
	for _, down := range []int{401, 404, 429, 500, 503} {
		for _, batch := range []int{400, 415, 422} {
			var broken atomic.Bool
			broken.Store(true)
			r := receive(t, func(w http.ResponseWriter, r *http.Request, _ []byte, _ []cloudevents.Event) int {
				switch {
				case !single(r):
					return batch
				case broken.Swap(false):
					w.Header().Set("Retry-After", "7")
					return down
				}
				return 0
			})
			all := page(t, 3, nil)
			s := open(t, r.URL)
			sent, err := s.Send(t.Context(), all)
			if err == nil || sent.Done+len(sent.Refused) > 0 {
				t.Errorf("%d: %+v, %v", down, sent, err)
			}
			if wait, ok := errors.AsType[*events.WaitError](err); (down == 429 || down == 503) && (!ok || wait.After != 7*time.Second) {
				t.Errorf("%d: it is not waited for: %v", down, err)
			}
			if sent, err := s.Send(t.Context(), all); err != nil || sent.Done != 3 || !slices.Equal(r.ids(), ids(all)) {
				t.Errorf("%d, afterwards: %+v, %v", down, sent, err)
			}
		}
	}
}

// A receiver that takes batches only, and refuses all events but the last one, gets that: those before it are not taken for
// refused while nothing shows that it takes batches, and one who refuses more is misconfigured.
func TestManyRefusedWhileAsked(t *testing.T) {
	t.Parallel()
	for bad, settled := range map[int]bool{1: true, 10: true, 11: false} {
		all := page(t, bad+1, nil)
		r := receive(t, func(_ http.ResponseWriter, r *http.Request, body []byte, batch []cloudevents.Event) int {
			switch {
			case single(r):
				return http.StatusInternalServerError
			case len(batch) != 1 || batch[0].ID() != all[bad].ID:
				return http.StatusBadRequest
			}
			return 0
		})
		s := open(t, r.URL)
		sent, err := s.Send(t.Context(), all[:bad])
		if err == nil || !strings.Contains(err.Error(), "500") || sent.Done+len(sent.Refused) > 0 {
			t.Errorf("%d events that are refused: %+v, %v", bad, sent, err)
		}
		sent, err = s.Send(t.Context(), all)
		if (err == nil) != settled || settled && (sent.Done != len(all) || len(sent.Refused) != bad) ||
			!settled && sent.Done+len(sent.Refused) > 0 {
			t.Errorf("%d before one that is taken: %+v, %v", bad, sent, err)
		}
	}
}

// A receiver that takes neither form is down, and is found when it takes one.
func TestNeitherForm(t *testing.T) {
	t.Parallel()
	for _, later := range []forms{{}, {single: 415}, {batch: 415}} {
		var now atomic.Pointer[forms]
		now.Store(&forms{batch: 415, single: 415})
		r := receive(t, func(w http.ResponseWriter, r *http.Request, body []byte, batch []cloudevents.Event) int {
			return now.Load().answer("")(w, r, body, batch)
		})
		s, all := open(t, r.URL), page(t, 4, nil)
		for range 2 {
			if sent, err := s.Send(t.Context(), all); err == nil || !strings.Contains(err.Error(), "415") ||
				sent.Done+len(sent.Refused) > 0 {
				t.Errorf("%+v, %v", sent, err)
			}
		}
		now.Store(&later)
		if sent, err := s.Send(t.Context(), all); err != nil || sent.Done != 4 {
			t.Errorf("afterwards, %+v: %+v, %v", later, sent, err)
		}
		// and when it changes again
		now.Store(&forms{batch: later.single, single: later.batch})
		_, _ = s.Send(t.Context(), all)
		if sent, err := s.Send(t.Context(), all); err != nil || sent.Done != 4 {
			t.Errorf("changed from %+v: %+v, %v", later, sent, err)
		}
	}
}

// A single event that is too large loses its result, not its place.
func TestTooLargeByItself(t *testing.T) {
	t.Parallel()
	const most = 3000
	r := receive(t, func(_ http.ResponseWriter, r *http.Request, body []byte, _ []cloudevents.Event) int {
		switch {
		case !single(r):
			return http.StatusUnsupportedMediaType
		case len(body) > most:
			return http.StatusRequestEntityTooLarge
		}
		return 0
	})
	all := page(t, 5, large(2, 2*most))
	want := ids(all)
	sent, err := open(t, r.URL).Send(t.Context(), all)
	if err != nil || sent.Done != 5 || sent.Reduced != 1 || len(sent.Refused) > 0 || !slices.Equal(r.ids(), want) {
		t.Errorf("%+v, %v", sent, err)
	}
}
