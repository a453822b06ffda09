package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/test/prove/mutants"
)

// corpusFolders hold real documents and damaged ones of third parties, next to the project. Without them there are
// only our own samples.
var corpusFolders = []string{"../shared/corpus/documents", "../shared/corpus/hostile", "dev/samples"}

// byOCR stands for images and scans that tesseract reads; those of other mutants are read by an engine that answers
// at once.
const byOCR = "ocr"

// shares say how many of ten thousand mutants are of a format. A PDF takes several programs of poppler, and OCR
// and LibreOffice take longer still.
var shares = []struct {
	format string
	share  int
}{
	{"docx", 1500},
	{"pptx", 1280},
	{"xlsx", 1000},
	{"odf", 1170},
	{"epub", 740},
	{"html", 900},
	{"markdown", 800},
	{"csv", 450},
	{"text", 400},
	{"eml", 650},
	{"rtf", 450},
	{"xml", 171},
	{"zip", 120},
	{"msg", 120},
	{"mbox", 80},
	{"pdf", 98},
	{"image", 60},
	{byOCR, 2},
	{"doc", 3}, // by LibreOffice, as the next two
	{"xls", 3},
	{"ppt", 3},
}

// mutant is one to make and read.
type mutant struct {
	format string
	number int
}

func (m mutant) String() string { return fmt.Sprintf("mutants/%s/%d", m.format, m.number) }

// proveMutants has processes read whole documents of every format, and damaged ones made of them.
func proveMutants(ctx context.Context, o options, r *report) (err error) {
	seeds, err := mutantSeeds()
	if err != nil {
		return err
	}
	dir, err := stack.NewTempDir("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	program, err := o.built.of(ctx, "./test/prove/mutants/reader")
	if err != nil {
		return err
	}
	table := newMutantTable()
	defer table.print(r)
	work := make(chan mutant)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(work)
		return allMutants(ctx, o, seeds, work)
	})
	for n := range min(o.parallel, runtime.GOMAXPROCS(0)) {
		group.Go(func() error {
			l := &readerProcess{
				seed: o.seed, untimed: o.untimed, report: r, table: table, seeds: seeds, program: program,
				dir: filepath.Join(dir.Path, fmt.Sprint(n)),
			}
			defer l.end()
			for m := range work {
				if err := l.try(ctx, m); err != nil {
					return fmt.Errorf("%s: %w", m, err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// mutantSeeds are the documents by format.
func mutantSeeds() (map[string][]mutants.Seed, error) {
	root, err := stack.Root()
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, folder := range corpusFolders {
		folders = append(folders, filepath.Join(root, folder))
	}
	seeds, err := mutants.Seeds(folders...)
	if err != nil {
		return nil, err
	}
	seeds[byOCR] = slices.Clone(seeds[string(extract.Image)])
	for _, s := range seeds[string(extract.PDF)] {
		if strings.Contains(s.Name, "ocr") {
			seeds[byOCR] = append(seeds[byOCR], s)
		}
	}
	return seeds, nil
}

// allMutants sends the seeds as they are, then mutants of all formats in rotation.
func allMutants(ctx context.Context, o options, seeds map[string][]mutants.Seed, work chan<- mutant) error {
	give := func(m mutant) error {
		if !o.wants(m.String()) {
			return nil
		}
		select {
		case work <- m:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for format, all := range seeds {
		for i := range all {
			if err := give(mutant{format, -i - 1}); err != nil {
				return err
			}
		}
	}
	for n := range o.mutants {
		// The n-th of all belongs to the format whose share n falls into, so that a short run has all of them.
		place := n * 6173 % 10_000
		for _, s := range shares {
			if place -= s.share; place < 0 {
				if err := give(mutant{s.format, n}); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}
