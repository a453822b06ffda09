package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/score"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
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

func markdown(ctx context.Context, router extract.Runner, path string) (string, extract.Info, error) {
	src, err := extract.Open(path, filepath.Base(path))
	if err != nil {
		return "", extract.Info{}, err
	}
	var out strings.Builder
	md := extract.NewMarkdownWriter(&out)
	info, err := router.Extract(ctx, src, extract.Limits{}, md.Write)
	err = errors.Join(err, md.Close())
	return out.String(), info, err
}
