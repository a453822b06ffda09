package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// peersOptions choose what is measured beside the worker.
type peersOptions struct {
	home   string // of the peers' environments, see dev/install-peers.sh
	corpus string // folder of documents; empty: the shared one, else documents that the benchmark makes
	work   string // only this one
	rounds int
	rows   int // of text
}

func (o *peersOptions) flags() {
	flag.StringVar(&o.home, "peers", ".tools/peers", "peers: folder of the peers' environments")
	flag.StringVar(&o.corpus, "corpus", "", "peers: folder of documents, with Docling's Markdown in ../docling if there is any")
	flag.StringVar(&o.work, "work", "", "peers: only this: files, rows, pdf or noop")
	flag.IntVar(&o.rounds, "rounds", 3, "peers: rounds of each work")
	flag.IntVar(&o.rows, "texts", 60, "peers: rows of text")
}

// peerBench is what the comparisons share.
type peerBench struct {
	peersOptions
	out          io.Writer
	self         string // this program
	scripts      string // folder of the peers' programs
	folder       string // of what is made here
	pg           *stack.Postgres
	server       *server
	model, stub  string
	documents    string   // folder of the documents
	files        []string // names in it
	notInstalled []string
}

// measurePeers compares the worker with other programs that do a part of its work.
func measurePeers(ctx context.Context, out io.Writer, o peersOptions) (err error) {
	b := &peerBench{peersOptions: o, out: out}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	root, err := stack.Root()
	if err != nil {
		return err
	}
	if b.home, err = filepath.Abs(b.home); err != nil {
		return err
	}
	b.scripts = filepath.Join(root, "test", "bench", "peers")
	if b.folder, err = os.MkdirTemp("", "bench-peers-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	if b.pg, err = stack.StartPostgres(ctx, stack.PostgresOptions{Settings: []string{
		"shared_buffers=256MB", "max_connections=200", "fsync=on", "full_page_writes=on", "synchronous_commit=on",
	}}); err != nil {
		return err
	}
	defer stopping(&err, b.pg.Stop)
	if b.server, err = watchCPU(ctx, b.pg); err != nil {
		return err
	}
	defer b.server.close()
	for into, service := range map[*string]string{&b.stub: "stub", &b.model: "model"} {
		address, stop, err := startService(ctx, service)
		if err != nil {
			return err
		}
		defer stop()
		*into = address
	}
	if err := b.collect(ctx, root); err != nil {
		return err
	}
	return b.all(ctx)
}

// all runs the comparisons, and ends with those that could not be made.
func (b *peerBench) all(ctx context.Context) error {
	settings, err := b.server.settings(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\nThe worker and its peers: each in a process of its own, in turns, %d rounds; the median and the "+
		"range. Time and CPU count from \"go\" to the answer: no program's start is in them, and loading is in the "+
		"memory, which is proportional (PSS), of the process and all below it, at its peak. Postgres: %s. Load before: "+
		"%s.\n", b.rounds, settings, load())
	works := []struct {
		name string
		run  func(context.Context) error
	}{{"files", b.ingestFiles}, {"rows", b.ingestRows}, {"pdf", b.readPDFs}, {"noop", b.noops}}
	known := false
	for _, w := range works {
		if b.work != "" && b.work != w.name {
			continue
		}
		known = true
		if err := w.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	if !known {
		return fmt.Errorf("-work %q is none of files, rows, pdf and noop", b.work)
	}
	if len(b.notInstalled) > 0 {
		slices.Sort(b.notInstalled)
		fmt.Fprintf(b.out, "\nNOT MEASURED: %s: not in %s; dev/install-peers.sh says why.\n",
			strings.Join(slices.Compact(b.notInstalled), ", "), b.home)
	}
	fmt.Fprintf(b.out, "Load after: %s.\n", load())
	return nil
}

// load is the machine's, of the last 1, 5 and 15 minutes.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// ours is the worker itself.
func (b *peerBench) ours(work, name string) *entrant {
	return &entrant{name: name, command: []string{b.self, "peer", work}, ours: true}
}

// peer is a Python program of the folder peers, in the environment of its name.
func (b *peerBench) peer(environment, name, program string, args ...string) *entrant {
	python := filepath.Join(b.home, environment, "bin", "python")
	e := &entrant{name: name}
	if _, err := os.Stat(filepath.Join(b.home, environment, "versions")); err != nil {
		b.notInstalled = append(b.notInstalled, name)
		return e
	}
	e.command = append([]string{python, filepath.Join(b.scripts, program)}, args...)
	return e
}

// database makes an empty database, or one of the worker, and returns its address.
func (b *peerBench) database(ctx context.Context, name string, ours bool) (string, error) {
	if err := b.pg.CreateDatabase(ctx, name, "template1"); err != nil {
		return "", err
	}
	if !ours {
		return b.pg.URL(name), nil
	}
	if _, err := schema.Migrate(ctx, b.pg.URL(name), schema.Options{Dimensions: ingestWidth}); err != nil {
		return "", fmt.Errorf("migrate: %w", err)
	}
	return b.pg.URL(name), nil
}

// count is the number that a query finds in a database.
func count(ctx context.Context, url, query string) (n int, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return n, conn.QueryRow(ctx, query).Scan(&n)
}
