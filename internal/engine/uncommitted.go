package engine

import "sync"

// uncommittedJobs are the jobs whose outcome this worker has but has not committed. Their leases expire during a long
// outage of the database. The worker must not begin such a job again when its message comes back.
type uncommittedJobs struct {
	mu  sync.Mutex
	ids map[string]int
}

func newUncommittedJobs() *uncommittedJobs { return &uncommittedJobs{ids: map[string]int{}} }

// add adds a job until done is called.
func (u *uncommittedJobs) add(id string) (done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ids[id]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.ids[id]--; u.ids[id] == 0 {
			delete(u.ids, id)
		}
	}
}

func (u *uncommittedJobs) contains(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ids[id] > 0
}
