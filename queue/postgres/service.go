// Package postgres is the queue back end on the database of the store: its functions aw_queue_*, over a direct
// connection or over PostgREST. A receive locks rows and skips those that others have locked; every request on a lease
// carries the receipt of its receive, so that a stale one changes nothing. Times are the database's.
package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Options qualify Open.
type Options struct {
	// ClientID is the tenant. Required.
	ClientID string
	// Timeout is the timeout of each request. Default 10 s.
	Timeout time.Duration
	// OnRequest is called for every request with the operation (receive, send, peek, extend, release, delete, ensure,
	// depth, tidy) and its outcome (ok; refused; uncertain: no answer). It must not block. May be nil.
	OnRequest func(op, outcome string)
	// Missing is what to do when the functions do not exist. Default: migrate.
	Missing string
}

const defaultTimeout = 10 * time.Second

// Channel is the channel of the notifications about a tenant's new messages.
func Channel(clientID string) string { return "aw_queue_" + clientID }

type service struct {
	Options
	caller rpc.Caller
	tidy   tidy

	mu     sync.Mutex
	queues map[string]*pgQueue
	failed time.Time // when the database last could not do a request
}

// Open returns the queues of a tenant over a caller, which it closes. It doesn't touch the network.
func Open(caller rpc.Caller, o Options) queue.Service {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Missing == "" {
		o.Missing = "run async-worker migrate, and check DB_SCHEMA"
	}
	if o.OnRequest == nil {
		o.OnRequest = func(string, string) {}
	}
	return &service{Options: o, caller: caller, queues: map[string]*pgQueue{}}
}

// Queue implements queue.Service.
func (s *service) Queue(name string) queue.Queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[name]
	if q == nil {
		q = newQueue(s, name)
		s.queues[name] = q
	}
	return q
}

// Close implements queue.Service.
func (s *service) Close() error {
	s.caller.Close()
	return nil
}

// reference names a received message.
type reference struct {
	ID      string `json:"id,omitempty"`
	Receipt string `json:"receipt,omitempty"`
}

// arguments are those of all functions.
type arguments struct {
	ClientID string `json:"client_id"`
	Queue    string `json:"queue,omitempty"`

	reference
	cursor

	Messages   []reference `json:"messages,omitempty"`
	N          int         `json:"n,omitempty"`
	Visibility int64       `json:"visibility_ms,omitempty"`

	Text  *string `json:"text,omitempty"`
	Delay int64   `json:"delay_ms"`
	TTL   int64   `json:"ttl_ms,omitempty"`
	Held  bool    `json:"held,omitempty"`
	First bool    `json:"first,omitempty"`
}

// call runs one function with the service's timeout, and counts it.
func (s *service) call(ctx context.Context, op string, args arguments, answer any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	args.ClientID = s.ClientID
	p, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("encode the arguments of %s: %w", op, err)
	}
	bounded, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	raw, err := s.caller.Call(bounded, "aw_queue_"+op, p)
	if err == nil {
		err = json.Unmarshal(raw, answer)
	}
	s.OnRequest(strings.TrimSuffix(op, "_all"), outcomeOf(err))
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // the client's error may not say so
	}
	if failing(err) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = time.Now()
	}
	return err
}

// lastFailure is when the database last could not do a request.
func (s *service) lastFailure() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// tidy is when to have emptied partitions truncated.
type tidy struct {
	mu         sync.Mutex
	last, busy time.Time
}

const (
	tidyEvery = 5 * time.Second
	tidyAfter = 5 * time.Minute // after the last message
)

// due reports whether it is time, after a receive of some messages.
func (t *tidy) due(received int, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if received > 0 {
		t.busy = now
	}
	if now.Sub(t.last) < tidyEvery || now.Sub(t.busy) > tidyAfter {
		return false
	}
	t.last = now
	return true
}
