package docling_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"testing"
	"testing/synctest"

	wire "github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/docling"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A page is read with force_ocr in the languages of the task, and its Markdown is the result.
func TestRead(t *testing.T) {
	temp := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server := doclingtest.New(t, doclingtest.Options{
			InMemory: true, Markdown: "# Harbour\n\nShips report.\nAll of them.\n",
		})
		client, err := wire.New(wire.Options{
			URL: server.URL(), APIKey: doclingtest.Key, HTTP: server.Client(), TempDir: temp,
		})
		if err != nil {
			t.Fatal(err)
		}
		engine, err := docling.New(client, temp).For(ocr.Preferences{Languages: []string{"en", "de"}})
		if err != nil {
			t.Fatal(err)
		}
		page, err := engine.Read(t.Context(), ocrtest.Blank())
		if err != nil {
			t.Fatal(err)
		}
		if page.Markdown != "# Harbour\n\nShips report.\nAll of them.\n" || len(page.Paragraphs) != 2 ||
			len(page.Paragraphs[1]) != 2 || page.Paragraphs[0][0][0].Text != "Harbour" {
			t.Errorf("read %+v", page)
		}
		sent := server.Uploads()[0]
		if !slices.Equal(sent.Fields["force_ocr"], []string{"true"}) ||
			!slices.Equal(sent.Fields["ocr_lang"], []string{"en", "de"}) || sent.Name != "page.png" {
			t.Errorf("sent %+v", sent)
		}
		server.Break(doclingtest.Unready)
		_, err = engine.Read(t.Context(), ocrtest.Blank())
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Dependency != taskerr.Docling {
			t.Errorf("a server that is down gives %v", err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("temporary files are left: %v, %v", left, err)
		}
	})
}

// cache keeps the readings of one document.
type cache map[int][]byte

func (c cache) Get(context.Context, string, string, int, int) map[int][]byte { return maps.Clone(c) }

func (c cache) Put(_ context.Context, _, _ string, page int, reading []byte) { c[page] = reading }

// A page of which the server read a part counts as unread, and is not kept: the next reading has all of it.
func TestPartOfAPage(t *testing.T) {
	temp := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server := doclingtest.New(t, doclingtest.Options{InMemory: true, Markdown: "All of it.\n"})
		server.Plan(doclingtest.Conversion{Status: wire.PartialSuccess})
		client, err := wire.New(wire.Options{URL: server.URL(), APIKey: doclingtest.Key, HTTP: server.Client(), TempDir: temp})
		if err != nil {
			t.Fatal(err)
		}
		kept := cache{}
		reader := &pages.Reader{Engine: docling.New(client, temp), Budget: pages.NewBudget(1), Cache: kept}
		for n := range 2 {
			doc := reader.Open(t.Context(), func() (string, error) { return "sum", nil },
				func(context.Context, int) (ocr.Image, error) { return ocrtest.Blank(), nil })
			page, err := doc.Start(1).Wait()
			doc.Close()
			if part := n == 0; errors.Is(err, ocr.ErrPart) != part || part != (page.Markdown == "") || part != (len(kept) == 0) {
				t.Errorf("reading %d: %+v, %v, %d kept", n+1, page, err, len(kept))
			}
		}
	})
}

func TestFor(t *testing.T) {
	t.Parallel()
	e := docling.New(nil, "")
	if a := e.Abilities(); a.Service != taskerr.Docling || !a.Markdown || a.Boxes || a.Confidence || a.DPI != 150 {
		t.Errorf("abilities %+v", a)
	}
	for _, w := range []ocr.Preferences{{Languages: []string{"en;rm"}}} {
		_, err := e.For(w)
		if f, ok := errors.AsType[*taskerr.Error](err); !ok || f.Class != taskerr.ValidationError {
			t.Errorf("%+v: %v", w, err)
		}
	}
	for resolution, want := range map[int]int{0: 0, 10: 256, 1024: 1024, 5000: 5000, 100_000: 10_000} {
		if other, err := e.For(ocr.Preferences{Resolution: resolution}); err != nil || other.Abilities().Side != want ||
			e.Abilities().Side != 0 {
			t.Errorf("%d: %+v, %v", resolution, other, err)
		}
	}
}
