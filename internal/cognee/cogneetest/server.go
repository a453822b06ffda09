// Package cogneetest is a stand-in for a Cognee server. It has the endpoints that the worker uses, with the behaviour of
// Cognee 1.6.5 as far as the worker depends on it (rows named after the upload, one row for equal bytes, 409 with the
// place of the document, updates that keep or lose the node set, runs of cognify), and fails on demand. It counts what
// took effect.
package cogneetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// Key is the API key that the server accepts by default.
const Key = "cognee-test-0123456789"

// The endpoints, for Fault and Calls.
const (
	Add     = "add"
	Update  = "update"
	Forget  = "forget"
	Cognify = "cognify"
	Status  = "status"
	List    = "datasets"
	Items   = "data"
)

// Options configure a Server. The zero value is a well-behaved service.
type Options struct {
	Key string // the API key that it accepts; empty: the constant Key
	// Polls is how often a run of cognify is seen running before it has ended.
	Polls int
	// FullRebuilds: an update never replaces parts of a graph.
	FullRebuilds bool
	// Fault says how a request to an endpoint fails; nil: it does not. It is called for one request at a time.
	Fault func(endpoint string, r *http.Request) *Fault
}

// Fault is how one request fails. The zero value is an answer of 500 before anything was done.
type Fault struct {
	Status int         // of the answer; zero: 500
	Header http.Header // of the answer
	Body   string      // of the answer; empty: as Cognee words it
	Drop   bool        // the connection closes without an answer
	After  bool        // the request is done first
	Wait   func()      // called before the answer, with the request done or not
	// Late: the connection closes once the form is there, and the request is done when the channel is closed.
	Late chan struct{}
}

// Change is something that took effect.
type Change struct {
	Endpoint string // Add, Update or Forget
	Document string // the name of the row: the document's id
	Content  string // empty after Forget
}

// Server is a running stand-in. It is safe for concurrent use and stops with its test.
type Server struct {
	o    Options
	http *httptest.Server
	once sync.Mutex // of Fault

	mu       sync.Mutex
	datasets map[string]*dataset // by id
	calls    map[string]int
	changes  []Change
	repeated int // requests that changed nothing, because the content was there
}

type dataset struct {
	id, name  string
	rows      []*row // in the order of their creation
	run       string // a PipelineRunStatus; empty: none
	polls     int    // until the run has ended
	cognified int    // runs
}

type row struct {
	id, name, content string
	nodeSet           []string
	metadata          map[string]any
	inGraph           bool
}

// New starts a server.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Key == "" {
		o.Key = Key
	}
	s := &Server{o: o, datasets: map[string]*dataset{}, calls: map[string]int{}}
	mux := http.NewServeMux()
	for pattern, serve := range map[string]struct {
		name string
		do   func(http.ResponseWriter, *http.Request)
	}{
		"POST /api/v1/add":               {Add, s.add},
		"PATCH /api/v1/update":           {Update, s.update},
		"POST /api/v1/forget":            {Forget, s.forget},
		"POST /api/v1/cognify":           {Cognify, s.cognify},
		"GET /api/v1/datasets/status":    {Status, s.status},
		"GET /api/v1/datasets":           {List, s.list},
		"GET /api/v1/datasets/{id}/data": {Items, s.items},
	} {
		mux.HandleFunc(pattern, s.faulty(serve.name, serve.do))
	}
	s.http = httptest.NewServer(mux)
	t.Cleanup(s.http.Close)
	return s
}

// URL is the server's address.
func (s *Server) URL() string { return s.http.URL }

// Stop makes the server unreachable.
func (s *Server) Stop() { s.http.Close() }

// faulty serves an endpoint with its faults.
func (s *Server) faulty(endpoint string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.calls[endpoint]++
		s.mu.Unlock()
		if r.Header.Get("X-Api-Key") != s.o.Key {
			reply(w, http.StatusUnauthorized, map[string]string{"detail": "Unauthorized"})
			return
		}
		var f *Fault
		if s.o.Fault != nil {
			s.once.Lock()
			f = s.o.Fault(endpoint, r)
			s.once.Unlock()
		}
		if f == nil {
			do(w, r)
			return
		}
		if f.Late != nil {
			_ = r.ParseMultipartForm(64 << 20) // do answers that it is none
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close() // the client sees it
			}
			<-f.Late
			doAnyway(do, r)
			return
		}
		if f.After {
			doAnyway(do, r)
		}
		if f.Wait != nil {
			_, _ = io.Copy(io.Discard, r.Body) // to its end: only then does the server notice that the client hangs up
			f.Wait()
		}
		if f.Drop {
			panic(http.ErrAbortHandler)
		}
		maps.Copy(w.Header(), f.Header)
		status := f.Status
		if status == 0 {
			status = http.StatusInternalServerError
		}
		if f.Body != "" {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(f.Body)) // the client may be gone
			return
		}
		reply(w, status, map[string]string{"error": "Internal server error", "detail": "quotes the document"})
	}
}

// doAnyway does a request also after its client has hung up.
func doAnyway(do http.HandlerFunc, r *http.Request) {
	do(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
}

// reply writes a JSON answer.
func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

// Calls is how many requests an endpoint got.
func (s *Server) Calls(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[endpoint]
}

// Changes are what took effect, in order.
func (s *Server) Changes() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.changes)
}

// Repeated is how many requests changed nothing, because the content was there.
func (s *Server) Repeated() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repeated
}

// Row is what the server has of a document.
type Row struct {
	ID, Dataset, Content string
	NodeSet              []string
	Metadata             map[string]any
	InGraph              bool
}

// Rows are all rows by their names.
func (s *Server) Rows() map[string][]Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string][]Row{}
	for _, d := range s.datasets {
		for _, r := range d.rows {
			all[r.name] = append(all[r.name], Row{r.id, d.name, r.content, r.nodeSet, r.metadata, r.inGraph})
		}
	}
	return all
}

// Cognified is how many runs of cognify a dataset has had, by its name.
func (s *Server) Cognified() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]int{}
	for _, d := range s.datasets {
		all[d.name] = d.cognified
	}
	return all
}

// Plant adds a row as somebody else could, and returns its id.
func (s *Server) Plant(dataset, name, content string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.named(dataset)
	r := &row{id: uuid.NewString(), name: name, content: content}
	d.rows = append(d.rows, r)
	return r.id
}

// Remove removes a dataset, as somebody else could.
func (s *Server) Remove(dataset string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.datasets, idOf(dataset))
}

// named is the dataset of a name. Its id follows from the name, as Cognee's does.
func (s *Server) named(name string) *dataset {
	id := idOf(name)
	if s.datasets[id] == nil {
		s.datasets[id] = &dataset{id: id, name: name}
	}
	return s.datasets[id]
}

func idOf(dataset string) string { return uuid.NewSHA1(uuid.NameSpaceOID, []byte(dataset)).String() }

func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}
