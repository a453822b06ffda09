package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// failed is a failed job, its dead letter, and the copy of that on the queue.
func (b *bench) failed() (jobID, letter string) {
	b.Helper()
	jobID = b.submitted(newFile())
	b.failJob(b.begun(jobID))
	found, err := b.store.DeadLetters(b.Context(), store.DeadLetterFilter{JobID: jobID, Limit: 1})
	if err != nil || len(found) != 1 {
		b.Fatalf("%d dead letters, %v", len(found), err)
	}
	letter = found[0].ID
	if _, err := b.dead.Send(b.Context(), `{"id":"`+letter+`"}`, queue.SendOptions{TTL: queue.Never}); err != nil {
		b.Fatal(err)
	}
	if err := b.store.DeadLetterSent(b.Context(), letter); err != nil {
		b.Fatal(err)
	}
	return jobID, letter
}

// copied are the dead letters whose copies are on the queue, and visible.
func (b *bench) copied() (letters []string) {
	b.Helper()
	batch, err := b.dead.Receive(b.Context(), queue.MaxBatch, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range batch {
		var envelope struct{ ID string }
		if err := json.Unmarshal([]byte(m.Text), &envelope); err != nil {
			b.Fatal(err)
		}
		letters = append(letters, envelope.ID)
		if err := m.Lease.Release(b.Context(), 0); err != nil {
			b.Fatal(err)
		}
	}
	return letters
}

// Who removes a dead letter, replays it, or retries its job, also takes its copy off the queue, and no other one.
func TestCopiesAreRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, other := b.failed()
	for name, call := range map[string]func(job, letter string) (method, path, body string, status int){
		"delete": func(_, letter string) (string, string, string, int) {
			return "DELETE", "/v1/dead-letters/" + letter, "", http.StatusNoContent
		},
		"replay": func(_, letter string) (string, string, string, int) {
			return "POST", "/v1/dead-letters/" + letter + "/replay", "", http.StatusAccepted
		},
		"retry": func(job, _ string) (string, string, string, int) {
			return "POST", "/v1/jobs/" + job + "/retry?force=true", "", http.StatusAccepted
		},
	} {
		method, path, body, status := call(b.failed())
		b.want(b.ask(method, path, body), status, "")
		if left := b.copied(); len(left) != 1 || left[0] != other {
			t.Errorf("%s: the queue has the copies of %v, want that of %s", name, left, other)
		}
	}
	b.want(b.ask("POST", "/v1/dead-letters/replay", `{}`), http.StatusAccepted, "")
	if left := b.copied(); len(left) > 0 {
		t.Errorf("replayed by filter, and the queue has the copies of %v", left)
	}
}

// broken is a queue from which nothing can be received.
type broken struct{ queue.Queue }

func (broken) Receive(context.Context, int, time.Duration) ([]*queue.Message, error) {
	return nil, errors.New("no connection")
}

// A queue that does not answer keeps nobody from removing a dead letter; the log tells that the copy stays.
func TestCopyStays(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) { d.DeadLetters = broken{d.DeadLetters} })
	_, letter := b.failed()
	b.want(b.ask("DELETE", "/v1/dead-letters/"+letter, ""), http.StatusNoContent, "")
	b.want(b.ask("GET", "/v1/dead-letters/"+letter, ""), http.StatusNotFound, "NOT_FOUND")
	if log := b.log.String(); !strings.Contains(log, "could not be searched") || !strings.Contains(log, "copies=1") {
		t.Errorf("the log says %s", log)
	}
}
