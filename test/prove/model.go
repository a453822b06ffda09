package main

import (
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const modelKey = "sk-prove"

// model stands in for the embeddings service: it answers after a while, so that a task takes time.
type model struct {
	*faultyServer

	mu          sync.Mutex
	rnd         *rand.Rand
	least, most time.Duration // of an answer
}

// slowWord is a word in texts that the model is slow at.
const (
	slowWord     = "tiresome"
	tiresomeTime = 6 * time.Second
)

// poisonWord is a word in texts at which the model fails each time.
const poisonWord = "poisonous"

func newModel() *model {
	m := &model{rnd: rand.New(rand.NewPCG(1, 1))}
	m.faultyServer = newFaultyServer(m.ServeHTTP)
	return m
}

func (m *model) close() error { m.faultyServer.close(); return nil }

func (m *model) url() string { return m.server.URL + "/v1" }

// slow makes answers take between least and most.
func (m *model) slow(seed uint64, least, most time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rnd, m.least, m.most = rand.New(rand.NewPCG(seed, 2)), least, most
}

func (m *model) wait() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.least + time.Duration(m.rnd.Int64N(int64(m.most-m.least)+1))
}

// ServeHTTP answers POST /v1/embeddings. The vectors are hashes of the texts, of unit length.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Input []string `json:"input"`
		Model string   `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !m.pass(w, r) {
		return
	}
	if slices.ContainsFunc(asked.Input, func(text string) bool { return strings.Contains(text, poisonWord) }) {
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	}
	wait := m.wait()
	if slices.ContainsFunc(asked.Input, func(text string) bool { return strings.Contains(text, slowWord) }) {
		wait = tiresomeTime
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return
	}
	if !m.pass(w, r) {
		return
	}
	type item struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	items := make([]item, len(asked.Input))
	for i, text := range asked.Input {
		items[i] = item{"embedding", i, vector(text)}
	}
	w.Header().Set("Content-Type", "application/json")
	// An error here means that the client has gone.
	_ = json.NewEncoder(w).Encode(map[string]any{
		"object": "list", "model": asked.Model, "data": items,
		"usage": map[string]int{"prompt_tokens": len(items), "total_tokens": len(items)},
	})
}

func vector(text string) []float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	rnd := rand.New(rand.NewPCG(h.Sum64(), 3))
	v, sum := make([]float64, dimensions), 0.0
	for i := range v {
		v[i] = rnd.NormFloat64()
		sum += v[i] * v[i]
	}
	for i := range v {
		v[i] /= math.Sqrt(sum)
	}
	return v
}
