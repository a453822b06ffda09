// Command quality compares the extractors with Docling's output for the same documents: `make quality` runs it. It
// prints a line for each document and fails if the aims are missed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// pageTime is the time for one page of OCR, the worker's default.
const pageTime = 120 * time.Second

func main() {
	corpus := flag.String("corpus", "../shared/corpus",
		"folder with documents/NAME and its reference, docling/NAME.md")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *corpus)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, corpus string) error {
	router, noOCR := app.Extractors(ctx, pageTime, nil)
	if noOCR != nil {
		fmt.Fprintln(os.Stderr, "quality: scans are not read:", noOCR)
	}
	results, err := measure(ctx, router, corpus)
	if err != nil {
		return err
	}
	if err := table(os.Stdout, results); err != nil {
		return err
	}
	return judge(results)
}
