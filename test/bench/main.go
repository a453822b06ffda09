// Command bench measures the cost of the worker around a task: `make bench` runs it. Every rate is compared with
// that of a bare SDK loop of receive and delete on the same server in the same run, since machines differ and are
// noisy; the ratio counts. The task type is a no-op.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// rounds alternate bare loop and worker; the median ratio is printed.
const rounds = 3

func main() {
	if len(os.Args) > 1 && os.Args[1] == "stub" {
		os.Exit(serveStub(os.Stdout, os.Stdin))
	}
	if len(os.Args) > 1 && os.Args[1] == "read" {
		os.Exit(serveRead(os.Stdout, os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "long" {
		os.Exit(serveLong(os.Stdout, os.Stdin))
	}
	if len(os.Args) > 1 && os.Args[1] == "deck" {
		os.Exit(serveDeck(os.Stdout, os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "listen" {
		os.Exit(serveListen(os.Stdout, os.Stdin))
	}
	if len(os.Args) > 1 && os.Args[1] == "model" {
		os.Exit(serveModel(os.Stdout, os.Stdin))
	}
	if len(os.Args) > 2 && os.Args[1] == "peer" {
		os.Exit(servePeer(os.Stdout, os.Stdin, os.Args[2]))
	}
	var index indexOptions
	flag.IntVar(&index.rows, "rows", 50_000, "index, search, vectors: number of chunks, at least 1000")
	flag.IntVar(&index.queries, "queries", 100, "index, search, vectors: number of questions")
	flag.Uint64Var(&index.seed, "seed", 1, "index, search, vectors: seed of its vectors and words")
	var search scaleOptions
	flag.StringVar(&search.set, "set", "", "search, vectors: folder with passages.jsonl and questions.jsonl, of a language with spaces")
	flag.IntVar(&search.dimensions, "dimensions", schema.DefaultDimensions, "search, vectors: of the vectors that are made")
	flag.IntVar(&search.writers, "writers", 2, "search: connections that fill the database")
	flag.StringVar(&search.database, "database", "", "search: URL of an empty database to use and keep, instead of a server of its own")
	var quantized quantizedOptions
	quantized.flags()
	var bloat bloatOptions
	bloat.flags()
	var old retentionOptions
	old.flags()
	var peers peersOptions
	peers.flags()
	all := parts(&index, &search, &quantized, &bloat, &old, &peers)
	queue := flag.String("queue", "", "queue: only on this one: stub, Azurite, NATS, Postgres or pgmq")
	only := flag.String("only", "", "only this part: "+partNames(all))
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process to a file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := profiled(*profile, func() error { return run(ctx, os.Stdout, all, *only, *queue) })
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// profiled writes a CPU profile of do to a file; empty: none.
func profiled(file string, do func() error) error {
	if file == "" {
		return do()
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}

// part is measured alone, and only on request: `make bench` by itself is about the cost of a task.
type part struct {
	name  string
	about string
	run   func(ctx context.Context, out io.Writer) error
}

func parts(index *indexOptions, search *scaleOptions, quantized *quantizedOptions, bloat *bloatOptions, old *retentionOptions, peers *peersOptions) []part {
	return []part{
		{"reindex", "documents that are ingested again", measureReindex},
		{
			"index", "chunks written and found",
			func(ctx context.Context, out io.Writer) error { return measureIndex(ctx, out, *index) },
		},
		{
			"search", "among many chunks: its time, what it finds, its indexes",
			func(ctx context.Context, out io.Writer) error {
				search.rows, search.queries, search.seed = index.rows, index.queries, index.seed
				return measureSearch(ctx, out, *search)
			},
		},
		{
			"terms", "of an index from before BM25, filled in place beside a worker and searches",
			func(ctx context.Context, out io.Writer) error {
				search.rows, search.seed = index.rows, index.seed
				return measureUpgrade(ctx, out, *search)
			},
		},
		{
			"vectors", "an index of them, and one of their signs: what they find and cost",
			func(ctx context.Context, out io.Writer) error {
				quantized.rows, quantized.queries, quantized.seed = index.rows, index.queries, index.seed
				quantized.set, quantized.dimensions = search.set, search.dimensions
				return measureQuantized(ctx, out, *quantized)
			},
		},
		{"ingest", "the corpus, compared with its extraction and its model calls alone", measureIngest},
		{"memory", "of a worker that ingests 2,000 pages", measureMemory},
		{"bombs", "how soon they are refused, and the cost of costly files", measureBombs},
		{"cancel", "how soon it ends the reading of a huge element", measureCancel},
		{"stream", "from the model's first piece to the first event", measureStream},
		{
			"bloat", "of the queue on Postgres after a million messages",
			func(ctx context.Context, out io.Writer) error { return measureBloat(ctx, out, *bloat) },
		},
		{
			"retention", "of old events, deliveries and jobs beside tasks",
			func(ctx context.Context, out io.Writer) error { return measureRetention(ctx, out, *old) },
		},
		{"decks", "30 slides converted and exported, beside python-pptx and LibreOffice; the memory of 300", measureDecks},
		{
			"peers", "LlamaIndex, LangChain, pgai, kreuzberg, pypdf, pdftotext and Celery beside the worker",
			func(ctx context.Context, out io.Writer) error { return measurePeers(ctx, out, *peers) },
		},
		{"feed", "500 streams of events over HTTP: memory, delay, tasks a second", measureFeed},
	}
}

func partNames(all []part) string {
	var names strings.Builder
	names.WriteString("queue (compared with a bare loop), idle, river (compared with River)")
	for _, p := range all {
		names.WriteString(", " + p.name + " (" + p.about + ")")
	}
	return names.String()
}

// run runs the requested parts: those about the cost of a task, or one.
func run(ctx context.Context, out io.Writer, all []part, only, queue string) error {
	for _, p := range all {
		if p.name == only {
			return p.run(ctx, out)
		}
	}
	switch only {
	case "", "queue", "idle", "river":
	default:
		return fmt.Errorf("unknown part %q; the parts are %s", only, partNames(all))
	}
	stub, stopStub, err := startStub(ctx)
	if err != nil {
		return err
	}
	defer stopStub()
	if only != "river" {
		if err := besideBare(ctx, out, stub, only, queue); err != nil {
			return err
		}
	}
	if only == "" || only == "river" {
		if err := besideRiver(ctx, out, stub); err != nil {
			return err
		}
	}
	if only == "" {
		return measureReindex(ctx, out)
	}
	return nil
}

// besideBare compares the worker with a bare loop, and measures how soon an idle one sees a message.
func besideBare(ctx context.Context, out io.Writer, stub, only, queue string) (err error) {
	o, err := openAll(ctx, stub, queue)
	if err != nil {
		return err
	}
	defer stopping(&err, o.close)
	if only != "idle" {
		for _, measure := range []func(context.Context, io.Writer, *opened) error{
			compareAll, compareThrough, measureStarts, measureEvenness,
		} {
			if err := measure(ctx, out, o); err != nil {
				return err
			}
		}
	}
	if only != "queue" {
		if err := measureIdle(ctx, out, o.azurite, o.jobs); err != nil {
			return err
		}
		return measureWakes(ctx, out, o)
	}
	return nil
}

// openJobs migrates a database of its own if necessary, and opens it as the daemon does.
func openJobs(ctx context.Context, pg *stack.Postgres, tasks int) (store.Store, error) {
	if err := ensureDatabase(ctx, pg, "bench"); err != nil {
		return nil, err
	}
	if _, err := schema.Migrate(ctx, pg.URL("bench"), schema.Options{}); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return postgres.Open(ctx, pg.URL("bench"), postgres.Options{ClientID: client, MaxConns: postgres.PoolFor(tasks)})
}

func stopping(err *error, stop func() error) {
	if e := stop(); e != nil && *err == nil {
		*err = e
	}
}
