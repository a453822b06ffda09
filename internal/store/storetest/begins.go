package storetest

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// testBeginsTogether: each of many messages at once gets the answer that it would get alone.
func testBeginsTogether(t *testing.T, b *bench) {
	done, h := b.run()
	b.complete(h)
	again := done
	again.Source.MessageID = uuid.NewString()
	conflict := again
	conflict.Fingerprint, conflict.Payload = "f2", json.RawMessage(`{"filename":"b.pdf"}`)
	impossible := message(func(m *store.Begin) { m.Payload = json.RawMessage(`{"n":1e200000}`) })

	all := []store.Begin{again, conflict, impossible}
	const pairs = 60 // of messages of the same job
	for range pairs {
		m := message()
		twin := m
		twin.Source.MessageID = uuid.NewString()
		all = append(all, m, twin)
	}
	decisions := make([]store.BeginAnswer, len(all))
	failures := make([]error, len(all))
	var wg sync.WaitGroup
	for i, m := range all {
		wg.Go(func() { decisions[i], failures[i] = b.Begin(b.ctx(), m) })
	}
	wg.Wait()

	runs := map[string]int{}
	for i, m := range all {
		if m.JobID == impossible.JobID {
			if e, ok := errors.AsType[*taskerr.Error](failures[i]); !ok || e.Class != taskerr.ValidationError {
				t.Errorf("a payload that can't be stored: %v", failures[i])
			}
			continue
		}
		want := store.Run
		switch {
		case m.Fingerprint == conflict.Fingerprint:
			want = store.Conflict
		case m.JobID == done.JobID:
			want = store.Done
		case decisions[i].Decision == store.Leased: // the other message of the pair runs
			want = store.Leased
		}
		if failures[i] != nil || decisions[i].Decision != want {
			t.Errorf("message %d: %+v, %v, want %q", i, decisions[i], failures[i], want)
			continue
		}
		if want == store.Run {
			runs[m.JobID]++
			if got := decisions[i]; got.Fence != 1 || got.Attempt != 1 || got.MaxAttempts != m.MaxAttempts ||
				got.State != string(job.Running) {
				t.Errorf("message %d: %+v", i, got)
			}
		}
	}
	if len(runs) != pairs {
		t.Errorf("%d jobs run, want %d", len(runs), pairs)
	}
	for id, n := range runs {
		if n != 1 {
			t.Errorf("I2: %d messages run the same job", n)
		}
		if events := b.history(id); len(events) != 1 || events[0].Seq != 1 || events[0].Stage != "started" {
			t.Errorf("I8: events of a job that began: %+v", events)
		}
	}
}
