package ooxml_test

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// open makes and opens a package of one part.
func open(t *testing.T, part, content string) *ooxml.Package {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(file)
	w, err := z.Create(part)
	if err == nil {
		_, err = io.WriteString(w, content)
	}
	if err = errors.Join(err, z.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	pkg, err := ooxml.Open(path, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pkg.Close() })
	return pkg
}

// TestDamagedXML: the error always has a class, states the place, and quotes nothing of the document.
func TestDamagedXML(t *testing.T) {
	t.Parallel()
	for what, content := range map[string]string{
		"an unknown entity":          "<a>\n&secret;</a>",
		"a long one":                 "<a>\n&" + strings.Repeat("secret", 10_000) + ";</a>",
		"an unknown version":         "<?xml version=\"secret\"?>\n<a/>",
		"an unknown encoding":        "<?xml version=\"1.0\" encoding=\"secret\"?>\n<a/>",
		"an end tag of another name": "<a>\n</secret>",
		"no end":                     "<a>\nsecret",
		"an expanding entity":        "<!DOCTYPE a [<!ENTITY secret \"secret\">]>\n<a>&secret;</a>",
	} {
		for part, where := range map[string]string{"word/document.xml": " of word/document.xml)", "secret?.xml": ")"} {
			err := open(t, part, content).Read(t.Context(), part, func(d *ooxml.Decoder) error {
				return d.Each(func(start xml.StartElement) error { return d.Skip() })
			})
			e, ok := errors.AsType[*taskerr.Error](err)
			if !ok || e.Class != taskerr.CorruptionDetected || strings.Contains(e.Error(), "secret") ||
				!strings.Contains(e.Message, "(line ") || !strings.Contains(e.Message, where) {
				t.Errorf("%s: got %.200v", what, err)
			}
		}
	}
}

// TestRest: what follows the root of a part is not read.
func TestRest(t *testing.T) {
	t.Parallel()
	pkg := open(t, "a.xml", `<a><b/></a> val="92"><c/></d>`)
	var names []string
	err := pkg.Read(t.Context(), "a.xml", func(d *ooxml.Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			names = append(names, start.Name.Local)
			return nil
		})
	})
	if err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("got %q, %v", names, err)
	}
}

// TestCancelWithinFewTokens: a cancellation also stops the reading of a part of few, huge tokens.
func TestCancelWithinFewTokens(t *testing.T) {
	t.Parallel()
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	var text strings.Builder
	for r := rand.New(rand.NewPCG(1, 2)); text.Len() < 1<<20; { // words that compress poorly
		fmt.Fprintf(&text, "%x ", r.Uint64())
	}
	pkg := open(t, "a.xml", "<a>"+strings.Repeat("<b>"+text.String()+"</b>", 8)+"</a>")
	texts := 0
	err := pkg.Read(ctx, "a.xml", func(d *ooxml.Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			if start.Name.Local != "b" {
				return nil
			}
			texts++
			cancel(reason)
			return d.Skip()
		})
	})
	if !errors.Is(err, reason) || texts != 1 {
		t.Errorf("%v after %d of 8 texts", err, texts)
	}
}
