package app

import (
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// leftovers is an Observer that asks for the removal of chunks that the end of an ingest may have left.
type leftovers struct {
	engine.Observer
	due chan<- struct{} // with room for one
}

// Ended implements engine.Observer.
func (l leftovers) Ended(t task.Type, e engine.Ending) {
	if t == task.Ingest {
		select {
		case l.due <- struct{}{}:
		default: // a round is due already
		}
	}
	l.Observer.Ended(t, e)
}
