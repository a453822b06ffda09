// Package gatewaytest is a stand-in for the gateway, for tests and the local stack. It speaks its protocol over real
// HTTP: POST /process with the rules of the form, the status of each mistake, GET /health; it counts what was paid for,
// and fails on demand.
package gatewaytest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/stack/pipetest"
)

// Mapping is the mapping that the stand-in knows by default.
const Mapping = "pt_simon_invoice_v1"

// Options configure a Server. The zero value is a well-behaved gateway.
type Options struct {
	Mappings []string // it knows; nil: Mapping alone
	// Invoice is what it reads in each PDF, a JSON object; nil: Sample.
	Invoice json.RawMessage
	MaxFile int64 // bytes; a larger file is refused with 413. Zero: 64 MB
	// InMemory uses in-process connections, so that the virtual time of a synctest bubble advances. Client is then the
	// only way to the server.
	InMemory bool
}

// Sample is the invoice of dev/samples/invoice.pdf as the stand-in reads it.
var Sample = json.RawMessage(`{
  "invoice": {
    "number": "SH-2026-0417",
    "issueDate": "2026-03-17",
    "dueDate": "2026-04-16",
    "currency": "EUR",
    "seller": {"name": "Southhaven Harbour Company", "vatId": "DE811907980"},
    "buyer": {"name": "Ellery Timber Ltd", "city": "Port Ellery"},
    "lines": [
      {"position": 1, "text": "Berth 4, three days", "quantity": 3, "unitPrice": 412.50, "amount": 1237.50},
      {"position": 2, "text": "Crane with driver, hours", "quantity": 6, "unitPrice": 148.00, "amount": 888.00},
      {"position": 3, "text": "Shore power, kWh", "quantity": 940, "unitPrice": 0.31, "amount": 291.40}
    ],
    "net": 2416.90,
    "taxPercent": 19,
    "tax": 459.21,
    "total": 2876.11
  }
}`)

// Call is a request to /process that was answered, or failed on demand.
type Call struct {
	Mapping string
	Pretty  bool
	Format  string // content type of the file
	Accept  string
	SHA256  string // of the file
	Status  int    // of the answer; zero: none was sent
}

// Server is a running stand-in. It is safe for concurrent use.
type Server struct {
	options Options
	client  *http.Client
	closing chan struct{}

	mu      sync.Mutex
	server  *http.Server // nil: down
	address string
	pipes   *pipetest.Network // of one in memory
	script  []Fault
	outage  *Fault
	calls   []Call
	probes  int
}

// New starts a server that stops with its test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Open starts a server on loopback.
func Open(o Options) (*Server, error) {
	if o.Mappings == nil {
		o.Mappings = []string{Mapping}
	}
	if o.Invoice == nil {
		o.Invoice = Sample
	}
	if o.MaxFile == 0 {
		o.MaxFile = 64 << 20
	}
	s := &Server{options: o, closing: make(chan struct{}), address: "127.0.0.1:0"}
	transport := httpurl.Transport()
	if o.InMemory {
		s.address, s.pipes = "gateway.invalid", &pipetest.Network{}
		transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return s.pipes.Dial(ctx)
		}}
	}
	transport.ExpectContinueTimeout = time.Second
	s.client = &http.Client{Transport: transport}
	return s, s.Start()
}

// URL is for GATEWAY_URL. It stays the same while the server is down.
func (s *Server) URL() string { return "http://" + s.address }

// Client returns an HTTP client whose idle connections are closed with the server.
func (s *Server) Client() *http.Client { return s.client }

// Start starts the server again after Stop.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		return nil
	}
	var listener net.Listener
	if s.pipes != nil {
		listener = s.pipes.Listen(s.address)
	} else {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", s.address)
		if err != nil {
			return fmt.Errorf("start the stand-in of the gateway: %w", err)
		}
		s.address, listener = l.Addr().String(), l
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("POST /process", s.process)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	s.server = server
	go func() { _ = server.Serve(listener) }() // until Stop: http.ErrServerClosed
	return nil
}

// Stop simulates the end of the process: connections break and are refused.
func (s *Server) Stop() error {
	s.mu.Lock()
	server := s.server
	s.server = nil
	s.mu.Unlock()
	if server == nil {
		return nil
	}
	s.client.CloseIdleConnections()
	return server.Close()
}

// Close ends the server for good.
func (s *Server) Close() error {
	close(s.closing)
	err := s.Stop()
	s.client.CloseIdleConnections()
	return err
}

// Script makes the next calls fail, one fault each, in this order. A zero Fault is a call that succeeds.
func (s *Server) Script(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, faults...)
}

// Break makes every call fail (after the script) until Mend.
func (s *Server) Break(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = &fault
}

// Mend reverts Break and drops the rest of the script.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage, s.script = nil, nil
}

// Calls returns the requests to /process, in the order of their arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Paid returns how many calls were answered with 200, and so paid for.
func (s *Server) Paid() int {
	paid := 0
	for _, c := range s.Calls() {
		if c.Status == http.StatusOK {
			paid++
		}
	}
	return paid
}

// Probes returns how many health checks came.
func (s *Server) Probes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.probes
}
