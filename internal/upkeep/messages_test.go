package upkeep_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/upkeep"
)

// rows is a store with some jobs, and with dead letters of some.
type rows struct {
	store.Reader
	jobs, letters []string
	err           error
}

func (r *rows) Job(_ context.Context, id string) (store.Job, error) {
	switch {
	case r.err != nil:
		return store.Job{}, r.err
	case !slices.Contains(r.jobs, id):
		return store.Job{}, store.ErrNotFound
	}
	return store.Job{ID: id}, nil
}

func (r *rows) DeadLetters(_ context.Context, f store.DeadLetterFilter) ([]store.DeadLetter, error) {
	if !slices.Contains(r.letters, f.JobID) {
		return nil, nil
	}
	return []store.DeadLetter{{JobID: f.JobID}}, nil
}

// held is a container that refuses to remove.
type held struct {
	blob.Bucket
	removes int
}

func (h *held) Remove(context.Context, string) error {
	h.removes++
	return errors.New("a policy keeps the blob")
}

const keepMessages = 90 * 24 * time.Hour

// messages returns a container with the blobs of large messages of the jobs, and some of a sender, each older than
// keepMessages but that of "young".
func messages(t *testing.T, jobs ...string) blob.Bucket {
	t.Helper()
	folder := t.TempDir()
	bucket := dir.New(folder)
	for _, id := range jobs {
		if _, err := message.Fit(t.Context(), bucket, task.Task{ID: id}, strings.Repeat(id, 48<<10)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"tasks/4b1c.json", "tasks/o-17.json", "tasks/gone-0a.json", "report.pdf"} {
		if _, err := bucket.Put(t.Context(), name, strings.NewReader("theirs"), ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range blobsOf(t, bucket) {
		age := keepMessages + time.Hour
		if id, _ := message.JobOf(name); id == "young" {
			age = keepMessages - time.Hour
		}
		if err := os.Chtimes(filepath.Join(folder, name), time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	return bucket
}

func blobsOf(t *testing.T, bucket blob.Bucket) (names []string) {
	t.Helper()
	for b, err := range bucket.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, b.Name)
	}
	return names
}

// The text of a large message goes with its job and its dead letter; what may still need it, and what is a sender's,
// stays.
func TestMessagesGo(t *testing.T) {
	t.Parallel()
	bucket := messages(t, "gone", "docs/gone-2.r1", "live", "dead", "young")
	s := &rows{jobs: []string{"live"}, letters: []string{"dead"}}
	n, more, err := upkeep.Messages(s, bucket, keepMessages).Do(t.Context())
	if n != 2 || more || err != nil {
		t.Errorf("%d removed, %v, %v", n, more, err)
	}
	var left []string
	for _, name := range blobsOf(t, bucket) {
		if id, ours := message.JobOf(name); ours {
			name = id
		}
		left = append(left, name)
	}
	slices.Sort(left)
	want := []string{"dead", "live", "report.pdf", "tasks/4b1c.json", "tasks/gone-0a.json", "tasks/o-17.json", "young"}
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}

// A store that does not answer says nothing about a job: nothing is removed. A container that refuses to remove is asked a
// few times.
func TestMessagesStayInTrouble(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range 30 {
		ids = append(ids, "gone"+strings.Repeat("x", i))
	}
	bucket := messages(t, ids...)
	before := len(blobsOf(t, bucket))
	if n, _, err := upkeep.Messages(&rows{err: errors.New("down")}, bucket, keepMessages).Do(t.Context()); n != 0 || err == nil {
		t.Errorf("%d removed while the store was down, %v", n, err)
	}
	refuses := &held{Bucket: bucket}
	if n, more, err := upkeep.Messages(&rows{}, refuses, keepMessages).Do(t.Context()); n != 0 || more || err == nil ||
		refuses.removes > 10 {
		t.Errorf("%d removed in %d requests, %v, %v", n, refuses.removes, more, err)
	}
	if after := len(blobsOf(t, bucket)); after != before {
		t.Errorf("%d blobs are left of %d", after, before)
	}
}
