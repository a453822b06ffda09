package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// sampleAge is the shortest time between two samples of one value.
const sampleAge = 30 * time.Second

// samples are values that need requests to services. The first scrape takes them all: what increases after that is seen.
// Each later one takes the next sample, so that an idle tenant pays for one request, plus those of what was busy at the
// last sample. Without scrapes there are no requests.
type samples struct {
	asking sync.Mutex // held by the scrape that takes samples; others skip sampling
	next   int        // index of the sample that the next scrape takes

	mu  sync.Mutex
	all []*sample
}

// sample is one request and its values.
type sample struct {
	of   string // "outbox", or a queue's label
	what Definition
	ask  func(ctx context.Context) ([]prometheus.Metric, bool, error)
	// skip returns, without a request, that there is nothing to sample, and the values then. Nil: never.
	skip func() ([]prometheus.Metric, bool)

	at     time.Time // of the last answer or failure; zero: none
	busy   bool
	values []prometheus.Metric // nil: not known
}

func newSamples() *samples { return &samples{} }

// WatchQueues adds the depth and the age of each queue.
func (m *Metrics) WatchQueues(q engine.Queues) {
	for _, one := range []struct {
		label string
		queue queue.Queue
	}{{"high", q.High}, {"normal", q.Normal}, {"low", q.Low}, {"deadletter", q.DeadLetter}} {
		m.queues[one.queue.Name()] = one.label
		m.samples.addQueue(one.label, one.queue)
	}
	m.onArrive = m.samples.arrived
}

// WatchOutbox adds the outbox of webhooks.
func (m *Metrics) WatchOutbox(b store.Backlog) {
	m.samples.add(&sample{
		of: "outbox", what: outboxSize,
		ask: func(ctx context.Context) ([]prometheus.Metric, bool, error) {
			o, err := b.Outbox(ctx)
			if err != nil {
				return nil, false, err
			}
			return []prometheus.Metric{
				outboxSize.now(float64(o.Due), "due"), outboxSize.now(float64(o.Pending-o.Due), "scheduled"),
				outboxOldest.now(o.Oldest.Seconds()),
			}, o.Pending > 0, nil
		},
	})
}

// addQueue adds a queue. It peeks only if the queue is not empty. Dead letters stay for days: they don't make the queue
// busy.
func (s *samples) addQueue(label string, q queue.Queue) {
	work := label != "deadletter"
	size := &sample{of: label, what: depth}
	empty := false // at the last sample; guarded by asking
	size.ask = func(ctx context.Context) ([]prometheus.Metric, bool, error) {
		n, err := q.Depth(ctx)
		empty = err == nil && n == 0 // of a queue that can't be read nothing is known
		if err != nil {
			return nil, false, err
		}
		return []prometheus.Metric{depth.now(float64(n), label)}, work && n > 0, nil
	}
	age := &sample{of: label, what: oldest}
	age.ask = func(ctx context.Context) ([]prometheus.Metric, bool, error) {
		front, err := q.Peek(ctx, 1)
		if err != nil {
			return nil, false, err
		}
		if len(front) == 0 {
			return []prometheus.Metric{oldest.now(0, label)}, false, nil
		}
		return []prometheus.Metric{oldest.now(max(0, time.Since(front[0].InsertedAt)).Seconds(), label)}, work, nil
	}
	age.skip = func() ([]prometheus.Metric, bool) { return []prometheus.Metric{oldest.now(0, label)}, empty }
	s.add(size)
	s.add(age)
}

func (s *samples) add(one *sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, one)
}

// arrived records that a queue has had messages: it is sampled soon.
func (s *samples) arrived(label string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		if one.of == label {
			one.busy = true
		}
	}
}

// refresh takes the samples that are due, within sampleLimit.
func (s *samples) refresh(ctx context.Context) {
	if !s.asking.TryLock() {
		return
	}
	defer s.asking.Unlock()
	ctx, done := context.WithTimeout(ctx, sampleLimit)
	defer done()
	for _, one := range s.due() {
		if ctx.Err() == nil {
			s.take(ctx, one)
		}
	}
}

// due returns the samples that were never taken, those of what is busy, and the next of the others.
func (s *samples) due() (now []*sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := func(one *sample) bool { return time.Since(one.at) >= sampleAge }
	for _, one := range s.all {
		if one.at.IsZero() || one.busy && old(one) {
			now = append(now, one)
		}
	}
	for range s.all {
		one := s.all[s.next%len(s.all)]
		s.next++
		if one.at.IsZero() || one.busy || !old(one) {
			continue
		}
		if one.skip != nil {
			if values, ok := one.skip(); ok {
				one.values, one.at = values, time.Now()
				continue
			}
		}
		return append(now, one)
	}
	return now
}

// take takes a sample. A value that can't be had is left out: a stale value would look current.
func (s *samples) take(ctx context.Context, one *sample) {
	values, busy, err := one.ask(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	one.at, one.busy, one.values = time.Now(), busy, values
	if err != nil {
		one.values = nil
	}
}

// Describe implements prometheus.Collector.
func (*samples) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []Definition{depth, oldest, outboxSize, outboxOldest, eventsBehind, eventsLag, cogneeBacklog, cogneeOldest, cogneeDown} {
		to <- d.desc()
	}
}

// Collect implements prometheus.Collector.
func (s *samples) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		for _, v := range one.values {
			to <- v
		}
	}
}
