package summarize

import (
	"encoding/json"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// ledger counts the tokens of all attempts at a task.
type ledger struct {
	mu       sync.Mutex
	prompt   int
	answers  int
	reserved int                           // by calls in progress
	kept     struct{ prompt, answers int } // of these, for answers that are kept
	reused   int                           // answers that other tasks have paid for
	known    map[string]bool               // keys of answers that are counted
}

func (l *ledger) paid() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.prompt + l.answers
}

// recalled counts a kept answer, which this task or another one has paid for; empty: what earlier attempts lost.
func (l *ledger) recalled(p store.Partial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[p.Key] {
		return
	}
	l.mark(p.Key)
	if !p.Own {
		l.reused++
		return
	}
	l.prompt += p.PromptTokens
	l.answers += p.CompletionTokens
	if string(p.Answer) != noAnswer {
		l.keep(p)
	}
}

// answered notes that this attempt has paid for a kept answer, which settle has counted: a second plan recalls it.
func (l *ledger) answered(p store.Partial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mark(p.Key)
	l.keep(p)
}

func (l *ledger) keep(p store.Partial) {
	l.kept.prompt += p.PromptTokens
	l.kept.answers += p.CompletionTokens
}

// noAnswer is the answer of a partial that holds only tokens.
const noAnswer = "{}"

// lost returns what all attempts have paid for without keeping an answer, to be kept under a key.
func (l *ledger) lost(key string) store.Partial {
	l.mu.Lock()
	defer l.mu.Unlock()
	return store.Partial{
		Key: key, Answer: json.RawMessage(noAnswer),
		PromptTokens: l.prompt - l.kept.prompt, CompletionTokens: l.answers - l.kept.answers,
	}
}

func (l *ledger) mark(key string) {
	if l.known == nil {
		l.known = map[string]bool{}
	}
	l.known[key] = true
}

// reserve reserves tokens unless that exceeds most; zero: no limit.
func (l *ledger) reserve(tokens, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most > 0 && l.prompt+l.answers+l.reserved+tokens > most {
		return false
	}
	l.reserved += tokens
	return true
}

func (l *ledger) settle(reserved int, a llm.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved -= reserved
	l.prompt += a.PromptTokens
	l.answers += a.CompletionTokens
}
