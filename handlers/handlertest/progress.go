package handlertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrKilled is the error of Progress.Save when it kills the worker.
var ErrKilled = errors.New("the worker was killed")

// Progress records a handler's reports. The zero value is ready to use. Read its fields after the handler has returned.
type Progress struct {
	KillAfter []int // numbers of the saves, from 1, that end with ErrKilled
	LoseSave  bool  // a save that ends with ErrKilled stores nothing

	Stages   []string
	Messages []string        // of Report, without empty ones
	Log      []string        // stages and messages in order
	Trace    []string        // of Report and Pages, in order: "0.50 message", "3 of 4"
	Pending  json.RawMessage // the last checkpoint
	Saved    json.RawMessage // the last checkpoint that Save stored
	Saves    int
	Largest  int    // size in bytes of the largest checkpoint that Save stored
	Text     string // the deltas since the last restart
	Restarts int

	mu sync.Mutex
}

// Stage implements handlers.Progress.
func (p *Progress) Stage(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Stages, p.Log = append(p.Stages, name), append(p.Log, name)
	return nil
}

// Report implements handlers.Progress.
func (p *Progress) Report(fraction float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if message != "" {
		p.Messages, p.Log = append(p.Messages, message), append(p.Log, message)
	}
	p.Trace = append(p.Trace, fmt.Sprintf("%.2f %s", fraction, message))
}

// Pages implements handlers.Progress.
func (p *Progress) Pages(completed, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Trace = append(p.Trace, fmt.Sprintf("%d of %d", completed, total))
}

// Checkpoint implements handlers.Progress.
func (p *Progress) Checkpoint(value any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Pending, _ = json.Marshal(value)
}

// Delta implements handlers.Progress.
func (p *Progress) Delta(piece string, restart bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if restart {
		p.Text = ""
		p.Restarts++
	}
	p.Text += piece
}

// Save implements handlers.Progress.
func (p *Progress) Save(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Saves++
	killed := slices.Contains(p.KillAfter, p.Saves)
	if !killed || !p.LoseSave {
		p.Saved = p.Pending
		p.Largest = max(p.Largest, len(p.Pending))
	}
	if killed {
		return ErrKilled
	}
	return nil
}
