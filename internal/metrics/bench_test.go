package metrics_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// BenchmarkTask measures all observations of one ingest task, without I/O.
func BenchmarkTask(b *testing.B) {
	m := metrics.New(metrics.Options{ClientID: "acme", Version: "test", Log: slog.New(slog.DiscardHandler)})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Polled("acme-tasks", 1, 1, nil)
			m.Accepted(task.Ingest, time.Second)
			m.Started(task.Ingest, 1)
			for _, s := range job.Stages[task.Ingest] {
				m.StageTook(task.Ingest, s.Name, time.Second)
			}
			m.Renewed("message", "ok")
			m.Renewed("job", "ok")
			m.QueueRequest("receive", "ok")
			m.QueueRequest("delete", "ok")
			m.Ended(task.Ingest, engine.Ending{Outcome: string(job.Succeeded), Attempt: 1, Took: time.Second})
		}
	})
}
