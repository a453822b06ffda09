package scan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
)

func TestPagesThatStayUnread(t *testing.T) {
	t.Parallel()
	path := ocrtest.Write(t, written("It"), scanned(t, 0, "Some scanned page"), blank(), scanned(t, 0, "Another one"),
		scanned(t, 0, "The last one"))
	calls := 0
	for name, tt := range map[string]struct {
		extractor           extract.Extractor
		unread, list, words string
		reason              string
	}{
		"no engine": {
			scan.Without(pdf.New(), errors.New("tesseract is not installed; install tesseract-ocr"), unhurried),
			"3", "2,4-5", "", "tesseract is not installed; install tesseract-ocr",
		},
		"an engine that fails on a page": {
			scan.New(pdf.New(), engine(func(ctx context.Context, img ocr.Image) (ocr.Page, error) {
				if calls++; calls == 2 {
					return ocr.Page{}, errors.New("the engine stumbled")
				}
				return reads("read")(ctx, img)
			}), scan.Options{PageTime: unhurried.PageTime, Budget: pages.NewBudget(1)}),
			"1", "4", "2 read\n5 read", "the engine stumbled",
		},
		"an engine that went away": {
			scan.New(pdf.New(), engine(func(context.Context, ocr.Image) (ocr.Page, error) {
				return ocr.Page{}, &ocr.UnavailableError{Reason: "it was uninstalled"}
			}), scan.Options{PageTime: unhurried.PageTime, Budget: pages.NewBudget(1)}),
			"4", "2-5", "", "it was uninstalled",
		},
		"more pages than are read": {
			scan.New(pdf.New(), reads("read"), scan.Options{
				PageTime: unhurried.PageTime, Pages: 1, Budget: pages.NewBudget(1),
			}),
			"2", "4-5", "2 read", "at most 1 pages of a document are read by OCR",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := collect(t, tt.extractor, path)
			p := doc.Properties
			if p["unread_pages"] != tt.unread || p["unread_list"] != tt.list || p["unread_reason"] != tt.reason {
				t.Errorf("%+v", p)
			}
			if doc.Incomplete {
				t.Error("what no other reading has counts as incomplete")
			}
			if _, ours, _ := strings.Cut(outline(doc), "\n"); ours != tt.words ||
				!strings.HasPrefix(outline(doc), "1 It is told") {
				t.Errorf("%q", outline(doc))
			}
		})
	}
}

// A page takes too long in the engine, or already when a program draws it.
func TestPageThatTakesTooLong(t *testing.T) {
	t.Parallel()
	path := ocrtest.Write(t, scanned(t, 0, "A page"), written("The rest"))
	for _, most := range []time.Duration{time.Second, time.Nanosecond} {
		e := scan.New(pdf.New(), engine(func(ctx context.Context, _ ocr.Image) (ocr.Page, error) {
			<-ctx.Done()
			return ocr.Page{}, context.Cause(ctx)
		}), scan.Options{PageTime: most})
		doc := collect(t, e, path)
		if p := doc.Properties; p["unread_list"] != "1" || !doc.Incomplete ||
			p["unread_reason"] != fmt.Sprintf("a page took longer than %v", most) ||
			!strings.HasPrefix(outline(doc), "2 The rest") {
			t.Errorf("%v: %+v %q", most, p, outline(doc))
		}
	}
}

// Whose own text is doubtful keeps it when OCR takes too long, and may be read better another time. A kernel that is short of
// memory says nothing about the page.
func TestReasonsThatMayPass(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"time": ocr.ErrPageTime, "memory": fmt.Errorf("tesseract: %w", child.ErrKilled),
		"part": fmt.Errorf("docling-serve: %w", ocr.ErrPart), "tokens": ocr.ErrTokens,
	} {
		failing := engine(func(context.Context, ocr.Image) (ocr.Page, error) { return ocr.Page{}, err })
		if doc := collect(t, scan.New(pdf.New(), failing, unhurried), ocrtest.Write(t, ocrtest.Page{Lines: soup})); !doc.Incomplete {
			t.Errorf("%s: %+v", name, doc.Info)
		}
		doc, other := nativetest.Extract(t, scan.NewImages(failing, unhurried), extract.Image, pngOf(t, corner()), extract.Limits{})
		if other != nil || !doc.Incomplete {
			t.Errorf("%s, an image: %+v, %v", name, doc.Info, other)
		}
	}
}

// A page of which a part was read has that part, and may be read better another time.
func TestPartOfAPage(t *testing.T) {
	t.Parallel()
	part := engine(func(ctx context.Context, img ocr.Image) (ocr.Page, error) {
		p, err := reads("The first half")(ctx, img)
		p.Partial = true
		return p, err
	})
	doc := collect(t, scan.New(pdf.New(), part, unhurried), ocrtest.Write(t, scanned(t, 0, "The first half")))
	if !doc.Incomplete || doc.Properties["unread_pages"] != "" || !strings.Contains(outline(doc), "The first half") {
		t.Errorf("%+v %q", doc.Info, outline(doc))
	}
}

// Pages for which the task has no tokens are named with the setting, whatever an earlier one failed for, or are read by another
// engine, with a warning.
func TestPagesWithoutTokens(t *testing.T) {
	t.Parallel()
	path := ocrtest.Write(t, scanned(t, 0, "A page"), scanned(t, 0, "Another"), scanned(t, 0, "The last one"))
	for _, fallback := range []bool{false, true} {
		calls := 0
		e := scan.New(pdf.New(), engine(func(ctx context.Context, img ocr.Image) (ocr.Page, error) {
			p, err := reads("read")(ctx, img)
			switch calls++; {
			case calls == 1 && !fallback:
				return p, errors.New("the engine stumbled")
			case calls > 1 && !fallback:
				return p, ocr.ErrTokens
			case calls > 1:
				p.Engine, p.Reason, p.Partial = "program", ocr.ErrTokens.Error(), true
			}
			return p, err
		}), scan.Options{PageTime: unhurried.PageTime, Budget: pages.NewBudget(1)})
		doc := collect(t, e, path)
		said, want := doc.Properties["unread_reason"], ocr.ErrTokens.Error()
		if fallback {
			said, want = strings.Join(doc.Warnings, " "), "2 of 3 pages were read by program ("+want+")"
		}
		if said != want || !doc.Incomplete {
			t.Errorf("%q, %+v", said, doc.Info)
		}
	}
}

// After several failures in a row the remaining pages are not tried.
func TestGivesUpAfterFailuresInARow(t *testing.T) {
	t.Parallel()
	made := slices.Repeat([]ocrtest.Page{{Image: ocrtest.Scan(t, 0, "A page").Gray, Points: [2]float64{200, 280}}}, 8)
	calls := 0
	e := scan.New(pdf.New(), engine(func(context.Context, ocr.Image) (ocr.Page, error) {
		calls++
		return ocr.Page{}, errors.New("no")
	}), scan.Options{PageTime: unhurried.PageTime, Budget: pages.NewBudget(1)})
	if doc := collect(t, e, ocrtest.Write(t, made...)); calls != 5 || doc.Properties["unread_pages"] != "8" {
		t.Errorf("%d calls, %+v", calls, doc.Properties)
	}
}

// A huge page is rendered coarser: no image exceeds the limit.
func TestHugePagesAreBounded(t *testing.T) {
	t.Parallel()
	scan1 := scanned(t, 0, "A poster")
	huge, narrow, normal := scan1, scan1, scan1
	huge.Points, narrow.Points = [2]float64{14400, 14400}, [2]float64{14400, 3}
	const most = 1_000_000
	var mu sync.Mutex
	var sizes []int
	e := scan.New(pdf.New(), engine(func(ctx context.Context, img ocr.Image) (ocr.Page, error) {
		mu.Lock()
		sizes = append(sizes, len(img.Pix))
		mu.Unlock()
		return reads("read")(ctx, img)
	}), scan.Options{PageTime: unhurried.PageTime, Pixels: most})
	doc := collect(t, e, ocrtest.Write(t, huge, narrow, normal))
	if len(sizes) < 2 || doc.Properties["unread_pages"] != "" {
		t.Fatalf("%v %+v", sizes, doc.Info)
	}
	for _, n := range sizes {
		if n > most || n < most/100 {
			t.Errorf("an image of %d pixels", n)
		}
	}
}
