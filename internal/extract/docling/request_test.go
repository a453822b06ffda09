package docling_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	wire "github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/docling"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	var deep strings.Builder
	deep.WriteString(`"groups": [`)
	for i := range 500 {
		fmt.Fprintf(&deep, `{"label": "list", "children": [{"$ref": "#/groups/%d"}]},`, i+1)
	}
	deep.WriteString(`{"label": "list"}]`)
	cell := func(row, column int) string {
		return document("tables/0", fmt.Sprintf(
			`"tables": [{"label": "table", "data": {"num_cols": 2000000000, "table_cells": [{"text": "x", "start_row_offset_idx": %d, "start_col_offset_idx": %d, "end_row_offset_idx": 2000000000}]}}]`, row, column))
	}
	for name, document := range map[string]string{"deep": document("groups/0",
		deep.String()), "row": cell(2_000_000_000, 0), "column": cell(0, 2_000_000_000), "negative": cell(-1, 0)} {
		err := docling.Blocks(read(t, document), func(extract.Block) error { return nil })
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.CorruptionDetected {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := docling.Blocks(read(t, cell(0, 0)), func(extract.Block) error { return nil }); err != nil {
		t.Errorf("a table that claims to be wide: %v", err)
	}
}

// The request has a generated name and a timeout below the task's.
func TestRequest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret-name")
	if err := os.WriteFile(path, []byte("\x89PNG\r\n\x1a\n image"), 0o600); err != nil {
		t.Fatal(err)
	}
	for format, name := range map[extract.Format]string{
		extract.PDF: "document.pdf", extract.Image: "document.png",
		extract.Markdown: "document.md",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &converter{result: &wire.Result{Status: wire.Success, Document: read(t, string(doclingtest.Sample))}}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
			defer cancel()
			router := extract.NewRouter(map[extract.Format]extract.Extractor{format: docling.New(c, nil)})
			info, err := router.Extract(ctx, extract.Source{Path: path, Name: "secret-name", Format: format},
				extract.Limits{}, func(extract.Block) error { return nil })
			if err != nil || info.Pages != 1 || info.Extractor != "docling" || info.Characters == 0 ||
				info.Warnings != nil {
				t.Errorf("%+v, %v", info, err)
			}
			fields, err := json.Marshal(c.sent.Options)
			if err != nil || !strings.Contains(string(fields), `"document_timeout","Value":"80"`) ||
				c.sent.Name != name || len(c.sent.SHA256) != 64 {
				t.Errorf("asked for %+v, %v", c.sent, err)
			}
		})
	}
}

func TestPartialSuccessIsReported(t *testing.T) {
	t.Parallel()
	doc := read(t, string(doclingtest.Sample))
	doc.Pages[4] = doc.Pages[1]
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("%PDF-"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := docling.New(&converter{result: &wire.Result{
		Status: wire.PartialSuccess, Document: doc,
		Errors: []wire.ErrorItem{
			{Message: "model\nfailed", Page: 7}, {Message: "model failed", Page: 3},
		},
	}}, nil)
	info, err := x.Extract(t.Context(), extract.Source{Path: path, Format: extract.PDF}, extract.DefaultLimits,
		func(extract.Block) error { return nil })
	const want = "docling could convert only a part of the document; all or some is missing of page 2, 3, 7 (model " +
		"failed)"
	if err != nil || len(info.Warnings) != 1 || info.Warnings[0] != want || info.Pages != 4 || !info.Incomplete {
		t.Errorf("got %+v, %v", info, err)
	}
	limits := extract.DefaultLimits
	limits.Pages = 1
	_, err = x.Extract(t.Context(), extract.Source{Path: path, Format: extract.PDF}, limits,
		func(extract.Block) error { return nil })
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.QuotaExceeded {
		t.Errorf("too many pages: %v", err)
	}
}

// TestPageNumbers: a page whose number is above the limit is refused, before anything is made of it: lists of pages would be
// as long as the number. A number below 1 is no page.
func TestPageNumbers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("%PDF-"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change  func(*wire.Document)
		refused bool
	}{
		"of the document": {func(d *wire.Document) { d.Pages[100_000] = d.Pages[1] }, true},
		"of an item":      {func(d *wire.Document) { d.Items["texts"][0].Places[0].Page = 100_000 }, true},
		"below 1":         {func(d *wire.Document) { d.Pages[-7] = d.Pages[1]; d.Items["texts"][0].Places[0].Page = -7 }, false},
	} {
		doc := read(t, string(doclingtest.Sample))
		c.change(doc)
		x := docling.New(&converter{result: &wire.Result{Status: wire.PartialSuccess, Document: doc}}, nil)
		last := 0
		_, err := x.Extract(t.Context(), extract.Source{Path: path, Format: extract.PDF}, extract.DefaultLimits,
			func(b extract.Block) error { last = max(last, b.Page); return nil })
		if e, ok := errors.AsType[*taskerr.Error](err); ok != c.refused || ok && e.Class != taskerr.QuotaExceeded || !ok && err != nil || last > 1 {
			t.Errorf("%s: %v, a block on page %d", name, err, last)
		}
	}
}
