package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// TestInterrupted: what runs report after an interruption is a consequence of it, and what they reported before is not.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after bool // whether a violation is reported
		want          string
	}{
		"nothing":       {false, false, interrupted},
		"only after":    {false, true, interrupted},
		"only before":   {true, false, failed},
		"before, after": {true, true, failed},
	} {
		var out bytes.Buffer
		ctx, interrupt := context.WithCancel(t.Context())
		r := newReport(ctx, "network", 7, &out)
		r.ran()
		if c.before {
			r.violated("network/1", []string{"I1 lost"}, "")
		}
		interrupt()
		if c.after {
			r.violated("network/2", []string{"I1 not drained"}, "a log")
			r.cantRun(errors.New("the server is gone"))
		}
		r.finish()
		if got := r.verdict(); got != c.want || r.good() {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if strings.Contains(out.String(), "network/2") || strings.Contains(out.String(), "the server is gone") {
			t.Errorf("%s: it tells of a run that was cut off:\n%s", name, out.String())
		}
	}
}

// TestAgain: the command that repeats a failure names its runs, or the queues where single runs can't be chosen.
func TestAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind string
		runs []string
		want string
	}{
		{"network", []string{"network/nats/renew/001", "network/nats/renew/001"}, " RUN='network/nats/renew/001'"},
		{"kill", []string{"kill/nats", "kill/azure", "kill/nats"}, " QUEUES=azure,nats"},
		{"cancel", nil, ""},
		{"fuzz", []string{"FuzzX"}, ""},
	} {
		r := newReport(t.Context(), c.kind, 7, &bytes.Buffer{})
		for _, run := range c.runs {
			r.violated(run, []string{"I1 lost"}, "")
		}
		if got := r.failedRuns(); got != c.want {
			t.Errorf("%s: %q, want %q", c.kind, got, c.want)
		}
	}
}
