// Package llmtest is a stand-in for the embeddings and chat endpoints of OpenAI and Azure OpenAI. It speaks
// their protocol over HTTP, enforces their limits, counts requests, and fails on demand.
package llmtest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/token"
)

// Key is the API key that the server accepts by default.
const Key = "sk-test-0123456789"

// The service's limits that the server enforces.
const (
	MaxInputs        = 2048
	MaxInputTokens   = 8192
	MaxRequestTokens = 300_000
)

// Options change how a Server behaves. The zero value is a well-behaved service.
type Options struct {
	Key        string      // the API key it accepts; empty: the constant Key
	Dimensions int         // of models whose requests can't set it; zero: 1536
	Reverse    bool        // results come last first: the protocol promises no order
	FloatsOnly bool        // ignores encoding_format, as some compatible servers do
	Poison     string      // the service refuses inputs that contain it with 400 (chat: by the content filter); empty: none
	Header     http.Header // of every answer, e.g. rate limits

	Reply     func(ChatRequest) Reply // the model's answer; nil: a constant, or a call of the forced tool
	Reasoning bool                    // the model accepts neither max_tokens nor a temperature
	Thinking  int                     // tokens that it takes before an answer; fewer are refused, as OpenAI does
	Window    int                     // tokens of question and answer that fit; zero: no limit
	// Unknown are parameters of a chat completion that the service refuses, as vLLM does: "stream", "stream_options",
	// "temperature", "tools", "tool_choice", "strict", "response_format".
	Unknown []string

	Limits Limits // rate limits; the zero value: none
}

// Request is a decoded request.
type Request struct {
	Path       string // with the query
	Model      string
	Inputs     []string
	Format     string // encoding_format
	Dimensions int    // zero: not sent
	Header     http.Header
	Chat       *ChatRequest // of a chat completion; nil: embeddings
	At         time.Time    // of arrival
}

// Server is a running stand-in. It is safe for concurrent use and ends with its test.
type Server struct {
	options Options
	handler http.Handler
	server  *httptest.Server // nil: in this process
	tokens  *token.Counter
	closing chan struct{}

	mu       sync.Mutex
	limiter  limiter
	requests []Request
	script   []Fault
	outage   *Fault
	inputs   int // embedded
	billed   int // tokens
	inFlight int
	peak     int
}

// New starts a server on a free loopback port.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s := build(options)
	s.server = httptest.NewServer(s.handler)
	t.Cleanup(func() {
		close(s.closing)
		s.server.Close()
	})
	return s
}

// NewInProcess returns a server without a network, which only Client reaches: for tests in virtual time.
func NewInProcess(options Options) *Server { return build(options) }

func build(options Options) *Server {
	if options.Key == "" {
		options.Key = Key
	}
	if options.Dimensions == 0 {
		options.Dimensions = 1536
	}
	s := &Server{
		options: options, tokens: token.New(), closing: make(chan struct{}), limiter: limiter{Limits: options.Limits},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, r.Header.Get("Authorization") == "Bearer "+options.Key, "")
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		s.chat(w, r, r.Header.Get("Authorization") == "Bearer "+options.Key, "")
	})
	for path, serve := range map[string]func(
		http.ResponseWriter, *http.Request, bool, string){"embeddings": s.serve, "chat/completions": s.chat} {
		mux.HandleFunc("POST /openai/deployments/{deployment}/"+path, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("api-version") == "" {
				(Fault{Status: http.StatusNotFound, Code: "404"}).write(w)
				return
			}
			serve(w, r, r.Header.Get("Api-Key") == options.Key, r.PathValue("deployment"))
		})
	}
	s.handler = mux
	return s
}

// URL returns the base of OpenAI's protocol, for OPENAI_BASE_URL.
func (s *Server) URL() string { return s.AzureURL() + "/v1" }

// AzureURL returns the endpoint of Azure's protocol, for AZURE_OPENAI_ENDPOINT.
func (s *Server) AzureURL() string {
	if s.server == nil {
		return "http://llmtest.invalid"
	}
	return s.server.URL
}

// Client returns an HTTP client whose idle connections end with the server.
func (s *Server) Client() *http.Client {
	if s.server == nil {
		return &http.Client{Transport: inProcess{s.handler}}
	}
	return s.server.Client()
}

// Script makes the next requests fail, one fault each in this order. Later requests succeed, and so does one with a
// zero Fault.
func (s *Server) Script(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, faults...)
}

// Break makes every request after the script fail, until Mend.
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

// Requests returns the number of requests, including failed ones.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// Inputs returns how many texts were embedded.
func (s *Server) Inputs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inputs
}

// Tokens returns how many tokens were billed.
func (s *Server) Tokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.billed
}

// Peak returns the largest number of concurrent requests.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// Received returns the requests in order of arrival.
func (s *Server) Received() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// begin records a request of about this many tokens, and returns its fault and the headers of its answer.
func (s *Server) begin(r Request, tokens int) (Fault, http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.At = time.Now()
	s.requests = append(s.requests, r)
	limited, header := s.limiter.take(r.At, len(s.requests), tokens)
	fault := s.next()
	if limited != nil && fault.Status == 0 {
		fault = *limited
	}
	return fault, header
}

// next returns the scripted fault of a request.
func (s *Server) next() Fault {
	s.inFlight++
	s.peak = max(s.peak, s.inFlight)
	if len(s.script) > 0 {
		fault := s.script[0]
		s.script = s.script[1:]
		return fault
	}
	if s.outage != nil {
		return *s.outage
	}
	return Fault{}
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
}

func (s *Server) bill(inputs, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs += inputs
	s.billed += tokens
}
