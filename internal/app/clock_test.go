package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A clock that is off is told once an hour, with what to do, and that it agrees again once; a slow answer is no skew.
func TestClockWatch(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	c := &clockWatch{log: slog.New(slog.NewTextHandler(&b, nil))}
	began := time.Now()
	for i, step := range []struct {
		after, ahead, took time.Duration
		want               string // in the log; empty: nothing is logged
	}{
		{after: 0, ahead: 0},
		{after: time.Minute, ahead: 20 * time.Second},
		{after: 2 * time.Minute, ahead: 40 * time.Second, took: 40 * time.Second},
		{after: 3 * time.Minute, ahead: 10 * time.Minute, want: "ahead_by=9m59s"},
		{after: 4 * time.Minute, ahead: 10 * time.Minute},
		{after: 70 * time.Minute, ahead: -10 * time.Minute, want: "ahead_by=-9m59s"},
		{after: 71 * time.Minute, ahead: time.Second, want: "agrees with the database's again"},
		{after: 72 * time.Minute, ahead: 0},
	} {
		b.Reset()
		asked := began.Add(step.after)
		c.see(asked.Add(step.took/2-step.ahead), asked, step.took)
		if got := b.String(); (got == "") != (step.want == "") || !strings.Contains(got, step.want) {
			t.Errorf("step %d logged %q, want %q", i, got, step.want)
		}
	}
}
