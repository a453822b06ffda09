package postgres

import (
	"errors"
	"testing"
	"time"
)

// TestFlakyDatabase: what others held is left to them after an outage, however long it was, and for a few outages on
// a database that fails every few seconds.
func TestFlakyDatabase(t *testing.T) {
	t.Parallel()
	var p place
	now := time.Now()
	receive := func(after time.Duration, err error) (all bool) {
		now = now.Add(after)
		from := p.begin(now)
		p.end(now, from, cursor{}, err)
		return from.HeldAfter != nothingHeld
	}
	down := errors.New("down")
	if !receive(0, nil) {
		t.Error("the first receive leaves something out")
	}
	for range 100 { // an outage of 200 s
		receive(2*time.Second, down)
	}
	if receive(time.Second, nil) || receive(aftermath-2*time.Second, nil) {
		t.Error("what was held is taken as soon as the database is back")
	}
	if !receive(time.Second, nil) {
		t.Error("what was held is still left out")
	}
	last := now
	for now.Sub(last) <= time.Minute {
		receive(2*time.Second, down)
		if receive(2*time.Second, nil) {
			return
		}
	}
	t.Error("a database that fails every 4 s hides what was held for ever")
}
