package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
)

// toxin is a service at which some tasks are poison.
type toxin struct {
	mu    sync.Mutex
	made  map[string]int             // calls, by task
	runs  map[string]map[string]bool // the fences that made them, by task; where the calls name them
	stops []func()
	dead  bool
	died  int // the number of deaths
	dying sync.WaitGroup
}

func newToxin() *toxin { return &toxin{made: map[string]int{}, runs: map[string]map[string]bool{}} }

// poisonName matches the name of a poison task in a request.
var poisonName = regexp.MustCompile(`poison-\d+`)

// isPoison counts a call, and reports whether it is poison.
func (t *toxin) isPoison(task string) bool {
	if task == "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made[task]++
	return true
}

// poisonFence matches the name of a poison task with its fence.
var poisonFence = regexp.MustCompile(`(poison-\d+)"[^{}]*?"fence":\s?(\d+)`)

// noteRun records which runs of poison tasks made a call.
func (t *toxin) noteRun(request []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, found := range poisonFence.FindAllSubmatch(request, -1) {
		task := string(found[1])
		if t.runs[task] == nil {
			t.runs[task] = map[string]bool{}
		}
		t.runs[task][string(found[2])] = true
	}
}

// reached is how many runs of a task made a call.
func (t *toxin) reached(task string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.runs[task])
}

func (t *toxin) calls(task string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made[task]
}

func (t *toxin) deaths() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.died
}

func (t *toxin) close() {
	t.dying.Wait()
	for _, stop := range t.stops {
		stop()
	}
}

// die takes a service down for a second, as if its supervisor restarted it.
func (t *toxin) die(service faultyService) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return
	}
	t.dead = true
	t.died++
	t.dying.Go(func() {
		service.cut(refuses)
		time.Sleep(time.Second)
		_ = service.mend() // a service that stays down fails the run
		t.mu.Lock()
		defer t.mu.Unlock()
		t.dead = false
	})
}

// toxicModel fails at texts with the name of a poison task.
func toxicModel(status int) func(*poisonRun, *addresses) (*toxin, []string, error) {
	return func(p *poisonRun, at *addresses) (*toxin, []string, error) {
		t := newToxin()
		d := newFaultyServer(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			if t.isPoison(string(poisonName.Find(body))) {
				w.Header().Set("Retry-After", "1")
				http.Error(w, "out of order", status)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			p.tenant.model.ServeHTTP(w, r)
		})
		t.stops = append(t.stops, d.close)
		at.model = d.server.URL + "/v1"
		return t, nil, nil
	}
}

// stubTest is the part of testing.TB that a stub needs.
type stubTest struct {
	testing.TB
	t *toxin
}

func (stubTest) Helper()            {}
func (s stubTest) Cleanup(f func()) { s.t.stops = append(s.t.stops, f) }

// toxicDocling is a docling-serve that dies when it gets the file of a poison task.
func toxicDocling(_ *poisonRun, _ *addresses) (*toxin, []string, error) {
	t := newToxin()
	server := doclingtest.New(stubTest{t: t}, doclingtest.Options{Removal: time.Minute})
	target, err := url.Parse(server.URL())
	if err != nil {
		return nil, nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var d *faultyServer
	d = newFaultyServer(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Method == http.MethodPost && t.isPoison(string(poisonName.Find(body))) {
			t.die(d)
			hangUp(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
	t.stops = append([]func(){d.close}, t.stops...)
	return t, []string{"DOCLING_URL=" + d.server.URL, "DOCLING_API_KEY=" + doclingtest.Key, "EXTRACTOR=docling"}, nil
}

// toxicDatabase loses the connection, or dies, when a poison task is completed.
func toxicDatabase(dies bool) func(*poisonRun, *addresses) (*toxin, []string, error) {
	return func(_ *poisonRun, at *addresses) (*toxin, []string, error) {
		t := newToxin()
		p, address, err := newPGProxy(at.database, newFaultPlan())
		if err != nil {
			return nil, nil, err
		}
		p.lethal = func(call string, group []byte) bool {
			if !strings.HasPrefix(call, "complete") || !t.isPoison(string(poisonName.Find(group))) {
				return false
			}
			t.noteRun(group)
			if dies {
				t.die(p)
			}
			return true
		}
		at.database = address
		t.stops = append(t.stops, p.close)
		return t, nil, nil
	}
}
