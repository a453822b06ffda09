package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testCompletionsTogether: each of many completions at once has the effect and the answer that it would have alone.
func testCompletionsTogether(t *testing.T, b *bench) {
	const good = 60
	var all []store.Completion
	for i := range good {
		_, h := b.run()
		all = append(all, store.Completion{
			Holder: h, Result: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)),
			Events: []store.Event{event("finalizing", 98)},
		})
	}
	_, stale := b.run()
	stale.Fence++
	_, shapeless := b.run()
	_, unknown := b.run()
	refused := []store.Completion{
		{Holder: stale, Result: json.RawMessage(`{}`)},
		{Holder: shapeless, Result: json.RawMessage(`[1]`)},
		{Holder: unknown, Result: json.RawMessage(`{}`), Effects: []store.Effect{{Kind: "no_such_effect"}}},
	}
	all = append(all, refused...)

	answers := make([]store.Settlement, len(all))
	failures := make([]error, len(all))
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() { answers[i], failures[i] = b.Complete(b.ctx(), c) })
	}
	wg.Wait()

	for i, c := range all[:good] {
		var result struct{ N int }
		err := errors.Join(failures[i], json.Unmarshal(answers[i].Result, &result))
		if err != nil || result.N != i || answers[i].State != string(job.Succeeded) || answers[i].Deliveries != 1 {
			t.Errorf("completion %d: %+v, %v", i, answers[i], err)
		}
		if events := stages(b.history(c.JobID)); fmt.Sprint(events) != "[started finalizing completed]" {
			t.Errorf("I8: events of completion %d: %v", i, events)
		}
		b.wantDeliveries(c.JobID, "task.completed")
	}
	if err := failures[good]; !errors.Is(err, store.ErrFenced) {
		t.Errorf("I4: a stale completion among others: %v", err)
	}
	for i, c := range refused {
		if failures[good+i] == nil {
			t.Errorf("completion %d was accepted, want it refused", i)
		}
		if j := b.job(c.JobID); j.Status != string(job.Running) {
			t.Errorf("the job of refused completion %d is %s", i, j.Status)
		}
	}
}
