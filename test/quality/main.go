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
	"github.com/seed-7227ef26/async-worker/test/quality/retrieval"
)

// pageTime is the time for one page of OCR, the worker's default.
const pageTime = 120 * time.Second

func main() {
	corpus := flag.String("corpus", "../shared/corpus",
		"folder with documents/NAME and its reference, docling/NAME.md")
	kind := flag.String("kind", "", "structure: documents that it makes itself, instead of a corpus; retrieval: the search")
	set := flag.String("set", "", "with -kind retrieval: folder with passages.jsonl and questions.jsonl")
	vectors := flag.String("embeddings", "", "with -kind retrieval: wordllama or use, instead of the offline provider")
	var o structureOptions
	flag.Uint64Var(&o.seed, "seed", 1, "of the documents that it makes")
	flag.StringVar(&o.only, "only", "", "with -kind structure: the kinds to make, separated by commas")
	flag.StringVar(&o.producer, "producer", "", "with -kind structure: read only files of this format and program, such as \"pdf typst\"; a prefix")
	flag.StringVar(&o.keep, "keep", "", "with -kind structure: an empty folder for the documents, which stay there")
	flag.StringVar(&o.again, "again", "", "with -kind structure: the folder of an earlier -keep, to read its documents again")
	flag.BoolVar(&o.mistakes, "mistakes", false, "with -kind structure: list the headings and items that are wrong")
	flag.StringVar(&o.venv, "venv", "", "with -kind structure: a Python environment with typst and weasyprint; "+
		"with -kind retrieval: one that dev/install-retrieval-deps.sh made")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	switch *kind {
	case "":
		err = run(ctx, *corpus)
	case "structure":
		err = runStructure(ctx, o)
	case "retrieval":
		err = retrieval.Run(ctx, os.Stdout, *set, o.venv, *vectors)
	default:
		err = fmt.Errorf("there is no kind %q; use structure or retrieval", *kind)
	}
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
