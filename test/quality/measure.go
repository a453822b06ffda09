package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	md "github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/extract/score"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/test/quality/structure"
)

// outcome is the result of reading a document.
type outcome int

const (
	scored      outcome = iota
	unreferred          // it was read, and has no reference
	missing             // its format has no extractor yet
	notCompared         // missing, and without a reference
	failed              // it could not be read
)

// result is one document's.
type result struct {
	name      string
	outcome   outcome
	ocr       bool // part of it is for OCR
	f1, order float64
	format    extract.Format
	parts     structure.Score // headings, items, cells and links
	took      time.Duration
	note      string // of a document that is not scored
}

// measure extracts every document of the corpus, one after the other so that their times don't affect each other.
func measure(ctx context.Context, router extract.Runner, corpus string) ([]result, error) {
	entries, err := os.ReadDir(filepath.Join(corpus, "documents"))
	if err != nil {
		return nil, fmt.Errorf("find the corpus: %w (CORPUS=dir names a folder with documents/NAME and docling/NAME.md)", err)
	}
	var results []result
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		r, err := measureOne(ctx, router, corpus, entry.Name())
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("there is no document in %s", filepath.Join(corpus, "documents"))
	}
	return results, nil
}

// measureOne extracts a document and compares it. Its error is about the reference, or the end of ctx.
func measureOne(ctx context.Context, router extract.Runner, corpus, name string) (result, error) {
	reference, err := os.ReadFile(filepath.Join(corpus, "docling", name+".md"))
	referred := err == nil
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return result{}, fmt.Errorf("read the reference: %w", err)
	}
	r := result{name: name}
	began := time.Now()
	output, info, err := markdown(ctx, router, filepath.Join(corpus, "documents", name))
	r.took = time.Since(began)
	if ctx.Err() != nil {
		return result{}, context.Cause(ctx)
	}
	r.ocr = info.Properties["ocr_pages"] != "" || info.Properties["unread_pages"] != ""
	switch e, _ := errors.AsType[*taskerr.Error](err); {
	case err == nil && referred:
		r.f1, r.order = score.Score(string(reference), output)
		r.format = info.Format
		r.parts, err = compareParts(ctx, string(reference), output)
		if err != nil {
			return result{}, err
		}
	case err == nil:
		r.outcome, r.note = unreferred, "no reference"
	case e == nil || e.Class != taskerr.UnsupportedFormat:
		r.outcome, r.note = failed, "failed: "+err.Error()
	case referred:
		r.outcome, r.note = missing, "missing: no extractor reads this format yet"
	default:
		r.outcome, r.note = notCompared, "missing: no extractor reads this format yet; no reference"
	}
	return r, nil
}

// maxShift is how far the levels of headings may differ throughout a document: Docling counts them from another level
// in some formats.
const maxShift = 2

// compareParts scores the headings, the items of lists, the tables and the links of two texts in Markdown. Levels of
// headings count up to a constant.
func compareParts(ctx context.Context, reference, output string) (structure.Score, error) {
	var blocks [2][]extract.Block
	for i, text := range []string{reference, output} {
		err := md.New().Blocks(ctx, text, func(b extract.Block) error {
			blocks[i] = append(blocks[i], b)
			return nil
		})
		if err != nil {
			return structure.Score{}, fmt.Errorf("read Markdown: %w", err)
		}
	}
	best := structure.Parts(blocks[0], blocks[1])
	for shift := -maxShift; shift <= maxShift; shift++ {
		if s := structure.Parts(blocks[0], shifted(blocks[1], shift)); s.Headings.Right > best.Headings.Right {
			best = s
		}
	}
	return best, nil
}

// shifted returns the blocks with other levels of headings.
func shifted(blocks []extract.Block, by int) []extract.Block {
	moved := slices.Clone(blocks)
	for i := range moved {
		if moved[i].Kind == extract.Heading {
			moved[i].Level = min(max(moved[i].Level+by, 1), 6)
		}
	}
	return moved
}

func markdown(ctx context.Context, router extract.Runner, path string) (string, extract.Info, error) {
	src, err := extract.Open(path, filepath.Base(path))
	if err != nil {
		return "", extract.Info{}, err
	}
	var out strings.Builder
	w := extract.NewMarkdownWriter(&out)
	info, err := router.Extract(ctx, src, extract.Limits{}, w.Write)
	err = errors.Join(err, w.Close())
	return out.String(), info, err
}
