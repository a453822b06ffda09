package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
)

const (
	cancelTries = 12              // how often each document is canceled, at random moments of its reading
	cancelUntil = 2 * time.Second // of it at most: the rest is like its start
)

// measureCancel prints how soon extraction and chunking end after their context: for documents that are one huge
// element. CPU time counts, not the clock: the machine may be busy.
func measureCancel(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(out, "From a cancel at a random moment to the end of extraction and chunking, %d times for each "+
		"document; the aim is 100 ms:\n", cancelTries)
	fmt.Fprintf(out, "  %-44s %8s %9s %9s %9s %9s\n", "", "MB", "1st chunk", "p50", "most", "of CPU")
	router := extract.NewRouter(native.Extractors(pdf.New(), nil))
	counter := token.New()
	var all []time.Duration
	for _, giant := range nativetest.Giants() {
		path := filepath.Join(dir, giant.Name)
		if err := writeFile(path, giant.Write); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		whole, first, err := readStart(ctx, router, counter, path)
		if err != nil {
			return fmt.Errorf("%s: %w", giant.Name, err)
		}
		var waits []time.Duration
		var most time.Duration
		for n := range cancelTries {
			within := whole
			if n%2 == 0 { // before the first chunk, within the one huge piece
				within = first
			}
			wait, cpu, err := cancelOnce(ctx, router, counter, path, time.Duration(rand.Int64N(int64(within))))
			if err != nil {
				return fmt.Errorf("%s: %w", giant.Name, err)
			}
			waits, most = append(waits, wait), max(most, cpu)
		}
		slices.Sort(waits)
		all = append(all, waits...)
		fmt.Fprintf(out, "  %-44s %8d %9v %9v %9v %9v\n", giant.Name, info.Size()>>20, ms(first),
			ms(waits[len(waits)/2]), ms(waits[len(waits)-1]), ms(most))
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	slices.Sort(all)
	fmt.Fprintf(out, "  all of them (%d): p50 %v, p99 %v, most %v\n", len(all), ms(all[len(all)/2]),
		ms(all[len(all)*99/100]), ms(all[len(all)-1]))
	return nil
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// readStart reads a document for cancelUntil at most, and returns the times to its first chunk and to the end.
func readStart(
	ctx context.Context, router *extract.Router, counter *token.Counter, path string,
) (whole, first time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cancelUntil, errCanceled)
	defer cancel()
	began := time.Now()
	err = read(ctx, router, counter, path, func() {
		if first == 0 {
			first = time.Since(began)
		}
	})
	whole = max(time.Since(began), 1)
	if first == 0 {
		first = whole
	}
	if errors.Is(err, errCanceled) {
		err = nil
	}
	return whole, first, err
}

// read extracts and chunks a document as ingest does.
func read(ctx context.Context, router *extract.Router, counter *token.Counter, path string, chunked func()) error {
	chunker := chunk.New(chunk.Config{Counter: counter, Model: "bench", Dimensions: 1}, func(chunk.Chunk) error {
		chunked()
		return context.Cause(ctx)
	})
	src, err := extract.Open(path, path)
	if err == nil {
		_, err = router.Extract(ctx, src, extract.Limits{}, chunker.Add)
	}
	if err == nil {
		err = chunker.Close()
	}
	return err
}

var errCanceled = errors.New("canceled")

// cancelOnce cancels the reading after a while, and returns how long it continued.
func cancelOnce(
	ctx context.Context, router *extract.Router, counter *token.Counter, path string, after time.Duration,
) (wait, cpu time.Duration, err error) {
	runtime.GC() // earlier garbage must not count
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var at time.Time
	var spent time.Duration
	timer := time.AfterFunc(after, func() {
		at, spent = time.Now(), cpuTime()
		cancel(errCanceled)
	})
	err = read(ctx, router, counter, path, func() {})
	if timer.Stop() { // it had ended before
		return 0, 0, err
	}
	<-ctx.Done()
	if err != nil && !errors.Is(err, errCanceled) {
		return 0, 0, err
	}
	return time.Since(at), cpuTime() - spent, nil
}
