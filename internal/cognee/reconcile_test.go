package cognee_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
)

// TestReconcile: whatever was lost or added on either side, Cognee has what the index has at the end, and what others
// have put there stays.
func TestReconcile(t *testing.T) {
	t.Parallel()
	b := newBed(t, cogneetest.Options{})
	c := newClient(t, b.server.URL())
	if _, err := b.store.CloseCognee(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.ingest("s", "before.pdf", "from before Cognee was used")
	if err := b.store.OpenCognee(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost, twice := b.ingest("s", "lost.pdf", "lost in Cognee"), b.ingest("s", "twice.pdf", "twice in Cognee")
	deleted := b.ingest("s", "deleted.pdf", "deleted")
	b.run(b.config(), b.settled)
	b.ingest("t", "waits.pdf", "waits")

	at := b.server.Rows()[lost][0]
	if err := c.Forget(t.Context(), dataset(t, c, at.Dataset), at.ID); err != nil {
		t.Fatal(err)
	}
	b.server.Plant("southhaven_s", twice, "a copy")
	b.server.Plant("southhaven_old", twice, "in another dataset")
	gone := uuid.NewString()
	b.server.Plant("southhaven_s", gone, "of no document")
	b.server.Plant("southhaven_s", "notes", "somebody's")
	b.server.Plant("southhaven-two_s", uuid.NewString(), "another tenant's")

	for _, dry := range []bool{true, false} {
		got, err := cognee.Reconcile(t.Context(), b.store, c, client, dry)
		want := cognee.Reconciled{
			DryRun: dry, InIndex: 5, InCognee: 5, Waiting: 1, Queued: 2, Forgotten: 3, Foreign: 1,
		}
		if err != nil || got != want {
			t.Fatalf("reconciled %+v, %v, want %+v", got, err, want)
		}
		if rows := b.server.Rows(); len(rows[gone]) == 0 != !dry {
			t.Errorf("dry run %t: %+v", dry, rows[gone])
		}
	}
	b.delete("s", "deleted.pdf")
	b.run(b.config(), b.settled)
	rows := b.server.Rows()
	if len(rows["notes"]) != 1 || len(rows[deleted]) != 0 || len(rows) != 6 {
		t.Errorf("Cognee has %+v", rows)
	}
	again, err := cognee.Reconcile(t.Context(), b.store, c, client, false)
	if err != nil || again.Queued != 0 || again.Forgotten != 0 || again.InIndex != 4 || again.InCognee != 4 {
		t.Errorf("reconciled again: %+v, %v", again, err)
	}
}

// dataset is the id of a dataset.
func dataset(t *testing.T, c *cognee.Client, name string) string {
	t.Helper()
	all, err := c.Datasets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Name == name {
			return d.ID
		}
	}
	t.Fatalf("there is no dataset %s", name)
	return ""
}
