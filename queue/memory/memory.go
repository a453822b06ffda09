// Package memory is an in-process queue back end for tests, simulations and examples. It uses time.Now, so that it runs
// on virtual time in a testing/synctest bubble.
package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// MaxText is the largest size of a message's text in bytes, as on Azure.
const MaxText = 64 << 10

// Options qualify New. The zero value has no limits.
type Options struct {
	// MaxMessages is how many messages one queue holds, hidden ones included; Send returns a transient error above it.
	// Zero: no limit.
	MaxMessages int
	// OldestFirst makes a receive return those first that were sent first, however long they were hidden, as pgmq does.
	OldestFirst bool
}

// Service holds queues in memory. Make it with New; it is safe for concurrent use.
type Service struct {
	options Options
	mu      sync.Mutex // guards all below, and the queues' messages
	queues  map[string]*contents
	serial  uint64 // of ids and receipts
}

// contents are the messages of one queue in the order in which they were sent.
type contents struct{ messages []*message }

type message struct {
	queue.Peeked
	visibleAt time.Time
	receipt   uint64 // of the last receive, extension or release
}

// New returns an empty service.
func New(o Options) *Service { return &Service{options: o, queues: map[string]*contents{}} }

// Queue implements queue.Service.
func (s *Service) Queue(name string) queue.Queue { return &memoryQueue{service: s, name: name} }

// Close implements queue.Service; it has nothing to do.
func (s *Service) Close() error { return nil }

// find returns the queue's contents without expired messages. The caller holds s.mu.
func (s *Service) find(name string, now time.Time) (*contents, error) {
	c := s.queues[name]
	if c == nil {
		return nil, fmt.Errorf("queue %q: %w", name, queue.ErrNotFound)
	}
	c.messages = slices.DeleteFunc(c.messages, func(m *message) bool {
		return !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(now)
	})
	return c, nil
}

// next returns a number that was never used. The caller holds s.mu.
func (s *Service) next() uint64 {
	s.serial++
	return s.serial
}

// visible returns up to n visible messages, those first that have been visible for longest, or were sent first.
func (c *contents) visible(n int, now time.Time, oldestFirst bool) []*message {
	var found []*message
	for _, m := range c.messages {
		if !m.visibleAt.After(now) {
			found = append(found, m)
		}
	}
	if !oldestFirst {
		slices.SortStableFunc(found, func(a, b *message) int { return cmp.Compare(a.visibleAt.UnixNano(), b.visibleAt.UnixNano()) })
	}
	return found[:min(n, len(found))]
}

func (s *Service) send(name, text string, o queue.SendOptions) (string, error) {
	if len(text) > MaxText {
		return "", fmt.Errorf("send to queue %q: %d bytes, %d fit: %w", name, len(text), MaxText, queue.ErrTooLarge)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	c, err := s.find(name, now)
	if err != nil {
		return "", err
	}
	if s.options.MaxMessages > 0 && len(c.messages) >= s.options.MaxMessages {
		return "", taskerr.Errorf(taskerr.TransientStorage, "send to queue %q: it is full (%d messages)", name,
			len(c.messages))
	}
	m := &message{
		Peeked:    queue.Peeked{ID: "m" + strconv.FormatUint(s.next(), 10), Text: text, InsertedAt: now},
		visibleAt: now.Add(max(o.Delay, 0)),
	}
	if o.TTL > 0 {
		m.ExpiresAt = now.Add(o.TTL)
	}
	c.messages = append(c.messages, m)
	return m.ID, nil
}
