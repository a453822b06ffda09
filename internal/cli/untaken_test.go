package cli

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
)

// Without a worker a watch says so, once; it says nothing while one works on another of the jobs.
func TestUntakenJobIsReported(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"no worker": false, "a busy worker": true, "it is not yet time": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var told atomic.Int32
				r := watched("a", "b")
				if name == "it is not yet time" {
					for i := range r.jobs {
						r.jobs[i].RunAt = new(time.Now().Add(24 * time.Hour))
					}
				}
				f := followerOf(r)
				f.untaken = &untaken{tell: func() { told.Add(1) }}
				ended := make(chan error, 1)
				go func() { ended <- f.all(t.Context(), []string{"a", "b"}, &plainLines{w: &bytes.Buffer{}}) }()
				if name == "a busy worker" {
					r.happen("b", job.Running)
				}
				want := int32(1)
				if running {
					want = 0
				}
				for _, at := range []struct {
					after time.Duration
					told  int32
				}{{untakenAfter - time.Second, 0}, {time.Minute, want}, {time.Hour, want}} {
					<-time.After(at.after)
					if n := told.Load(); n != at.told {
						t.Errorf("%v later: told %d times, want %d", at.after, n, at.told)
					}
				}
				r.happen("a", job.Succeeded)
				r.happen("b", job.Succeeded)
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The report names a command that tells more. Bars stay below it.
func TestUntakenNamesACommand(t *testing.T) {
	t.Parallel()
	var errOut, screen bytes.Buffer
	p := &program{stderr: &errOut, tenant: "southhaven"}
	p.untaken(&plainLines{}).tell()
	b := newBars(&screen, false, 120)
	p.untaken(b).tell()
	b.close()
	for where, said := range map[string]string{"stderr": errOut.String(), "the screen": screen.String()} {
		said = strings.Join(strings.Fields(said), " ")
		if strings.Count(said, "No worker has taken the task yet; async-worker status --tenant southhaven tells") != 1 ||
			!strings.Contains(said, "leaves the task in the queue") {
			t.Errorf("%s: %q", where, said)
		}
	}
}
