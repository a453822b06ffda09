package message_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// A message that its queue has refused as too large becomes a claim check, however small it is; a claim check stays one.
func TestIdentifiedClaim(t *testing.T) {
	t.Parallel()
	bucket := dir.New(t.TempDir())
	if err := bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, since := range map[string]time.Time{"identified": time.UnixMilli(1_790_000_000_000), "without identity": {}} {
		text := `{"task_id":"t1","task_type":"agent","payload":{"prompt":"` + strings.Repeat("x", 20<<10) + `"}}`
		u := store.Unsent{JobID: "t1", Queue: "acme-tasks", Message: text, Since: since}
		claim, err := message.IdentifiedClaim(t.Context(), bucket, u)
		if err != nil {
			t.Fatal(err)
		}
		d, err := task.Decode(claim, task.Options{ClientID: "acme"})
		if err != nil || d.ClaimCheck == "" || len(claim) > 1<<10 || d.Origin.InsertedAt != since {
			t.Errorf("%s: %.200s is %+v, %v", name, claim, d, err)
			continue
		}
		if id, ok := message.JobOf(d.ClaimCheck); id != "t1" || !ok {
			t.Errorf("%s: the blob %s is of job %q", name, d.ClaimCheck, id)
		}
		kept, err := blob.Read(t.Context(), bucket, d.ClaimCheck, task.MaxBytes)
		if err != nil || string(kept) != message.Identified(u, text) {
			t.Errorf("%s: its blob has %.200s, %v", name, kept, err)
		}
		u.Message = claim
		if again, err := message.IdentifiedClaim(t.Context(), bucket, u); err != nil || again != claim {
			t.Errorf("%s: the claim check became %s, %v", name, again, err)
		}
	}
}

// A message that fits every queue by its size is sent as it is.
func TestFit(t *testing.T) {
	t.Parallel()
	bucket := dir.New(t.TempDir())
	for size, fits := range map[int]bool{48 << 10: true, 48<<10 + 1: false} {
		text := strings.Repeat("x", size)
		got, err := message.Fit(t.Context(), bucket, task.Task{ID: "t1"}, text)
		if err != nil || (got == text) != fits {
			t.Errorf("%d bytes: %.200s, %v", size, got, err)
		}
	}
}
