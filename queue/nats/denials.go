package nats

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// denials remembers what the server denied. It says so apart from the request, which just gets no answer.
type denials struct {
	mu       sync.Mutex
	last     []denial                              // the oldest first
	expected map[string][]*context.CancelCauseFunc // by what: each ends a request that may be denied
}

type denial struct {
	what string // as in: publish to "$JS.API.STREAM.CREATE.JOBS"
	at   time.Time
}

const keptDenials = 64

// note takes an asynchronous error of the client.
func (d *denials) note(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	what := denialOf(err)
	d.mu.Lock()
	defer d.mu.Unlock()
	if ends := d.expected[what]; len(ends) > 0 {
		(*ends[0])(&expectedDenial{err}) // each request is denied once
		d.expected[what] = ends[1:]
		return
	}
	if len(d.last) == keptDenials {
		d.last = slices.Delete(d.last, 0, 1)
	}
	d.last = append(d.last, denial{what, time.Now()})
}

var violation = pattern.New(`(?i)permissions violation for `)

// denialOf is what an error of the client says was denied, as in: publish to "$JS.API.STREAM.CREATE.JOBS".
func denialOf(err error) string {
	text := err.Error()
	found := violation.FindAllStringIndex(text, -1)
	if found == nil {
		return "a subject"
	}
	right, subject, quoted := strings.Cut(text[found[len(found)-1][1]:], `"`)
	if !quoted {
		return right
	}
	return strings.ToLower(right) + `"` + subject // a subject's case matters
}

// expectedDenial ends a request that works without the right.
type expectedDenial struct{ error }

// Unwrap is the client's error.
func (e *expectedDenial) Unwrap() error { return e.error }

// expect returns a context for a request to a subject that the server may deny: the denial ends it, and is not noted.
// The caller calls stop after the request.
func (d *denials) expect(ctx context.Context, subject string) (_ context.Context, stop func()) {
	what := `publish to "` + subject + `"`
	ctx, end := context.WithCancelCause(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.expected == nil {
		d.expected = map[string][]*context.CancelCauseFunc{}
	}
	d.expected[what] = append(d.expected[what], &end)
	return ctx, func() {
		end(nil)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.expected[what] = slices.DeleteFunc(d.expected[what], func(f *context.CancelCauseFunc) bool { return f == &end })
	}
}

// deniedIn is the denial that ended a context of expect; nil: none did.
func deniedIn(ctx context.Context) error {
	if denied, ok := errors.AsType[*expectedDenial](context.Cause(ctx)); ok {
		return denied.error
	}
	return nil
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
	return subject == q.subject || slices.Contains(strings.Split(subject, "."), q.durable)
}
