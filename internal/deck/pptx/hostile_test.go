package pptx_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func read(t testing.TB, content []byte, limits extract.Limits) (*deck.Deck, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deck.pptx")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d, _, err := pptx.Read(t.Context(), path, pptx.ReadOptions{Limits: limits, Name: "deck.pptx", Folder: t.TempDir()})
	return d, err
}

// refused checks that an error is one of ours, with a sentence.
func refused(t *testing.T, what string, err error, class taskerr.Class, message string) {
	t.Helper()
	e, ok := errors.AsType[*taskerr.Error](err)
	if !ok || e.Class != class || !strings.Contains(e.Message, message) {
		t.Errorf("%s: got %v; want %s that says %q", what, err, class, message)
	}
}

// TestBombs: archives that unpack to a gigabyte, and XML that is nested too deep, are refused, as presentations and as
// templates.
func TestBombs(t *testing.T) {
	t.Parallel()
	for _, bomb := range nativetest.Bombs() {
		if !strings.HasSuffix(bomb.Name, ".pptx") {
			continue
		}
		t.Run(bomb.Name, func(t *testing.T) {
			t.Parallel()
			var content bytes.Buffer
			if err := bomb.Write(&content); err != nil {
				t.Fatal(err)
			}
			_, err := read(t, content.Bytes(), extract.Limits{})
			refused(t, "read", err, bomb.Class, bomb.Message)
			path := filepath.Join(t.TempDir(), "t.pptx")
			if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err = pptx.OpenTemplate(t.Context(), path, extract.Limits{}, ""); err == nil {
				t.Error("it is a template")
			} else if _, ok := errors.AsType[*taskerr.Error](err); !ok {
				t.Errorf("the template's error is %v", err)
			}
		})
	}
}

// TestManyEmptyCharts: the values that charts state, and don't have, are bounded for all of them together: a kilobyte of
// the file would take twelve megabytes of memory.
func TestManyEmptyCharts(t *testing.T) {
	t.Parallel()
	d := decktest.Sample(t)
	for range 20 {
		d.Slides = append(d.Slides, d.Slides[3])
	}
	content := edit(t, decktest.PPTX(t, d), func(name string, part []byte) []byte {
		if strings.HasPrefix(name, "ppt/charts/") {
			return []byte(strings.ReplaceAll(string(part), `<c:ptCount val="3"/>`, `<c:ptCount val="60000"/>`))
		}
		return part
	})
	_, err := read(t, content, extract.Limits{})
	refused(t, "many charts", err, taskerr.QuotaExceeded, "4000000 values")
}

// edit writes a presentation anew, with each part as f returns it; nil: without it.
func edit(t testing.TB, content []byte, f func(name string, part []byte) []byte) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, file := range in.File {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		part, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if part = f(file.Name, part); part == nil {
			continue
		}
		w, err := z.Create(file.Name)
		if err == nil {
			_, err = w.Write(part)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func without(name string) func(string, []byte) []byte {
	return func(n string, part []byte) []byte {
		if n == name {
			return nil
		}
		return part
	}
}

// replaced replaces a text of a part.
func replaced(name, from, to string) func(string, []byte) []byte {
	return func(n string, part []byte) []byte {
		if n == name {
			return []byte(strings.ReplaceAll(string(part), from, to))
		}
		return part
	}
}

// TestDamaged: damaged presentations end in one clear error, or are read without what is damaged.
func TestDamaged(t *testing.T) {
	t.Parallel()
	whole := decktest.PPTX(t, decktest.Sample(t))
	for _, c := range []struct {
		what    string
		content []byte
		limits  extract.Limits
		class   taskerr.Class
		message string
	}{
		{"no zip", []byte("PK is not enough"), extract.Limits{}, taskerr.CorruptionDetected, "damaged"},
		{"cut off", whole[:len(whole)/2], extract.Limits{}, taskerr.CorruptionDetected, "damaged"},
		{"no main part", edit(t, whole, without("ppt/presentation.xml")), extract.Limits{}, taskerr.CorruptionDetected, "no main part"},
		{"a slide is missing", edit(t, whole, without("ppt/slides/slide2.xml")), extract.Limits{}, taskerr.CorruptionDetected, "slide 2 is missing"},
		{"XML cut off", edit(t, whole, replaced("ppt/slides/slide1.xml", "</p:sld>", "")), extract.Limits{}, taskerr.CorruptionDetected, "XML"},
		{"too many slides", whole, extract.Limits{Pages: 2}, taskerr.QuotaExceeded, "more than 2 slides"},
		{"too much text", whole, extract.Limits{Characters: 10}, taskerr.QuotaExceeded, "10 characters"},
		{"too many parts", whole, extract.Limits{ZipEntries: 5}, taskerr.QuotaExceeded, "5 parts"},
		{
			"an entity", edit(t, whole, replaced("ppt/slides/slide2.xml", "Dredged", "&secret;")),
			extract.Limits{},
			taskerr.CorruptionDetected, "XML",
		},
		{
			"a chart of a million values", edit(t, whole, replaced("ppt/charts/deckChart1.xml", `<c:ptCount val="3"/>`, `<c:ptCount val="1000000"/>`)),
			extract.Limits{},
			taskerr.QuotaExceeded, "500000 values",
		},
	} {
		_, err := read(t, c.content, c.limits)
		refused(t, c.what, err, c.class, c.message)
	}
	for what, content := range map[string][]byte{
		"no notes":      edit(t, whole, without("ppt/notesSlides/notesSlide1.xml")),
		"no picture":    edit(t, whole, func(n string, p []byte) []byte { return without("ppt/media/deckImage1.png")(n, p) }),
		"no chart":      edit(t, whole, without("ppt/charts/deckChart1.xml")),
		"no layouts":    edit(t, whole, without("ppt/slideLayouts/slideLayout3.xml")),
		"no theme":      edit(t, whole, without("ppt/theme/theme1.xml")),
		"huge numbers":  edit(t, whole, replaced("ppt/slides/slide3.xml", `cx="`, `cx="99999999999999`)),
		"spans too far": edit(t, whole, replaced("ppt/slides/slide3.xml", `gridSpan="2"`, `gridSpan="70000"`)),
		"overlapping":   edit(t, whole, replaced("ppt/slides/slide3.xml", `vMerge="1"`, `vMerge="0"`)),
		"wild values":   edit(t, whole, replaced("ppt/slides/slide2.xml", `sz="2400"`, `sz="-7" b="x" baseline="1e99"`)),
	} {
		d, err := read(t, content, extract.Limits{})
		if err != nil || len(d.Slides) != 4 {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCanceled: the reading and the writing of a deck stop when the context ends.
func TestCanceled(t *testing.T) {
	t.Parallel()
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	path := filepath.Join(t.TempDir(), "deck.pptx")
	d := decktest.Sample(t)
	if err := os.WriteFile(path, decktest.PPTX(t, d), 0o600); err != nil {
		t.Fatal(err)
	}
	cancel(reason)
	if _, _, err := pptx.Read(ctx, path, pptx.ReadOptions{Folder: t.TempDir()}); !errors.Is(err, reason) {
		t.Error(err)
	}
	if _, err := pptx.Write(ctx, io.Discard, d, pptx.WriteOptions{Media: decktest.Media(t)}); !errors.Is(err, reason) {
		t.Error(err)
	}
}

// FuzzRead: whatever a slide, a chart or a layout says, the reader returns a deck that can be written, or an error of
// ours.
func FuzzRead(f *testing.F) {
	whole := decktest.PPTX(f, decktest.Sample(f))
	parts := []string{
		"ppt/slides/slide2.xml", "ppt/slides/slide3.xml", "ppt/charts/deckChart1.xml", "ppt/slideLayouts/slideLayout3.xml",
		"ppt/presentation.xml", "ppt/theme/theme1.xml",
	}
	for i := range parts {
		f.Add(uint8(i), uint64(i), uint8(3))
	}
	f.Fuzz(func(t *testing.T, which uint8, seed uint64, times uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		name := parts[int(which)%len(parts)]
		content := edit(t, whole, func(n string, part []byte) []byte {
			if n != name {
				return part
			}
			for range int(times)%8 + 1 {
				part = mutate(r, part)
			}
			return part
		})
		d, err := read(t, content, extract.Limits{ZipRatio: 10_000})
		if err != nil {
			if _, ok := errors.AsType[*taskerr.Error](err); !ok {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := pptx.Write(t.Context(), io.Discard, d, pptx.WriteOptions{Media: decktest.Media(t)}); err != nil {
			t.Fatal(err)
		}
	})
}

// mutate changes a number, or drops or doubles an element.
func mutate(r *rand.Rand, part []byte) []byte {
	pieces := strings.SplitAfter(string(part), ">")
	i := r.IntN(len(pieces))
	switch r.IntN(4) {
	case 0:
		pieces[i] = ""
	case 1:
		pieces[i] += pieces[r.IntN(len(pieces))]
	default:
		pieces[i] = strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' && r.IntN(2) == 0 {
				return rune("0123456789-"[r.IntN(11)])
			}
			return c
		}, pieces[i])
	}
	return []byte(strings.Join(pieces, ""))
}
