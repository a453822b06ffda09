package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	fine := result{name: "fine", f1: 0.99, order: 0.99}
	for name, tt := range map[string]struct {
		results []result
		want    string // "": all aims are met
	}{
		"all fine": {[]result{
			fine,
			{name: "scan", ocr: true, f1: 0.96, order: 0.9},
			{outcome: unreferred},
			{outcome: notCompared},
		}, ""},
		"mean F1":    {[]result{fine, {f1: 0.9, order: 0.9}}, "mean word F1 is 0.945"},
		"mean order": {[]result{fine, {f1: 1, order: 0.8}}, "mean order is 0.895"},
		"one file": {
			[]result{fine, fine, fine, fine, fine, fine, fine, {name: "low", f1: 0.84, order: 1}},
			"low has a word F1 of 0.840",
		},
		"a scan": {
			[]result{fine, fine, fine, fine, {name: "scan", ocr: true, f1: 0.89, order: 1}},
			"scan, read by OCR, has a word F1 of 0.890",
		},
		"a format not read": {
			[]result{fine, {name: "a.xyz", outcome: missing}},
			"a.xyz is of a format that has no extractor yet",
		},
		"a file not read":      {[]result{fine, {name: "broken", outcome: failed}}, "broken could not be read"},
		"no reference for any": {[]result{{outcome: unreferred}}, "no document has a reference"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := judge(tt.results)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"documents/a.txt": "One two three four.", "docling/a.txt.md": "One two three five.",
		"documents/b.txt": "No one compares this.",
		"documents/c.bin": "\x00\x01\x02\x03", "docling/c.bin.md": "Somebody reads it.",
		"documents/d.bin": "\x00\x01\x02\x03",
		"documents/e.txt": "", "docling/e.txt.md": "Something",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	router := extract.NewRouter(native.Extractors(nil, nil))
	results, err := measure(t.Context(), router, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []outcome{scored, unreferred, missing, notCompared, failed}
	if len(results) != len(want) {
		t.Fatalf("%+v", results)
	}
	for i, r := range results {
		if r.outcome != want[i] {
			t.Errorf("%s: outcome %d (%s), want %d", r.name, r.outcome, r.note, want[i])
		}
	}
	if a := results[0]; a.f1 != 0.75 || a.order != 0.75 {
		t.Errorf("%+v", a)
	}
	var out strings.Builder
	if err := table(&out, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a.txt", "0.750", "b.txt", "no reference", "c.bin", "missing: no extractor",
		"the file is empty", "mean of 2", "0.375", "lowest",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	if s := results[0].parts; s.Headings.F1() != 1 {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measure(ctx, router, dir); err == nil {
		t.Error("the end of the context did not stop it")
	}
}
