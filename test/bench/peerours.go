package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	ingesting "github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// servePeer is the worker's own process in a comparison with peers; peerprocess.go says how it is spoken with.
func servePeer(out io.Writer, in io.Reader, work string) int {
	lines := bufio.NewReader(in)
	var t peerTask
	line, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &t)
	}
	if err == nil {
		err = t.serve(context.Background(), out, lines, work)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return 1
	}
	return 0
}

func (t peerTask) serve(ctx context.Context, out io.Writer, in *bufio.Reader, work string) (err error) {
	prepare, ok := map[string]func(context.Context) (func() (peerAnswer, error), error){
		"ingest": t.prepareIngest, "pdf": t.preparePDF, "noop": t.prepareNoop,
	}[work]
	if !ok {
		return fmt.Errorf("unknown work %q", work)
	}
	do, err := prepare(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "ready")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	answer, err := do()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, in)
	return nil
}

// prepareIngest is the worker as the daemon has it, with the files of a folder as blobs, and a task for each on its
// queue.
func (t peerTask) prepareIngest(ctx context.Context) (func() (peerAnswer, error), error) {
	db, err := postgres.Open(ctx, t.Database, postgres.Options{
		ClientID: client, Dimensions: ingestWidth, MaxConns: postgres.PoolFor(t.Tasks),
	})
	if err != nil {
		return nil, err
	}
	counter := token.New()
	embedder, err := openai.New(openai.Config{
		BaseURL: t.Model, APIKey: "none", Model: peerModel, Dimensions: ingestWidth, Concurrency: t.Tasks, Counter: counter,
	})
	if err != nil {
		return nil, err
	}
	router, _ := app.Extractors(ctx, ingestPage, nil) // all pages have text
	temp, err := os.MkdirTemp("", "bench-peer-")
	if err != nil {
		return nil, err
	}
	worker, err := newRig(ctx, t.Queues, db, t.Tasks)
	if err != nil {
		return nil, err
	}
	worker.handler = ingesting.New(ingesting.Deps{
		Bucket: dir.New(t.Folder), Extractor: router, Documents: db, Embedder: embedder, Counter: counter,
		Limits: extract.DefaultLimits, TempDir: temp,
	})
	err = t.enqueue(ctx, len(t.Files), func(i int) string {
		return fmt.Sprintf(`{"task_id":"%s.%d","task_type":"ingest","payload":{"filename":%q,"document_set":"peers"}}`,
			t.Name, i, t.Files[i])
	})
	return func() (peerAnswer, error) {
		defer db.Close()
		_, err := worker.measure(ctx, len(t.Files))
		return peerAnswer{}, errors.Join(err, os.RemoveAll(temp))
	}, err
}

// preparePDF reads the files into Markdown, one after the other.
func (t peerTask) preparePDF(ctx context.Context) (func() (peerAnswer, error), error) {
	router, _ := app.Extractors(ctx, ingestPage, nil) // all pages have text
	return func() (a peerAnswer, err error) {
		for _, name := range t.Files {
			pages, err := readInto(ctx, router, filepath.Join(t.Folder, name), filepath.Join(t.Output, name+".txt"))
			if err != nil {
				return a, err
			}
			a.Pages += pages
		}
		return a, nil
	}, nil
}

func readInto(ctx context.Context, router *extract.Router, from, to string) (pages int, err error) {
	src, err := extract.Open(from, filepath.Base(from))
	if err != nil {
		return 0, err
	}
	f, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	w := extract.NewMarkdownWriter(f)
	info, err := router.Extract(ctx, src, extract.Limits{}, w.Write)
	return info.Pages, errors.Join(err, w.Close(), f.Close())
}

// prepareNoop is the worker with no-op tasks on its queue.
func (t peerTask) prepareNoop(ctx context.Context) (func() (peerAnswer, error), error) {
	var jobs store.Store
	jobs, err := postgres.Open(ctx, t.Database, postgres.Options{ClientID: client, MaxConns: postgres.PoolFor(concurrency)})
	if err != nil {
		return nil, err
	}
	worker, err := newRig(ctx, t.Queues, jobs, concurrency)
	if err != nil {
		return nil, err
	}
	err = t.enqueue(ctx, t.Tasks, func(i int) string { return message(t.Name, 0, i) })
	return func() (peerAnswer, error) {
		defer jobs.Close()
		f, err := worker.measure(ctx, t.Tasks)
		return peerAnswer{Seconds: f.took.Seconds()}, err
	}, err
}

func (t peerTask) enqueue(ctx context.Context, n int, text func(i int) string) error {
	q, err := bareQueue(t.Queues, task.QueueNames(client).Normal)
	if err != nil {
		return err
	}
	return fill(ctx, q, n, text)
}
