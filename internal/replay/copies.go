package replay

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/queue"
)

// Bounds on a search for copies. What is not a wanted copy stays hidden until the search is over, or the
// queue would hand it out again and again; so the search ends before the first of them comes back.
const (
	copyLease  = 60 * time.Second
	searchTime = 45 * time.Second
	mostHeld   = 2000 // messages that are not wanted, in memory with their texts
	atOnce     = 8    // requests
)

// Copies are what a search for copies of dead letters did.
type Copies struct {
	Removed int `json:"removed"`
	Left    int `json:"left"`   // of the letters looked for: not found, or in somebody else's hands
	Looked  int `json:"looked"` // messages looked at

	Letters []string `json:"-"` // the letters of Left
}

// RemoveCopies takes the copies of the dead letters with these ids off the queue of dead letters, as far
// as they can be found there within bounds. A copy is known by its id. Other messages are put back
// unchanged, also when ctx ends. An error says that the queue could not be read to the end.
func RemoveCopies(ctx context.Context, q queue.Queue, ids []string) (Copies, error) {
	s := search{queue: q, wanted: make(map[string]bool, len(ids)), seen: map[string]bool{}}
	for _, id := range ids {
		s.wanted[id] = true
	}
	bounded, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	err := s.run(bounded)
	if errors.Is(err, queue.ErrNotFound) || (bounded.Err() != nil && ctx.Err() == nil) {
		err = nil // no queue, no copies; or the time is over, and Left says so
	}
	back, cancelBack := context.WithTimeout(context.WithoutCancel(ctx), copyLease-searchTime)
	defer cancelBack()
	s.putBack(back)
	s.done.Letters = slices.Sorted(maps.Keys(s.wanted))
	s.done.Left = len(s.done.Letters)
	return s.done, err
}

// search is one walk through the queue.
type search struct {
	queue  queue.Queue
	wanted map[string]bool
	seen   map[string]bool // ids of messages
	held   []queue.Lease
	done   Copies
}

func (s *search) run(ctx context.Context) error {
	for len(s.wanted) > 0 && len(s.held) < mostHeld {
		batch, err := s.queue.Receive(ctx, queue.MaxBatch, copyLease)
		if err != nil {
			return fmt.Errorf("look for copies of dead letters: %w", err)
		}
		fresh := 0
		var found []*queue.Message
		for _, m := range batch {
			if !s.seen[m.ID] {
				s.seen[m.ID] = true
				fresh++
			}
			if s.wanted[letterID(m.Text)] {
				found = append(found, m)
			} else {
				s.held = append(s.held, m.Lease)
			}
		}
		s.done.Looked += fresh
		if err := s.remove(ctx, found); err != nil {
			return err
		}
		if fresh == 0 { // the queue is through, or hands out what was seen
			return nil
		}
	}
	return nil
}

// remove deletes copies. One that somebody else has by now stays wanted.
func (s *search) remove(ctx context.Context, found []*queue.Message) error {
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, m := range found {
		g.Go(func() error {
			err := m.Lease.Delete(ctx)
			if errors.Is(err, queue.ErrLeaseLost) || errors.Is(err, queue.ErrUncertain) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("remove the copy of a dead letter: %w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			delete(s.wanted, letterID(m.Text))
			s.done.Removed++
			return nil
		})
	}
	return g.Wait()
}

// putBack shows again what was hidden, at the end of the queue: else the next search would see no other. What fails here
// comes back by itself within copyLease.
func (s *search) putBack(ctx context.Context) {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, l := range s.held {
		g.Go(func() error {
			var wait time.Duration
			if _, ok := l.(queue.FirstReleaser); ok { // what it releases to be received at once comes first
				wait = time.Millisecond
			}
			_ = l.Release(ctx, wait)
			return nil
		})
	}
	_ = g.Wait()
}

// letterID is the id of the dead letter that a text is the copy of; empty: it is none.
func letterID(text string) string {
	var envelope struct {
		ID string `json:"id"`
	}
	if json.Unmarshal([]byte(text), &envelope) == nil {
		return envelope.ID
	}
	// A queue keeps as base64 what its protocol can't carry.
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && json.Unmarshal(raw, &envelope) == nil {
		return envelope.ID
	}
	return ""
}
