package ingest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// contextLedger counts what the contexts of a document cost, in all attempts, and which are missing. It is safe for
// concurrent use.
type contextLedger struct {
	mu       sync.Mutex
	tokens   int // of questions and answers
	requests int
	reserved int              // tokens of questions in progress
	answers  map[string]given // known ones, by the keys of the questions
	why      string           // no more is asked; empty: it is
	without  map[string]int   // chunks without a context, by the reason
	answered bool             // the service answered in this attempt, and did not fail
	failed   bool

	asking singleflight.Group // by the keys of the questions
}

// recalled takes a kept answer, which this task or another one has paid for.
func (l *contextLedger) recalled(p store.Partial) {
	var a given
	if json.Unmarshal(p.Answer, &a) != nil {
		return // of another version of this program
	}
	if !p.Own && a.Reason == reasonSpent {
		return // by the limit of another task
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, twice := l.answers[p.Key]; twice {
		return
	}
	l.learn(p.Key, a)
	if p.Own {
		l.requests++
		l.tokens += p.PromptTokens + p.CompletionTokens
	}
}

// answer takes an answer of this attempt.
func (l *contextLedger) answer(key string, a given) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(key, a)
}

// learn needs mu.
func (l *contextLedger) learn(key string, a given) {
	if l.answers == nil {
		l.answers = map[string]given{}
	}
	l.answers[key] = a
}

func (l *contextLedger) known(key string) (given, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := l.answers[key]
	return a, ok
}

func (l *contextLedger) knows(key string) bool {
	_, ok := l.known(key)
	return ok
}

func (l *contextLedger) spent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tokens
}

// stop ends the asking, for the first reason that is given.
func (l *contextLedger) stop(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == "" {
		l.why = why
	}
}

func (l *contextLedger) stopped() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

// reserve reserves tokens unless that exceeds most.
func (l *contextLedger) reserve(tokens, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens+l.reserved+tokens > most {
		return false
	}
	l.reserved += tokens
	return true
}

func (l *contextLedger) settle(reserved int, a llm.Answer, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved -= reserved
	l.tokens += a.PromptTokens + a.CompletionTokens
	if err != nil {
		l.failed = true
		return
	}
	l.answered = true
	l.requests++
}

// missing counts chunks without a context.
func (l *contextLedger) missing(chunks int, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if chunks <= 0 {
		return
	}
	if l.without == nil {
		l.without = map[string]int{}
	}
	l.without[why] += chunks
}

// warnings say how many chunks have no context, and why.
func (l *contextLedger) warnings() (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for why, n := range l.without {
		all = append(all, fmt.Sprintf("%d new chunks have no context: %s", n, why))
	}
	slices.Sort(all)
	return all
}

// proven reports whether this attempt shows that the service is up.
func (l *contextLedger) proven() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answered && !l.failed
}

func (l *contextLedger) paid() (requests, tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests, l.tokens
}
