package engine

import "sync"

// hands are the jobs whose outcomes this worker has, and has not recorded yet. In an outage of the database their leases
// end meanwhile: the worker that has the outcome must not begin such a job again when its message comes back.
type hands struct {
	mu  sync.Mutex
	ids map[string]int
}

func newHands() *hands { return &hands{ids: map[string]int{}} }

// hold notes a job until done is called.
func (h *hands) hold(id string) (done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids[id]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.ids[id]--; h.ids[id] == 0 {
			delete(h.ids, id)
		}
	}
}

func (h *hands) holds(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ids[id] > 0
}
