package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	ingesting "github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	longPages  = 2000
	longMemory = 150 << 20 // bytes resident, of the worker
)

// longTask is the input of the worker's process, and longResult its answer.
type longTask struct{ Database, Queues, Folder, File string }

type longResult struct {
	Took      time.Duration
	Peak      int64 // bytes resident, of the process
	Children  int64 // the same of the largest of its children
	FirstPage int64 // the last page read when the first chunks had been staged
	LastPage  int64
}

// measureMemory prints the memory of a worker that ingests a document of 2,000 pages, and how far it has read when
// the first chunks are staged. The worker is a process of its own.
func measureMemory(ctx context.Context, out io.Writer) (err error) {
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	stub, stopStub, err := startStub(ctx)
	if err != nil {
		return err
	}
	defer stopStub()
	fmt.Fprintf(out, "\nA PDF of %d pages, from the queue to the index; a worker of its own with one task:\n",
		longPages)
	fmt.Fprintln(out, "  pages of   file MB   seconds   peak MB   limit   of poppler's programs   first chunks "+
		"staged at page")
	var missed []string
	for i, tables := range []bool{false, true} {
		name := map[bool]string{false: "text", true: "tables"}[tables]
		r, size, err := ingestLong(ctx, pg, stub, fmt.Sprint("long", i), name, tables)
		if err != nil {
			return fmt.Errorf("pages of %s: %w", name, err)
		}
		fmt.Fprintf(out, "  %-8s %9.1f %9.1f %9d %7d %23d %18d of %d\n", name, float64(size)/(1<<20), r.Took.Seconds(),
			r.Peak>>20, longMemory>>20, r.Children>>20, r.FirstPage, r.LastPage)
		if r.Peak > longMemory || r.FirstPage >= r.LastPage {
			missed = append(missed, name)
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("pages of %s exceed their limit", strings.Join(missed, " and of "))
	}
	return nil
}

func ingestLong(
	ctx context.Context, pg *stack.Postgres, stub, database, name string, tables bool,
) (r longResult, size int64, err error) {
	folder, err := os.MkdirTemp("", "bench-long-")
	if err != nil {
		return r, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	bucket := dir.New(filepath.Join(folder, "blobs"))
	if err := bucket.Ensure(ctx); err != nil {
		return r, 0, err
	}
	var content bytes.Buffer
	if err := nativetest.LongPDF(&content, longPages, tables); err != nil {
		return r, 0, err
	}
	size = int64(content.Len())
	if _, err := bucket.Put(ctx, name+".pdf", &content, ""); err != nil {
		return r, 0, err
	}
	if err := ensureDatabase(ctx, pg, database); err != nil {
		return r, 0, err
	}
	if _, err := schema.Migrate(ctx, pg.URL(database), schema.Options{Dimensions: ingestWidth}); err != nil {
		return r, 0, fmt.Errorf("migrate: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return r, 0, err
	}
	input, err := json.Marshal(longTask{pg.URL(database), stub, folder, name + ".pdf"})
	if err != nil {
		return r, 0, err
	}
	cmd := exec.CommandContext(ctx, self, "long")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return r, 0, fmt.Errorf("the worker: %w", err)
	}
	return r, size, json.Unmarshal(answer, &r)
}

// serveLong is the worker's process.
func serveLong(out io.Writer, in io.Reader) int {
	var t longTask
	err := json.NewDecoder(in).Decode(&t)
	if err == nil {
		var r longResult
		if r, err = t.run(context.Background()); err == nil {
			err = json.NewEncoder(out).Encode(r)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return 1
	}
	return 0
}

func (t longTask) run(ctx context.Context) (r longResult, err error) {
	db, err := postgres.Open(ctx, t.Database, postgres.Options{
		ClientID: client, Dimensions: ingestWidth, MaxConns: postgres.PoolFor(1),
	})
	if err != nil {
		return r, err
	}
	defer db.Close()
	worker, err := newRig(ctx, t.Queues, db, 1)
	if err != nil {
		return r, err
	}
	router, _ := app.Extractors(ctx, ingestPage, nil) // all its pages have text
	var page, first atomic.Int64
	worker.handler = ingesting.New(ingesting.Deps{
		Bucket: dir.New(filepath.Join(t.Folder, "blobs")), Extractor: pageWatch{router, &page},
		Documents: firstStaged{db, &page, &first},
		Embedder:  newModel(), Counter: token.New(), Limits: extract.DefaultLimits, TempDir: t.Folder,
	})
	q, err := bareQueue(t.Queues, task.QueueNames(client).Normal)
	if err != nil {
		return r, err
	}
	if err := fill(ctx, q, 1, func(int) string {
		return fmt.Sprintf(`{"task_id":"long.%s","task_type":"ingest","payload":{"filename":%q,"document_set":"long"}}`,
			filepath.Base(t.Folder), t.File)
	}); err != nil {
		return r, err
	}
	f, err := worker.measure(ctx, 1)
	if err != nil {
		return r, err
	}
	var children syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children); err != nil {
		return r, err
	}
	peak, err := peakMemory()
	return longResult{f.took, peak, children.Maxrss << 10, first.Load(), page.Load()}, err
}

// pageWatch knows the last page read.
type pageWatch struct {
	ingesting.Extractor
	page *atomic.Int64
}

func (w pageWatch) Extract(
	ctx context.Context, src extract.Source, l extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	return w.Extractor.Extract(ctx, src, l, func(b extract.Block) error {
		w.page.Store(int64(b.Page))
		return emit(b)
	})
}

// firstStaged records the last page read when the first chunks had been staged.
type firstStaged struct {
	store.Documents
	page, first *atomic.Int64
}

func (w firstStaged) StageChunks(ctx context.Context, b store.ChunkBatch) ([]string, error) {
	missing, err := w.Documents.StageChunks(ctx, b)
	w.first.CompareAndSwap(0, w.page.Load())
	return missing, err
}

// peakMemory is the largest resident size of this process, in bytes.
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10, nil
		}
	}
	return 0, errors.New("/proc/self/status lacks VmHWM, the largest resident size")
}
