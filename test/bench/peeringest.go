package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/score"
)

// The ratios that are asked for, of a peer's time to the worker's.
const (
	askedLlamaIndex = 4.0
	askedLangChain  = 3.0
	askedPgai       = 2.0
	askedKreuzberg  = 1.0 // of CPU time
)

// rowsTuned is how many tasks the worker does at a time where it is tuned as a peer is: rows of text wait for the model
// more than for a processor.
const rowsTuned = 16

// What a peer's rows are counted by.
const (
	ourChunks   = "select count(*) from document_chunks"
	llamaChunks = "select count(*) from data_documents"
	chainChunks = "select count(*) from langchain_pg_embedding"
	pgaiChunks  = "select count(*) from texts_store"
)

// ingestFiles compares the way of a folder of documents into Postgres.
func (b *peerBench) ingestFiles(ctx context.Context) error {
	llama := b.peer("llamaindex", "LlamaIndex: SimpleDirectoryReader, IngestionPipeline, PGVectorStore", "llamaindex.py")
	chain := b.peer("langchain", "LangChain: its loaders, RecursiveCharacterTextSplitter, PGVector", "langchain_files.py")
	llama.rows, chain.rows = llamaChunks, chainChunks
	ours := b.ours("ingest", fmt.Sprintf("async-worker, %d tasks and %d requests at a time: its defaults", ingestTasks, ingestTasks))
	ours.rows = ourChunks
	c := b.ingestContest("files", b.documents, b.files, ours, llama, chain)
	fmt.Fprintf(b.out, "\n%d files, %d of them PDFs, into Postgres: chunks of about %d tokens, with the same kinds of index "+
		"(HNSW of halfvec, words); the model takes %v a call.\n", len(b.files), len(b.pdfs()), 400, ingestLatency)
	if err := b.turns(ctx, c); err != nil {
		return err
	}
	c.print(b.out, "chunks")
	c.verdict(b.out, llama, seconds, "time", askedLlamaIndex)
	c.verdict(b.out, chain, seconds, "time", askedLangChain)
	return nil
}

// ingestRows compares the way of rows of text into vectors.
func (b *peerBench) ingestRows(ctx context.Context) error {
	folder, files, err := b.texts()
	if err != nil {
		return err
	}
	one := b.peer("pgai", "pgai's vectorizer worker, as it is by default: 1 at a time", "pgai_rows.py", "1")
	tuned := b.peer("pgai", "pgai's vectorizer worker, 4 at a time", "pgai_rows.py", "4")
	one.rows, tuned.rows = pgaiChunks, pgaiChunks
	ours := b.ours("ingest", fmt.Sprintf("async-worker, each row a blob; %d tasks and requests at a time: its defaults", ingestTasks))
	ours.rows = ourChunks
	many := b.ours("ingest", fmt.Sprintf("async-worker, %d at a time: WORKER_CONCURRENCY, and a larger MODEL_CONCURRENCY", rowsTuned))
	many.rows, many.tasks = ourChunks, rowsTuned
	c := b.ingestContest("rows", folder, files, ours, many, one, tuned)
	fmt.Fprintf(b.out, "\n%d rows of text of about 4 pages into vectors.\n", len(files))
	if err := b.turns(ctx, c); err != nil {
		return err
	}
	c.print(b.out, "chunks")
	c.verdict(b.out, tuned, seconds, "time", askedPgai)
	verdictTo(b.out, many, tuned, seconds, "time, both tuned,", askedPgai)
	return nil
}

// ingestContest has each entrant write the files into a database of its own.
func (b *peerBench) ingestContest(name, folder string, files []string, entrants ...*entrant) contest {
	c := contest{entrants: entrants}
	c.begin = func(ctx context.Context, e *entrant, round int) (peerTask, error) {
		t := peerTask{
			Model: b.model, Queues: b.stub, Folder: folder, Files: files, Tasks: max(e.tasks, ingestTasks),
			Name: fmt.Sprintf("%s_%d_%d", name, indexOf(entrants, e), round),
		}
		var err error
		t.Database, err = b.database(ctx, t.Name, e.ours)
		return t, err
	}
	c.end = func(ctx context.Context, e *entrant, t peerTask, _ peerRun) error {
		n, err := count(ctx, t.Database, e.rows)
		if err != nil {
			return err
		}
		if n < len(files) {
			return fmt.Errorf("only %d chunks of %d files were written", n, len(files))
		}
		e.results = []string{strconv.Itoa(n)}
		return nil
	}
	return c
}

func indexOf(entrants []*entrant, e *entrant) int {
	for i := range entrants {
		if entrants[i] == e {
			return i
		}
	}
	return -1
}

// readPDFs compares the CPU time for the text of PDFs, and how near it is to Docling's.
func (b *peerBench) readPDFs(ctx context.Context) error {
	ours := b.ours("pdf", "async-worker: Markdown, with headings, lists and tables")
	kreuzberg := b.peer("kreuzberg", "kreuzberg", "pdf_kreuzberg.py")
	c := contest{entrants: []*entrant{
		ours, kreuzberg, b.peer("pypdf", "pypdf", "pdf_pypdf.py"),
		{name: "pdftotext", command: []string{"python3", filepath.Join(b.scripts, "pdf_pdftotext.py")}},
	}}
	c.begin = func(_ context.Context, e *entrant, round int) (peerTask, error) {
		t := peerTask{Folder: b.documents, Files: b.pdfs(), Name: fmt.Sprintf("pdf_%d_%d", indexOf(c.entrants, e), round)}
		t.Output = filepath.Join(b.folder, t.Name)
		return t, os.Mkdir(t.Output, 0o700)
	}
	pages := 0
	c.end = func(_ context.Context, e *entrant, t peerTask, r peerRun) error {
		if e.ours {
			pages = r.answer.Pages
		}
		var err error
		e.results, err = b.scores(t)
		return err
	}
	if err := b.turns(ctx, c); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\nThe text of %d PDFs with %d pages; F1 of words and order as `make quality` scores them, means of "+
		"those with a reference.\n", len(b.pdfs()), pages)
	for _, e := range c.measured() {
		perPage := e.of(func(r peerRun) float64 { return 1e3 * r.cpu.Seconds() / float64(pages) })
		e.results = append([]string{perPage.format(1)}, e.results...)
	}
	c.print(b.out, "CPU ms a page", "word F1", "order")
	c.verdict(b.out, kreuzberg, workerCPU, "CPU time", askedKreuzberg)
	return nil
}

// scores compares the texts with the references that there are.
func (b *peerBench) scores(t peerTask) ([]string, error) {
	var f1, order float64
	n := 0
	for _, name := range t.Files {
		text, err := os.ReadFile(filepath.Join(t.Output, name+".txt"))
		if err != nil {
			return nil, err
		}
		reference, err := os.ReadFile(filepath.Join(b.corpus, "..", "docling", name+".md"))
		if err != nil {
			continue
		}
		f, o := score.Score(string(reference), strings.ToValidUTF8(string(text), " "))
		f1, order, n = f1+f, order+o, n+1
	}
	if n == 0 {
		return []string{"-", "-"}, nil
	}
	return []string{fmt.Sprintf("%.3f", f1/float64(n)), fmt.Sprintf("%.3f", order/float64(n))}, nil
}
