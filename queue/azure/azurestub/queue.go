package azurestub

import (
	"slices"
	"strconv"
	"time"
)

type message struct {
	id, receipt, text                string
	insertedAt, expiresAt, visibleAt time.Time
	dequeues                         int
}

// queue keeps visible and hidden messages apart, so that neither a get nor a delete scans a whole backlog.
type queue struct {
	ready  []*message          // visible, in order
	hidden map[string]*message // delayed or received, by id
	serial int
}

// theEnd is the expiry of a message that never expires. Azure sends 9999-12-31T23:59:59.
var theEnd = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// create creates a queue; false: it exists.
func (s *Stub) create(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queues[name] != nil {
		return false
	}
	s.queues[name] = &queue{hidden: map[string]*message{}}
	return true
}

// find returns a queue after moving messages that are visible by now to ready, and dropping expired ones. The caller
// holds s.mu.
func (s *Stub) find(name string, now time.Time) (*queue, *failure) {
	q := s.queues[name]
	if q == nil {
		return nil, queueNotFound
	}
	var woken []*message
	for id, m := range q.hidden {
		switch {
		case !m.expiresAt.After(now):
			delete(q.hidden, id)
		case !m.visibleAt.After(now):
			delete(q.hidden, id)
			woken = append(woken, m)
		}
	}
	slices.SortFunc(woken, func(a, b *message) int { return a.visibleAt.Compare(b.visibleAt) })
	q.ready = append(q.ready, woken...)
	return q, nil
}

// next returns a new id or receipt. The caller holds s.mu.
func (q *queue) next(kind string) string {
	q.serial++
	return kind + strconv.Itoa(q.serial)
}

func (s *Stub) depth(name string) (int, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, f := s.find(name, time.Now())
	if f != nil {
		return 0, f
	}
	return len(q.ready) + len(q.hidden), nil
}

func (s *Stub) put(name, text string, delay, ttl time.Duration) (message, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	q, f := s.find(name, now)
	if f != nil {
		return message{}, f
	}
	m := &message{
		id: q.next("m"), receipt: q.next("r"), text: text, insertedAt: now, visibleAt: now.Add(delay),
		expiresAt: theEnd,
	}
	if ttl > 0 {
		m.expiresAt = now.Add(ttl)
	}
	if delay > 0 {
		q.hidden[m.id] = m
	} else {
		q.ready = append(q.ready, m)
	}
	return *m, nil
}

func (s *Stub) get(name string, n int, visibility time.Duration) ([]message, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	q, f := s.find(name, now)
	if f != nil {
		return nil, f
	}
	var got []message
	taken := 0
	for ; taken < len(q.ready) && len(got) < n; taken++ {
		m := q.ready[taken]
		if !m.expiresAt.After(now) {
			continue
		}
		m.dequeues++
		m.visibleAt, m.receipt = now.Add(visibility), q.next("r")
		q.hidden[m.id] = m
		got = append(got, *m)
	}
	clear(q.ready[:taken]) // for the garbage collector
	q.ready = q.ready[taken:]
	return got, nil
}

func (s *Stub) peek(name string, n int) ([]message, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	q, f := s.find(name, now)
	if f != nil {
		return nil, f
	}
	var got []message
	for _, m := range q.ready {
		if len(got) == n {
			break
		}
		if m.expiresAt.After(now) {
			got = append(got, *m)
		}
	}
	return got, nil
}

// at finds a message by id, hidden or visible again. The caller holds s.mu.
func (q *queue) at(id, receipt string) (*message, *failure) {
	m := q.hidden[id]
	if m == nil {
		i := slices.IndexFunc(q.ready, func(m *message) bool { return m.id == id })
		if i < 0 {
			return nil, messageNotFound
		}
		m = q.ready[i]
	}
	if m.receipt != receipt {
		return nil, receiptMismatch
	}
	return m, nil
}

// take removes a message wherever it is. The caller holds s.mu.
func (q *queue) take(m *message) {
	if q.hidden[m.id] == m {
		delete(q.hidden, m.id)
		return
	}
	q.ready = slices.DeleteFunc(q.ready, func(other *message) bool { return other == m })
}

func (s *Stub) update(name, id, receipt string, visibility time.Duration, text string, given bool) (message, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	q, f := s.find(name, now)
	if f != nil {
		return message{}, f
	}
	m, f := q.at(id, receipt)
	if f != nil {
		return message{}, f
	}
	q.take(m)
	if given {
		m.text = text
	}
	m.receipt, m.visibleAt = q.next("r"), now.Add(visibility)
	q.hidden[m.id] = m
	return *m, nil
}

func (s *Stub) remove(name, id, receipt string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, f := s.find(name, time.Now())
	if f != nil {
		return f
	}
	m, f := q.at(id, receipt)
	if f != nil {
		return f
	}
	q.take(m)
	return nil
}
