package feed

import (
	"testing"
	"time"
)

// The feed takes at most a tenth of the time, and is never more than a second late.
func TestPause(t *testing.T) {
	t.Parallel()
	const msec = time.Millisecond
	for _, c := range []struct {
		read      time.Duration
		listeners int
		want      time.Duration
	}{
		{msec, 0, 40 * msec},
		{msec, 10, 40 * msec},
		{20 * msec, 0, 200 * msec},
		{0, 400, 100 * msec},
		{5 * msec, 600, 200 * msec},
		{time.Minute, 0, time.Second},
	} {
		if got := pause(c.read, c.listeners); got != c.want {
			t.Errorf("after a read of %v for %d listeners: %v, want %v", c.read, c.listeners, got, c.want)
		}
	}
}
