package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/einvoice/einvoicetest"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// workers are workers of one tenant on a real Postgres, in one process.
type workers struct {
	*testing.T
	url     string
	bucket  *dir.Bucket
	gateway *gatewaytest.Server
	queues  engine.Queues
	ended   chan struct{} // gets a value with each end of a job
}

// start starts one more worker, which runs until ctx is done.
func (w *workers) start(ctx context.Context, stopped *sync.WaitGroup, name string) {
	w.Helper()
	s, err := postgres.Open(w.Context(), w.url, postgres.Options{ClientID: "acme", Dimensions: 8, MaxConns: 8})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(s.Close)
	client, err := gateway.New(gateway.Options{URL: w.gateway.URL(), HTTP: w.gateway.Client()})
	if err != nil {
		w.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	registry, err := handlers.NewRegistry(xml.New(xml.Deps{
		Bucket: w.bucket, Gateway: client, Store: s, Limits: extract.Limits{Bytes: 1 << 20}, TempDir: w.TempDir(), Log: log,
	}))
	if err != nil {
		w.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		ClientID: "acme", Worker: name, Concurrency: 6, Lease: time.Minute, PollMin: 20 * time.Millisecond,
		PollMax: 200 * time.Millisecond, TaskTimeout: 10 * time.Minute, DrainMax: time.Minute,
	}, engine.Deps{
		Queues: w.queues, Store: s, Bucket: w.bucket, Handlers: registry, Log: log,
		Outbox: func() { w.ended <- struct{}{} },
	})
	if err != nil {
		w.Fatal(err)
	}
	stopped.Go(func() {
		if err := e.Run(ctx); err != nil {
			w.Error(err)
		}
	})
}

// TestEqualJobs: 20 equal jobs at once, on two workers, are one call; each has its result and one attempt.
func TestEqualJobs(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdfdetach"); err != nil {
		t.Skip("pdfdetach is not installed: apt install poppler-utils")
	}
	const jobs = 20
	service, names := memory.New(memory.Options{}), task.QueueNames("acme")
	w := &workers{
		T: t, url: stacktest.PostgresWith(t, schema.Options{Dimensions: 8}), bucket: dir.New(t.TempDir()),
		gateway: gatewaytest.New(t, gatewaytest.Options{}), ended: make(chan struct{}, jobs),
		queues: engine.Queues{
			High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
			DeadLetter: service.Queue(names.DeadLetter),
		},
	}
	if err := w.bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	pdf := string(einvoicetest.PDF([]string{"An invoice"}))
	if _, err := w.bucket.Put(t.Context(), "in.pdf", strings.NewReader(pdf), ""); err != nil {
		t.Fatal(err)
	}
	for _, q := range []queue.Queue{w.queues.High, w.queues.Normal, w.queues.Low, w.queues.DeadLetter} {
		if err := q.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range jobs {
		text := fmt.Sprintf(`{"task_id":"t%d","task_type":"xml","payload":{"filename":"in.pdf"},`+
			`"webhook_url":"https://frontend.example/"}`, i)
		if _, err := w.queues.Normal.Send(t.Context(), text, queue.SendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := postgres.Open(t.Context(), w.url, postgres.Options{ClientID: "acme", Dimensions: 8, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	// The answer comes when every slot has had a job: so jobs meet while it is asked.
	w.gateway.Break(gatewaytest.Fault{Delay: 2 * time.Second})
	ctx, stop := context.WithCancel(t.Context())
	var stopped sync.WaitGroup
	defer stopped.Wait()
	defer stop()
	for _, name := range []string{"w1", "w2"} {
		w.start(ctx, &stopped, name)
	}
	for range jobs {
		<-w.ended
	}
	shared := 0
	for i := range jobs {
		j, err := reader.Job(t.Context(), fmt.Sprint("t", i))
		if err != nil {
			t.Fatal(err)
		}
		var r xml.Result
		if err := json.Unmarshal(j.Result, &r); err != nil || j.Status != "succeeded" || j.Attempts != 1 {
			t.Errorf("%s is %s after %d attempts: %s, %v", j.ID, j.Status, j.Attempts, j.Result, err)
		}
		if r.Deduplicated {
			shared++
		}
		if _, err := w.bucket.Stat(t.Context(), r.ResultPath); err != nil || r.ResultPath != "results/"+j.ID+".xml" {
			t.Errorf("%s: %s, %v", j.ID, r.ResultPath, err)
		}
	}
	t.Logf("%d equal jobs at once on two workers: %d call, %d shared it", jobs, w.gateway.Paid(), shared)
	if w.gateway.Paid() != 1 || shared != jobs-1 {
		t.Errorf("%d calls, %d jobs shared one", w.gateway.Paid(), shared)
	}
}
