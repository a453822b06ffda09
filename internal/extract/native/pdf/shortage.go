package pdf

import (
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// shortage is what the machine lacked while a file was read. Much of a PDF is optional: styles, lines and hidden text of
// a page that can't be read are left out. But nothing may be left out because there were too many open files at that
// moment, so the file is not read at all then.
type shortage struct {
	mu    sync.Mutex
	first error
}

// note records err if it is the machine's. It may be called by several goroutines.
func (s *shortage) note(err error) {
	if !taskerr.Exhausted(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = err
	}
}

// err returns the first shortage; nil: there was none.
func (s *shortage) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}
