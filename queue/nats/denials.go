package nats

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// denials remembers what the server denied. It says so apart from the request, which just gets no answer.
type denials struct {
	mu   sync.Mutex
	last []denial // the oldest first
}

type denial struct {
	what string // as in: publish to "$js.api.stream.create.jobs"
	at   time.Time
}

const keptDenials = 64

// note takes an asynchronous error of the client.
func (d *denials) note(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	// As in: permissions violation for publish to "$JS.API.STREAM.CREATE.JOBS"
	_, what, found := strings.Cut(strings.ToLower(err.Error()), "permissions violation for ")
	if !found {
		what = "a subject"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.last) == keptDenials {
		d.last = slices.Delete(d.last, 0, 1)
	}
	d.last = append(d.last, denial{what, time.Now()})
}

func (d *denials) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = nil
}

// since are the denials after a time, the latest first.
func (d *denials) since(from time.Time) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, one := range slices.Backward(d.last) {
		if one.at.After(from) {
			all = append(all, one.what)
		}
	}
	return all
}

// denied is what the server denied a request of this queue that has just failed; empty: nothing. Requests of other
// queues may have been denied meanwhile.
func (q *natsQueue) denied() string {
	recent := q.denial.since(time.Now().Add(-q.Timeout - time.Second))
	for _, what := range recent {
		if q.concerns(what) {
			return what
		}
	}
	q.service.mu.Lock()
	defer q.service.mu.Unlock()
	for _, what := range recent {
		of := func(other *natsQueue) bool { return other.concerns(what) }
		if !slices.ContainsFunc(slices.Collect(maps.Values(q.queues)), of) {
			return what // of the stream, which they share
		}
	}
	return ""
}

// concerns reports whether a denial names the queue's subject or its consumer.
func (q *natsQueue) concerns(what string) bool {
	_, subject, _ := strings.Cut(what, `"`)
	subject, _, _ = strings.Cut(subject, `"`)
	return subject == strings.ToLower(q.subject) ||
		slices.Contains(strings.Split(subject, "."), strings.ToLower(q.durable))
}
