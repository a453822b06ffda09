package nats

import (
	"errors"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// announcer learns of new messages of a queue from a plain subscription to its subject, beside the stream that
// captures it. It gets each message once more, which is cheap, and takes none.
type announcer struct {
	sub   *nats.Subscription // nil: not subscribed; the queue's mu guards it
	since atomic.Bool        // there was a message since the last receive
}

// listen subscribes once to the queue's subject, if anybody wants to know.
func (q *natsQueue) listen(w wire) {
	if q.OnMessage == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.news.sub != nil {
		return
	}
	sub, err := w.Subscribe(q.subject, func(*nats.Msg) {
		q.news.since.Store(true)
		q.OnMessage()
	})
	if err == nil { // else the next receive tries again
		q.news.sub = sub
	}
}

// mayCome reports whether a message may be on its way to the consumer, so that it is worth waiting for.
func (q *natsQueue) mayCome() bool {
	if q.OnMessage == nil || q.deaf.Load() {
		return true
	}
	return q.news.since.Swap(false)
}

// refusedListener reports whether an asynchronous error of the client is about a subscription of listen, which is not
// needed for any request.
func (s *service) refusedListener(err error) bool {
	text := strings.ToLower(err.Error())
	if !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(text, "subscription to") {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		if strings.Contains(text, `"`+strings.ToLower(q.subject)+`"`) {
			s.deaf.Store(true)
			return true
		}
	}
	return false
}
