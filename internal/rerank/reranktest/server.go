// Package reranktest is a stand-in for re-ranking services: it speaks the protocols of Cohere, Voyage and
// text-embeddings-inference over HTTP, and rates a passage by the part of the question's words that it has.
package reranktest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Key is the key that the stand-in accepts.
const Key = "rerank-key"

// Model is the model that the stand-ins for Cohere and Voyage have.
const Model = "rerank-test"

// MostTexts is how many texts text-embeddings-inference takes in a request, unless it is told otherwise
// (--max-client-batch-size).
const MostTexts = 32

// The paths of the services.
const (
	Cohere = "/v2/rerank"
	Voyage = "/v1/rerank"
	TEI    = "/rerank"
)

// Server is a stand-in. Its zero fields change nothing.
type Server struct {
	URL string // without a path

	mu       sync.Mutex
	requests int
	faults   []http.HandlerFunc
}

// New starts a stand-in, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := new(Server)
	mux := http.NewServeMux()
	for _, path := range []string{Cohere, Voyage, TEI} {
		mux.HandleFunc("POST "+path, s.serve)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Fail lets the next requests be answered by these, one each.
func (s *Server) Fail(faults ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Status is a fault: an error response, with Retry-After if after is not empty.
func Status(code int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		http.Error(w, `{"message":"no"}`, code)
	}
}

// Requests is how many requests there were.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *Server) next() http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if len(s.faults) == 0 {
		return nil
	}
	f := s.faults[0]
	s.faults = s.faults[1:]
	return f
}

type rated struct {
	Index     int      `json:"index"`
	Relevance *float64 `json:"relevance_score,omitempty"`
	Score     *float64 `json:"score,omitempty"`
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if fault := s.next(); fault != nil {
		fault(w, r)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+Key {
		http.Error(w, `{"message":"invalid api token"}`, http.StatusUnauthorized)
		return
	}
	var q struct {
		Query     string   `json:"query"`
		Model     string   `json:"model"`
		Documents []string `json:"documents"`
		Texts     []string `json:"texts"`
	}
	decoder := json.NewDecoder(r.Body)
	if r.URL.Path != TEI {
		decoder.DisallowUnknownFields() // Cohere and Voyage refuse what they don't know
	} else {
		q.Model = Model
	}
	if err := decoder.Decode(&q); err != nil || q.Query == "" || q.Model != Model ||
		(r.URL.Path == TEI) != (len(q.Texts) > 0) || (r.URL.Path == TEI) == (len(q.Documents) > 0) {
		http.Error(w, `{"message":"invalid request"}`, http.StatusUnprocessableEntity)
		return
	}
	if len(q.Texts) > MostTexts {
		http.Error(w, `{"error":"batch size > maximum allowed batch size 32","error_type":"Validation"}`, http.StatusRequestEntityTooLarge)
		return
	}
	answer(w, r.URL.Path, rate(q.Query, append(q.Documents, q.Texts...)))
}

// rate orders the texts, the best first, as the services do.
func rate(query string, texts []string) []rated {
	words := strings.Fields(strings.ToLower(query))
	all := make([]rated, len(texts))
	for i, text := range texts {
		score := 0.0
		for _, word := range words {
			if strings.Contains(strings.ToLower(text), word) {
				score += 1 / float64(len(words))
			}
		}
		all[i] = rated{Index: i, Score: &score}
	}
	slices.SortStableFunc(all, func(a, b rated) int {
		switch {
		case *a.Score > *b.Score:
			return -1
		case *a.Score < *b.Score:
			return 1
		}
		return 0
	})
	return all
}

func answer(w http.ResponseWriter, path string, all []rated) {
	w.Header().Set("Content-Type", "application/json")
	var body any = all
	if path != TEI {
		for i := range all {
			all[i].Relevance, all[i].Score = all[i].Score, nil
		}
		body = map[string]any{map[string]string{Cohere: "results", Voyage: "data"}[path]: all}
	}
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}
