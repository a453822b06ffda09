package http_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/events"
	sink "github.com/seed-7227ef26/async-worker/internal/events/http"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// page is so many events of a job; edit changes the rows they are made of.
func page(t *testing.T, n int, edit func(i int, o *store.Outgoing)) (all []events.Event) {
	t.Helper()
	for i := range n {
		o := store.Outgoing{
			Kind: store.OutgoingCompleted, ID: uuid.NewString(), At: time.Now(), JobID: "job", TaskType: "ocr",
			Result: json.RawMessage(`{"n": 1}`), ResultBytes: 8,
		}
		if edit != nil {
			edit(i, &o)
		}
		e, err := events.Make("southhaven", o)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// large edits one event to have a result of so many bytes, for page.
func large(place, size int) func(i int, o *store.Outgoing) {
	return func(i int, o *store.Outgoing) {
		if i == place {
			o.Result, o.ResultBytes = json.RawMessage(fmt.Sprintf(`{"text": %q}`, strings.Repeat("x", size))), size
		}
	}
}

// receiver is an HTTP server that takes events unless answer says otherwise.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	got      []cloudevents.Event
	requests int
}

// receive starts a receiver. answer returns a status other than 200, or zero; it may answer itself with -1.
func receive(
	t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body []byte, batch []cloudevents.Event) int,
) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		batch, err := read(req, body)
		if err != nil {
			t.Errorf("not what the content type says: %v", err)
		}
		r.mu.Lock()
		r.requests++
		r.mu.Unlock()
		if answer != nil {
			if status := answer(w, req, body, batch); status > 0 {
				w.WriteHeader(status)
				return
			} else if status < 0 {
				return
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, batch...)
	}))
	t.Cleanup(r.Close)
	return r
}

// read reads the events of a request by its content type.
func read(r *http.Request, body []byte) (batch []cloudevents.Event, err error) {
	if single(r) {
		batch = make([]cloudevents.Event, 1)
		return batch, json.Unmarshal(body, &batch[0])
	}
	return batch, json.Unmarshal(body, &batch)
}

// single reports whether a request is in the structured mode, rather than a batch.
func single(r *http.Request) bool {
	form, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return form == "application/cloudevents+json"
}

func (r *receiver) ids() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.got {
		all = append(all, e.ID())
	}
	return all
}

func ids(all []events.Event) (names []string) {
	for _, e := range all {
		names = append(names, e.ID)
	}
	return names
}

const key = "secret-key"

func open(t *testing.T, url string) *sink.Sink {
	t.Helper()
	s, err := sink.New(sink.Options{URL: url + "/api/events?token=secret-key", Key: key, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestBatches(t *testing.T) {
	t.Parallel()
	r := receive(t, func(_ http.ResponseWriter, req *http.Request, body []byte, batch []cloudevents.Event) int {
		if got := req.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/cloudevents-batch+json") {
			t.Errorf("content type %q", got)
		}
		if req.Header.Get("aeg-sas-key") != key || len(body) > 1_000_000 {
			t.Errorf("key %q, %d bytes", req.Header.Get("aeg-sas-key"), len(body))
		}
		for _, e := range batch {
			if err := e.Validate(); err != nil || e.Source() != "async-worker/southhaven" || e.Type() != "ocr.job.completed" {
				t.Errorf("%s: %v", e, err)
			}
		}
		return 0
	})
	all := page(t, 500, func(i int, o *store.Outgoing) {
		if i%50 == 0 {
			o.Result = json.RawMessage(fmt.Sprintf(`{"text": %q}`, strings.Repeat("x", 240_000)))
		}
	})
	sent, err := open(t, r.URL).Send(t.Context(), all)
	if err != nil || sent.Done != len(all) || len(sent.Refused)+sent.Reduced > 0 {
		t.Fatalf("sent %+v, %v", sent, err)
	}
	if !slices.Equal(r.ids(), ids(all)) {
		t.Error("the events are not the same, or not in order")
	}
}

// TestTooLarge: batches that are too large are halved, and an event that is too large by itself loses its result, not its
// place.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	const most = 3000
	r := receive(t, func(_ http.ResponseWriter, _ *http.Request, body []byte, _ []cloudevents.Event) int {
		if len(body) > most {
			return http.StatusRequestEntityTooLarge
		}
		return 0
	})
	all := page(t, 40, large(17, 2*most))
	want := ids(all)
	sent, err := open(t, r.URL).Send(t.Context(), all)
	if err != nil || sent.Done != len(all) || len(sent.Refused) > 0 || sent.Reduced != 1 {
		t.Fatalf("sent %+v, %v", sent, err)
	}
	if !slices.Equal(r.ids(), want) {
		t.Error("the events are not the same, or not in order")
	}
	var data struct {
		Ref    string          `json:"result_ref"`
		Bytes  int             `json:"result_bytes"`
		Result json.RawMessage `json:"result"`
	}
	if err := r.got[17].DataAs(&data); err != nil || data.Ref != "/v1/jobs/job" || data.Bytes != 2*most || data.Result != nil {
		t.Errorf("reduced: %+v, %v", data, err)
	}
}

// TestBadEvent: an event that the sink refuses does not stall the others.
func TestBadEvent(t *testing.T) {
	t.Parallel()
	for _, place := range []int{0, 33, 99} {
		all := page(t, 100, nil)
		bad := all[place].ID
		r := receive(t, func(_ http.ResponseWriter, _ *http.Request, body []byte, _ []cloudevents.Event) int {
			if strings.Contains(string(body), bad) {
				return http.StatusBadRequest
			}
			return 0
		})
		sent, err := open(t, r.URL).Send(t.Context(), all)
		if err != nil || sent.Done != 100 || len(sent.Refused) != 1 || sent.Refused[0].Event.ID != bad {
			t.Fatalf("the bad one is number %d: %+v, %v", place, sent, err)
		}
		if got := r.ids(); !slices.Equal(got, slices.Delete(ids(all), place, place+1)) {
			t.Errorf("%d events arrived, or not in order", len(got))
		}
		if r.requests > 60 {
			t.Errorf("%d requests to find one event of 100", r.requests)
		}
	}
}

// TestRefusesEverything: a sink that takes nothing, as one that is configured for another schema, loses nothing by that.
func TestRefusesEverything(t *testing.T) {
	t.Parallel()
	var broken bool
	r := receive(t, func(http.ResponseWriter, *http.Request, []byte, []cloudevents.Event) int {
		if broken {
			return http.StatusBadRequest
		}
		return 0
	})
	s := open(t, r.URL)
	broken = true
	for _, n := range []int{1, 40} {
		if sent, err := s.Send(t.Context(), page(t, n, nil)); err == nil || sent.Done+len(sent.Refused) > 0 {
			t.Errorf("%d events: %+v, %v", n, sent, err)
		}
	}
	broken = false
	if sent, err := s.Send(t.Context(), page(t, 40, nil)); err != nil || sent.Done != 40 {
		t.Errorf("sent %+v, %v", sent, err)
	}
	broken = true
	if sent, err := s.Send(t.Context(), page(t, 40, nil)); err == nil || sent.Done > 10 {
		t.Errorf("after a change of the sink: %d of 40 are given up, %v", sent.Done, err)
	}
}

// TestManyBadEvents: after more refusals in a row than are believed, the sink waits for an event that is taken, and leaves
// them out then.
func TestManyBadEvents(t *testing.T) {
	t.Parallel()
	const bad = 15
	r := receive(t, func(_ http.ResponseWriter, _ *http.Request, body []byte, _ []cloudevents.Event) int {
		if strings.Contains(string(body), `"type":"bad.`) {
			return http.StatusBadRequest
		}
		return 0
	})
	all := page(t, 1+bad+1, func(i int, o *store.Outgoing) {
		if i > 0 && i <= bad {
			o.TaskType = "bad"
		}
	})
	s := open(t, r.URL)
	first, err := s.Send(t.Context(), all[:1+bad])
	if err == nil || first.Done >= 1+bad {
		t.Errorf("without a later event: %+v, %v", first, err)
	}
	again, err := s.Send(t.Context(), all[first.Done:])
	if err != nil || first.Done+again.Done != len(all) || len(first.Refused)+len(again.Refused) != bad {
		t.Errorf("with one: %d and %d done, %v", first.Done, again.Done, err)
	}
}

// TestHostileSinks: a sink can't make the worker wait for ever, read for ever, or send the events and the key elsewhere.
func TestHostileSinks(t *testing.T) {
	t.Parallel()
	elsewhere := receive(t, func(http.ResponseWriter, *http.Request, []byte, []cloudevents.Event) int {
		t.Error("the redirect is followed")
		return 0
	})
	for name, c := range map[string]struct {
		answer  func(http.ResponseWriter, *http.Request) int
		timeout time.Duration
		taken   bool
		problem string
	}{
		"endless answer": {func(w http.ResponseWriter, r *http.Request) int {
			w.WriteHeader(http.StatusOK)
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					break
				}
			}
			return -1
		}, time.Minute, true, ""},
		"hangs after its status": {func(w http.ResponseWriter, r *http.Request) int {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done() // the client has hung up
			return -1
		}, time.Hour, true, ""},
		"redirect": {func(w http.ResponseWriter, _ *http.Request) int {
			w.Header().Set("Location", elsewhere.URL)
			return http.StatusTemporaryRedirect
		}, time.Minute, false, "redirects are not followed"},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) int {
			<-r.Context().Done()
			return -1
		}, 50 * time.Millisecond, false, "no answer within"},
		"quotes the request": {func(w http.ResponseWriter, r *http.Request) int {
			http.Error(w, r.URL.String()+r.Header.Get("aeg-sas-key"), http.StatusForbidden)
			return -1
		}, time.Minute, false, "403 Forbidden; check EVENTS_KEY"},
		"asks to wait": {func(w http.ResponseWriter, _ *http.Request) int {
			w.Header().Set("Retry-After", "7")
			return http.StatusTooManyRequests
		}, time.Minute, false, "429"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := receive(t, func(w http.ResponseWriter, r *http.Request, _ []byte, _ []cloudevents.Event) int {
				return c.answer(w, r)
			})
			s, err := sink.New(sink.Options{URL: r.URL + "/?token=" + key, Key: key, Timeout: c.timeout})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			sent, err := s.Send(t.Context(), page(t, 3, nil))
			if c.taken {
				if err != nil || sent.Done != 3 {
					t.Errorf("sent %+v, %v", sent, err)
				}
				return
			}
			if err == nil || sent.Done != 0 || !strings.Contains(err.Error(), c.problem) ||
				strings.Contains(err.Error(), key) {
				t.Errorf("sent %+v, %v", sent, err)
			}
			wait, asked := errors.AsType[*events.WaitError](err)
			if asked != (name == "asks to wait") || asked && wait.After != 7*time.Second {
				t.Errorf("wait: %v", wait)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for status, fine := range map[int]bool{200: true, 400: true, 415: true, 401: false, 404: false, 503: false} {
		r := receive(t, func(_ http.ResponseWriter, _ *http.Request, body []byte, _ []cloudevents.Event) int {
			if string(body) != "[]" {
				t.Errorf("the probe sends %s", body)
			}
			return status
		})
		if err := open(t, r.URL).Probe(t.Context()); (err == nil) != fine {
			t.Errorf("%d: %v", status, err)
		}
	}
}
