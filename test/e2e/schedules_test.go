package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// TestScheduleInADrain: what falls due while the last worker drains is recorded: the next one may come too late for it.
func TestScheduleInADrain(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, llmtest.Options{})
	reached, release := make(chan struct{}), make(chan struct{})
	model.Script(llmtest.Fault{Before: func() { close(reached); <-release }})
	b := newBed(t, append(modelEnv(model), "WORKER_CONCURRENCY=1")...)
	b.upload("a.md", []byte("# A\n\nThe first document.\n"))
	query[string](b, `insert into schedules (client_id, id, cron, overlap, task) values ($1, 'often', '@every 1s', 'allow',
		'{"task_type":"ingest","payload":{"filename":"a.md","document_set":"e2e"}}') returning id`, b.client)
	w := b.start()
	<-reached // by the job of the first firing
	w.signal(syscall.SIGTERM)
	w.await("STOPPING=1")
	const jobs = "select count(*)::int from jobs where id like 'sched.often.%'"
	before := query[int](b, jobs)
	for began := time.Now(); query[int](b, jobs) < before+2; { // one may have been under way
		if time.Since(began) > 20*time.Second || !b.moment() { // the task does not wait for its model for longer than 30 s
			t.Error("the schedule did not fire in the drain")
			break
		}
	}
	close(release)
	if err := w.exit(); err != nil {
		t.Errorf("the worker ended with %v, want 0", err)
	}
}
