// Package doclingtest is a stand-in for docling-serve. It speaks the wire protocol of its API v1 over HTTP
// (version 1.31.0: multipart options as FastAPI checks them, tasks with queue positions, results that are gone
// some time after they were fetched), counts the conversions that it was made to pay for, and fails on demand.
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
)

// Key is the API key that the server takes unless Options say otherwise.
const Key = "docling-test-0123456789"

// Options change how a Server behaves. The zero value is a well-behaved service on the engine "local".
type Options struct {
	Key string // the API key it takes; empty: the constant Key
	// Document is the DoclingDocument of each file; nil: Sample.
	Document json.RawMessage
	Markdown string // of each file, where requested
	// Removal is how long a result stays after it was fetched (DOCLING_SERVE_RESULT_REMOVAL_DELAY). Zero: it
	// is gone at once.
	Removal time.Duration
	// MaxTimeout is the most that document_timeout may be; zero: seven days.
	MaxTimeout time.Duration
	LongPoll   bool // status waits as requested; the engines local and rq answer at once
	Workers    int  // how many files are converted at a time; zero: all
	// InMemory serves on connections that are not of the network, so that the virtual time of a synctest
	// bubble goes on. Client is then the only way to the server.
	InMemory bool
}

// Upload is what was submitted.
type Upload struct {
	Name   string              // of the file
	Size   int                 // of the file, bytes
	Fields map[string][]string // the other fields of the form
	Tenant string              // X-Tenant-Id
}

// Server is a running stand-in. It is safe for concurrent use and ends with its test.
type Server struct {
	options Options
	handler http.Handler
	client  *http.Client
	closing chan struct{}

	mu      sync.Mutex
	server  *httptest.Server // nil: down
	address string           // of a server on the network
	pipes   *pipes           // of one in memory
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
	mux.HandleFunc("POST /v1/convert/file/async", s.door(Submit, s.submit))
	mux.HandleFunc("GET /v1/status/poll/{task}", s.door(Poll, s.poll))
	mux.HandleFunc("GET /v1/result/{task}", s.door(Fetch, s.result))
	s.handler = mux
	if options.InMemory {
		s.pipes = newPipes()
		s.client = &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx) },
		}}
	} else {
		s.client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
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

// Client is an HTTP client whose idle connections end with the server.
func (s *Server) Client() *http.Client { return s.client }

// Stop is the end of the process: connections are refused, tasks go on being known, as with a queue of its own
// (the engine rq). ForgetAll makes it one without.
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

// Start ends what Stop began.
func (s *Server) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = httptest.NewUnstartedServer(s.handler)
	if s.pipes != nil {
		_ = s.server.Listener.Close() // it was made for the network
		s.server.Listener = s.pipes.listen()
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

// Script makes the next requests to an endpoint fail, one fault each in this order. A zero Fault is a request
// that is answered well.
func (s *Server) Script(endpoint string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script[endpoint] = append(s.script[endpoint], faults...)
}

// Break makes every request fail (after what is scripted) until Mend.
func (s *Server) Break(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = &fault
}

// Mend ends what Break began and drops the rest of the script.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = nil
	clear(s.script)
}

// Plan says what becomes of the next files, one each in this order.
func (s *Server) Plan(plans ...Conversion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = append(s.plans, plans...)
}

// Conversions is how many files were accepted to be converted, and so paid for.
func (s *Server) Conversions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// Uploads are the files that were accepted, in order.
func (s *Server) Uploads() []Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Upload(nil), s.uploads...)
}

// Calls is how many requests came to an endpoint, the failed ones included.
func (s *Server) Calls(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[endpoint]
}

// door checks the key, and lets the request meet its fault.
func (s *Server) door(endpoint string, serve http.HandlerFunc) http.HandlerFunc {
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

// begin notes a request and returns the fault that it meets.
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
