// Package doclingtest is a fake docling-serve. It implements the wire protocol of API v1 over HTTP (version
// 1.31.0: multipart options validated as by FastAPI, tasks with queue positions, results that are removed some
// time after they were downloaded), counts the conversions, and fails on demand.
package doclingtest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/stack/pipetest"
)

// Key is the API key that the server accepts by default.
const Key = "docling-test-0123456789"

// Options configure a Server. The zero value is a well-behaved service on the engine "local".
type Options struct {
	Key string // the API key it accepts; empty: the constant Key
	// Document is the DoclingDocument of each file; nil: Sample.
	Document json.RawMessage
	Markdown string // of each file, where requested
	// Removal is how long a result stays after it was downloaded (DOCLING_SERVE_RESULT_REMOVAL_DELAY). Zero: it
	// is removed at once.
	Removal time.Duration
	// MaxTimeout is the maximum document_timeout; zero: seven days.
	MaxTimeout time.Duration
	LongPoll   bool // status waits as requested; the engines local and rq answer at once
	Workers    int  // how many files are converted at a time; zero: unlimited
	// InMemory uses in-process connections, so that the virtual time of a synctest bubble advances. Client is
	// then the only way to the server.
	InMemory bool
}

// Upload is a submitted file.
type Upload struct {
	Name   string              // of the file
	Size   int                 // of the file, bytes
	Fields map[string][]string // the other fields of the form
	Tenant string              // X-Tenant-Id
}

// Server is a running fake. It is safe for concurrent use and stops with its test.
type Server struct {
	options Options
	handler http.Handler
	client  *http.Client
	closing chan struct{}

	mu      sync.Mutex
	server  *httptest.Server  // nil: down
	address string            // of a server on the network
	pipes   *pipetest.Network // of one in memory
	script  map[string][]Fault
	outage  *Fault
	plans   []Conversion
	tasks   map[string]*task
	order   []*task
	uploads []Upload
	calls   map[string]int
}

// The endpoints, for Script and Calls.
const (
	Submit = "submit"
	Poll   = "poll"
	Fetch  = "result"
)

// New starts a server.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	if options.Key == "" {
		options.Key = Key
	}
	if options.Document == nil {
		options.Document = Sample
	}
	s := &Server{
		options: options, closing: make(chan struct{}), script: map[string][]Fault{}, tasks: map[string]*task{},
		calls: map[string]int{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK,
			map[string]any{"status": "ok"})
	})
	mux.HandleFunc("POST /v1/convert/file/async", s.handle(Submit, s.submit))
	mux.HandleFunc("GET /v1/status/poll/{task}", s.handle(Poll, s.poll))
	mux.HandleFunc("GET /v1/result/{task}", s.handle(Fetch, s.result))
	s.handler = mux
	if options.InMemory {
		s.pipes = &pipetest.Network{}
		s.client = &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.pipes.Dial(ctx) },
		}}
	} else {
		s.client = &http.Client{Transport: httpurl.Transport()}
	}
	s.Start()
	t.Cleanup(func() {
		s.mu.Lock()
		close(s.closing)
		s.mu.Unlock()
		s.Stop()
		s.client.CloseIdleConnections()
	})
	return s
}

// URL is for DOCLING_URL. It stays the same while the server is down.
func (s *Server) URL() string { return "http://" + s.address }

// Client returns an HTTP client whose idle connections are closed with the server.
func (s *Server) Client() *http.Client { return s.client }

// Stop simulates the end of the process: connections are refused, but tasks stay known, as with a separate
// queue (the engine rq). ForgetAll drops them.
func (s *Server) Stop() {
	s.mu.Lock()
	server := s.server
	s.server = nil
	s.mu.Unlock()
	if server == nil {
		return
	}
	server.CloseClientConnections()
	s.client.CloseIdleConnections()
	server.Close()
}

// Start reverts Stop.
func (s *Server) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = httptest.NewUnstartedServer(s.handler)
	if s.pipes != nil {
		_ = s.server.Listener.Close() // not needed in memory
		s.server.Listener = s.pipes.Listen("docling.invalid")
		s.server.Start()
		s.address = "docling.invalid"
		return
	}
	if s.address != "" {
		_ = s.server.Listener.Close()
		listener, err := net.Listen("tcp", s.address)
		if err != nil {
			panic("doclingtest: the port was taken while the server was down: " + err.Error())
		}
		s.server.Listener = listener
	}
	s.server.Start()
	s.address = s.server.Listener.Addr().String()
}

// ForgetAll makes the server forget all tasks, as a restart of the engine "local" does.
func (s *Server) ForgetAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tasks)
	s.order = nil
}

// Script makes the next requests to an endpoint fail, one fault each, in this order. A zero Fault is a request
// that succeeds.
func (s *Server) Script(endpoint string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script[endpoint] = append(s.script[endpoint], faults...)
}

// Break makes every request fail (after the script) until Mend.
func (s *Server) Break(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = &fault
}

// Mend reverts Break and drops the rest of the script.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = nil
	clear(s.script)
}

// Plan sets the outcomes of the next files, one each, in this order.
func (s *Server) Plan(plans ...Conversion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = append(s.plans, plans...)
}

// Conversions returns how many files were accepted for conversion, and so paid for.
func (s *Server) Conversions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// Uploads returns the files that were accepted, in order.
func (s *Server) Uploads() []Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Upload(nil), s.uploads...)
}

// Calls returns how many requests came to an endpoint, including failed ones.
func (s *Server) Calls(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[endpoint]
}

// handle checks the key and applies the request's fault.
func (s *Server) handle(endpoint string, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fault := s.begin(endpoint)
		if fault.Before != nil {
			fault.Before()
		}
		switch {
		case fault.Hang:
			select {
			case <-r.Context().Done():
			case <-s.closing:
			}
		case fault.Drop:
			panic(http.ErrAbortHandler)
		case fault.Status != 0:
			fault.write(w)
		case r.Header.Get("X-Api-Key") != s.options.Key:
			answer(w, http.StatusUnauthorized, map[string]any{"detail": nil})
		case fault.Cut:
			rec := httptest.NewRecorder()
			serve(rec, r)
			body := rec.Body.Bytes()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(rec.Code)
			_, _ = w.Write(body[:len(body)/2])
			panic(http.ErrAbortHandler)
		default:
			serve(w, r)
		}
	}
}

// begin counts a request and returns its fault.
func (s *Server) begin(endpoint string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[endpoint]++
	if script := s.script[endpoint]; len(script) > 0 {
		s.script[endpoint] = script[1:]
		return script[0]
	}
	if s.outage != nil {
		return *s.outage
	}
	return Fault{}
}
