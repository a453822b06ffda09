package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestMemory: a limit below what parsers and the worker need is a warning that names it and what to raise.
func TestMemory(t *testing.T) {
	t.Parallel()
	const need = 1 << 30
	for _, c := range []struct {
		limit MemoryLimit
		err   error
		state State
	}{
		{MemoryLimit{}, nil, OK},
		{MemoryLimit{need, "MemoryHigh="}, nil, OK},
		{MemoryLimit{need - 1, "MemoryHigh="}, nil, Warn},
		{MemoryLimit{0, "memory.max"}, nil, Warn},
		{MemoryLimit{}, errors.New("no systemd"), Skipped},
	} {
		w := Worker{
			Machine:  Computer{NeedMemory: need, Memory: func(context.Context) (MemoryLimit, error) { return c.limit, c.err }},
			ClientID: "acme",
		}
		if r := w.memory(t.Context()); r.State != c.state || r.State == Warn &&
			(!strings.Contains(r.Seen, c.limit.Where) || !strings.Contains(r.Remedy, "systemctl edit async-worker@acme)")) {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}
