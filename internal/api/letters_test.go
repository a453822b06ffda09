package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// failing is a store that replays a number of dead letters and then fails, and that can't read back what it recorded.
type failing struct {
	store.Store
	replays int
}

func (f *failing) Replay(ctx context.Context, r store.Replay) (store.ReplayAnswer, error) {
	if f.replays--; f.replays < 0 {
		return store.ReplayAnswer{}, taskerr.Errorf(taskerr.TransientStorage, "the database is gone")
	}
	return f.Store.Replay(ctx, r)
}

func (*failing) Job(context.Context, string) (store.Job, error) {
	return store.Job{}, taskerr.Errorf(taskerr.TransientStorage, "the database is gone")
}

// TestReplayInPart: if the database fails midway, the answer names the jobs that were made, and what is left.
func TestReplayInPart(t *testing.T) {
	t.Parallel()
	var broken *failing
	b := newBench(t, func(d *api.Deps) {
		broken = &failing{d.Store, 2}
		d.Store, d.Replayer.Store = broken, broken
	})
	var jobs []string
	for range 4 {
		id := b.submitted(newFile())
		b.failJob(b.begun(id))
		jobs = append(jobs, id)
	}
	r := b.want(b.ask("POST", "/v1/dead-letters/replay", `{}`), http.StatusAccepted, "")
	var done api.BulkReplayed
	if err := json.Unmarshal([]byte(r.text), &done); err != nil {
		t.Fatal(err)
	}
	if done.Matched != 4 || done.Replayed != 2 || len(done.Jobs) != 2 || len(done.NotReplayed) != 2 {
		t.Fatalf("got %s", r.text)
	}
	for i, j := range done.Jobs {
		if j.ID != jobs[i]+".r1" || j.ParentJobID != jobs[i] || j.Status != "pending" {
			t.Errorf("job %d is %+v, want the replay of %s", i, j, jobs[i])
		}
	}
	for i, code := range []string{"UNAVAILABLE", "NOT_TRIED"} {
		left := done.NotReplayed[i]
		if d, err := b.store.DeadLetter(t.Context(), left.ID); err != nil || d.JobID != jobs[2+i] || left.Code != code {
			t.Errorf("not replayed: %+v of %s, %v; want %s of %s", left, d.JobID, err, code, jobs[2+i])
		}
	}
	b.want(b.ask("POST", "/v1/dead-letters/replay", `{}`), http.StatusServiceUnavailable, "UNAVAILABLE")

	broken.replays = 10
	r = b.want(b.ask("POST", "/v1/dead-letters/replay", `{}`), http.StatusAccepted, "")
	if err := json.Unmarshal([]byte(r.text), &done); err != nil || done.Replayed != 2 || len(done.NotReplayed) != 0 {
		t.Errorf("when it is back: %s, %v", r.text, err)
	}
}
