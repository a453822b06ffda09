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

// sampleAge is how long a sample is not taken again.
const sampleAge = 30 * time.Second

// samples are values that services have to be asked for. At each scrape one sample is taken anew, in turn, so that an
// idle tenant pays for one request, and besides those of what was busy when it was looked at last. While nobody scrapes
// nothing is asked.
type samples struct {
	asking sync.Mutex // held by the scrape that takes samples; another one goes on without
	turn   int        // whose turn it is

	mu  sync.Mutex
	all []*sample
}

// sample is what one request tells.
type sample struct {
	of   string // "outbox", or a queue's label
	what Definition
	ask  func(ctx context.Context) ([]prometheus.Metric, bool, error)
	// skip says, without a request, that there is nothing to ask for, and what the values are then. Nil: never.
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
	m.samples.add(&sample{of: "outbox", what: outboxSize,
		ask: func(ctx context.Context) ([]prometheus.Metric, bool, error) {
			o, err := b.Outbox(ctx)
			if err != nil {
				return nil, false, err
			}
			return []prometheus.Metric{
				outboxSize.now(float64(o.Due), "due"), outboxSize.now(float64(o.Pending-o.Due), "scheduled"),
				outboxOldest.now(o.Oldest.Seconds()),
			}, o.Pending > 0, nil
		}})
}

// addQueue adds a queue. Its front is looked at only while something is in it. Dead letters lie there for days: that
// there are some is no reason to look often.
func (s *samples) addQueue(label string, q queue.Queue) {
	work := label != "deadletter"
	size := &sample{of: label, what: depth}
	empty := false // at the last look; only the scrape that takes samples reads and writes it
	size.ask = func(ctx context.Context) ([]prometheus.Metric, bool, error) {
		n, err := q.Depth(ctx)
		if err != nil {
			return nil, false, err
		}
		empty = n == 0
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

// arrived notes that messages came from a queue: it is looked at soon.
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

// due are the samples of what is busy, and of the others the one whose turn it is.
func (s *samples) due() (now []*sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := func(one *sample) bool { return one.at.IsZero() || time.Since(one.at) >= sampleAge }
	for _, one := range s.all {
		if one.busy && old(one) {
			now = append(now, one)
		}
	}
	for range s.all {
		one := s.all[s.turn%len(s.all)]
		s.turn++
		if one.busy || !old(one) {
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

// take asks. A value that can't be had is not shown: an old one would look like a good one.
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
	for _, d := range []Definition{depth, oldest, outboxSize, outboxOldest} {
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
