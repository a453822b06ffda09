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
	mostHidden = time.Hour
	mostHeld   = 2000 // messages that are not wanted, in memory with their texts
	atOnce     = 8    // requests
)

// Copies are what a search for copies of dead letters did.
type Copies struct {
	Removed  int  `json:"removed"`
	Left     int  `json:"left"`     // of the letters looked for: not found, or in somebody else's hands
	Looked   int  `json:"looked"`   // messages looked at
	Complete bool `json:"complete"` // a letter of Left has no copy on the queue: all messages were looked at

	Letters []string `json:"-"` // the letters of Left
}

// RemoveCopies takes the copies of the dead letters with these ids off the queue of dead letters, as far
// as they can be found there within bounds. A copy is known by its id. Other messages are put back
// unchanged, also when ctx ends. An error says that the queue could not be read.
func RemoveCopies(ctx context.Context, q queue.Queue, ids []string) (Copies, error) {
	s := newSearch(q, ids)
	_, err := s.walk(ctx, func(bool) time.Duration { return 0 })
	if err == nil {
		_ = s.check(ctx) // what it can't tell is not complete
	}
	return s.result(), err
}

// RemoveAllCopies is RemoveCopies that goes on as long as it sees messages that it has not looked at. It tells how many it
// has looked at before each further walk through the queue. A queue that hands out the same ones again, as NATS and pgmq do,
// gets them back hidden for a while.
func RemoveAllCopies(ctx context.Context, q queue.Queue, ids []string, further func(looked int)) (Copies, error) {
	s := newSearch(q, ids)
	for hiding := false; ; {
		before, hid := len(s.seen), hiding
		through, err := s.walk(ctx, func(through bool) time.Duration {
			if hiding = hiding || len(s.seen) == before; !hiding || through {
				return 0
			}
			return s.rest(ctx)
		})
		if err != nil {
			return s.result(), err
		}
		if through || hid && len(s.seen) == before {
			err := s.check(ctx)
			return s.result(), err
		}
		further(len(s.seen))
	}
}

// search looks at the messages of the queue, in one or more walks.
type search struct {
	queue    queue.Queue
	began    time.Time
	wanted   map[string]bool
	lost     map[string]bool // of wanted: their copies were seen, and may still be there
	seen     map[string]bool // ids of messages
	held     []queue.Lease
	removed  int
	complete bool
}

func newSearch(q queue.Queue, ids []string) *search {
	s := &search{queue: q, began: time.Now(), wanted: make(map[string]bool, len(ids)), lost: map[string]bool{}, seen: map[string]bool{}}
	for _, id := range ids {
		s.wanted[id] = true
	}
	return s
}

func (s *search) result() Copies {
	letters := slices.Sorted(maps.Keys(s.wanted))
	return Copies{Removed: s.removed, Left: len(letters), Looked: len(s.seen), Complete: s.complete, Letters: letters}
}

// walk looks at messages within the bounds, and puts back those that are not wanted, hidden for as long as hidden says.
// It reports whether no other was to be had, or needed.
func (s *search) walk(ctx context.Context, hidden func(through bool) time.Duration) (through bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	through, err = s.look(bounded)
	switch {
	case errors.Is(err, queue.ErrNotFound): // no queue, no copies
		through, err = true, nil
	case bounded.Err() != nil && ctx.Err() == nil: // the time is over
		err = nil
	}
	back, cancelBack := context.WithTimeout(context.WithoutCancel(ctx), copyLease-searchTime)
	defer cancelBack()
	var wait time.Duration
	if err == nil {
		wait = hidden(through)
	}
	s.putBack(back, wait)
	return through, err
}

func (s *search) look(ctx context.Context) (through bool, err error) {
	now := map[string]bool{} // seen in this walk
	for len(s.wanted) > 0 {
		if len(s.held) >= mostHeld {
			return false, nil
		}
		batch, err := s.queue.Receive(ctx, queue.MaxBatch, copyLease)
		if err != nil {
			return false, fmt.Errorf("look for copies of dead letters: %w", err)
		}
		before := len(now)
		var found []*queue.Message
		for _, m := range batch {
			now[m.ID], s.seen[m.ID] = true, true
			if s.wanted[letterID(m.Text)] {
				found = append(found, m)
			} else {
				s.held = append(s.held, m.Lease)
			}
		}
		if err := s.remove(ctx, found); err != nil {
			return false, err
		}
		if len(now) == before { // the queue is through, or hands out what was seen
			return true, nil
		}
	}
	return true, nil
}

// check finds out whether the search is complete. A message that somebody else holds at this time, such as another search,
// shows only in the queue's depth.
func (s *search) check(ctx context.Context) error {
	if len(s.wanted) == 0 {
		s.complete = true
		return nil
	}
	depth, err := s.queue.Depth(ctx)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return fmt.Errorf("look for copies of dead letters: %w", err)
	}
	s.complete = len(s.lost) == 0 && depth <= len(s.seen)-s.removed
	return nil
}

// remove deletes copies. One that somebody else has by now stays wanted, as does one whose removal is not certain.
func (s *search) remove(ctx context.Context, found []*queue.Message) error {
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, m := range found {
		g.Go(func() error {
			err, id := m.Lease.Delete(ctx), letterID(m.Text)
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, queue.ErrLeaseLost) || errors.Is(err, queue.ErrUncertain) {
				s.lost[id] = true
				return nil
			}
			if err != nil {
				return fmt.Errorf("remove the copy of a dead letter: %w", err)
			}
			delete(s.wanted, id)
			delete(s.lost, id)
			s.removed++
			return nil
		})
	}
	return g.Wait()
}

// rest is how long those that were looked at stay hidden from the next walks: twice what the others of the queue are expected
// to take, so that they don't come first once more.
func (s *search) rest(ctx context.Context) time.Duration {
	depth, err := s.queue.Depth(ctx)
	if err != nil { // the walks find out what it is
		return copyLease
	}
	others := float64(depth-(len(s.seen)-s.removed)) / float64(max(len(s.seen), 1))
	return min(max(2*time.Duration(others*float64(time.Since(s.began))), copyLease), mostHidden)
}

// putBack shows again what was hidden, after a while or at the end of the queue: else the next search would see no other.
// What fails here comes back by itself within copyLease.
func (s *search) putBack(ctx context.Context, hidden time.Duration) {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, l := range s.held {
		g.Go(func() error {
			wait := hidden
			if _, ok := l.(queue.FirstReleaser); ok { // only what it releases to be received at once comes first
				wait = time.Millisecond
			}
			_ = l.Release(ctx, wait)
			return nil
		})
	}
	_ = g.Wait()
	s.held = nil
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
