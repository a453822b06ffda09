package extract_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// fixed emits the given blocks.
type fixed struct {
	blocks []extract.Block
	panics bool
}

func (fixed) Name() string { return "test/fixed" }
func (fixed) Version() int { return 3 }

func (f fixed) Extract(_ context.Context, _ extract.Source, _ extract.Limits, emit extract.Emit) (extract.Info, error) {
	if f.panics {
		panic("secret text")
	}
	for _, b := range f.blocks {
		if err := emit(b); err != nil {
			return extract.Info{}, err
		}
	}
	return extract.Info{Title: " A \n title ", Properties: map[string]string{"author": "\x00", "subject": "s"}}, nil
}

func routed(f fixed) *extract.Router {
	return extract.NewRouter(map[extract.Format]extract.Extractor{extract.PDF: f, extract.Text: f})
}

func TestRouterCleansBlocks(t *testing.T) {
	t.Parallel()
	r := routed(fixed{blocks: []extract.Block{
		{Kind: extract.Paragraph, Text: " a\x00b\x07\r\nc\xff "},
		{Kind: extract.Paragraph, Text: "\x00 \u200b"},
		{Kind: extract.Code, Text: "\n\n  indented\x00\n"},
		{Kind: extract.TableKind, Table: &extract.Table{Rows: [][]extract.Cell{{{Text: "x\x00"}}}}},
		{Kind: extract.TableKind, Table: &extract.Table{Rows: [][]extract.Cell{{{Text: "\x00"}}}}},
	}})
	doc, err := extract.Collect(t.Context(), r, extract.Source{Format: extract.PDF}, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []extract.Block{
		{Kind: extract.Paragraph, Text: "ab\nc\uFFFD"},
		{Kind: extract.Code, Text: "  indented"},
		{Kind: extract.TableKind, Table: &extract.Table{Rows: [][]extract.Cell{{{Text: "x"}}}}},
	}
	if !reflect.DeepEqual(doc.Blocks, want) {
		t.Errorf("got %+v", doc.Blocks)
	}
	info := extract.Info{
		Format: extract.PDF, Extractor: "test/fixed", Title: "A title", Characters: 16,
		Properties: map[string]string{"subject": "s"},
	}
	if !reflect.DeepEqual(doc.Info, info) {
		t.Errorf("got %+v", doc.Info)
	}
	if v := r.Version(extract.PDF); v != "test/fixed@3" {
		t.Errorf("version %q", v)
	}
}

// TestNoText: a document without text is never a quiet success.
func TestNoText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{"a": nil, "\u200b": {extract.NoText}} {
		doc, err := extract.Collect(t.Context(), routed(fixed{blocks: []extract.Block{{Kind: extract.Paragraph, Text: text}}}),
			extract.Source{Format: extract.PDF}, extract.Limits{})
		if err != nil || !reflect.DeepEqual(doc.Warnings, want) {
			t.Errorf("%q: got %q, %v", text, doc.Warnings, err)
		}
	}
}

func TestRouterRefuses(t *testing.T) {
	t.Parallel()
	text := []extract.Block{{Kind: extract.Paragraph, Text: "12345"}, {Kind: extract.Paragraph, Text: "678901"}}
	for _, tt := range []struct {
		what    string
		f       fixed
		src     extract.Source
		limits  extract.Limits
		class   taskerr.Class
		message string
	}{
		{
			"a format that nobody reads",
			fixed{},
			extract.Source{Format: extract.PPTX},
			extract.Limits{},
			taskerr.UnsupportedFormat, "a PowerPoint presentation",
		},
		{
			"an unknown format",
			fixed{},
			extract.Source{Format: extract.Unknown},
			extract.Limits{},
			taskerr.UnsupportedFormat, "what can be read is PDF, plain text",
		},
		{
			"a file too large",
			fixed{},
			extract.Source{Format: extract.PDF, Size: 3 << 20},
			extract.Limits{Bytes: 2 << 20},
			taskerr.QuotaExceeded, "3 MB, more than the 2 MB",
		},
		{
			"a text that must be too long",
			fixed{},
			extract.Source{Format: extract.Text, Size: 44},
			extract.Limits{Characters: 10},
			taskerr.QuotaExceeded, "10 characters",
		},
		{
			"too many characters",
			fixed{blocks: text},
			extract.Source{Format: extract.PDF},
			extract.Limits{Characters: 10},
			taskerr.QuotaExceeded, "10 characters",
		},
		{
			"too many characters of markers",
			fixed{blocks: []extract.Block{
				{Kind: extract.ListItem, Marker: "10.", Text: "a"},
				{Kind: extract.ListItem, Marker: "11.", Text: "b"},
				{Kind: extract.ListItem, Marker: "12.", Text: "c"},
			}},
			extract.Source{Format: extract.PDF},
			extract.Limits{Characters: 10},
			taskerr.QuotaExceeded, "10 characters",
		},
		{
			"a panic",
			fixed{panics: true},
			extract.Source{Format: extract.PDF},
			extract.Limits{},
			taskerr.InternalBug,
			"failed on it",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			_, err := extract.Collect(t.Context(), routed(tt.f), tt.src, tt.limits)
			e, ok := errors.AsType[*taskerr.Error](err)
			if !ok || e.Class != tt.class || !strings.Contains(e.Message, tt.message) {
				t.Errorf("got %v; want %s that says %q", err, tt.class, tt.message)
			}
			if err != nil && e.Cause != nil && strings.Contains(e.Cause.Error(), "secret text") {
				t.Error("the error contains the panic's value, which may be document text")
			}
		})
	}
}

func TestRouterStops(t *testing.T) {
	t.Parallel()
	text := []extract.Block{{Kind: extract.Paragraph, Text: "1"}, {Kind: extract.Paragraph, Text: "2"}}
	stop, other := errors.New("stop"), errors.New("other")
	emitted := 0
	_, err := routed(fixed{blocks: text}).Extract(t.Context(), extract.Source{Format: extract.PDF}, extract.Limits{},
		func(extract.Block) error { emitted++; return stop })
	if !errors.Is(err, stop) || emitted != 1 {
		t.Errorf("an error of emit: got %v after %d blocks", err, emitted)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(other)
	_, err = extract.Collect(ctx, routed(fixed{blocks: text}), extract.Source{Format: extract.PDF}, extract.Limits{})
	if !errors.Is(err, other) {
		t.Errorf("a canceled context: got %v", err)
	}
}

// TestHugeText: 400 MB of text are refused before any of it is read, chunked and paid for.
func TestHugeText(t *testing.T) {
	t.Parallel()
	path := write(t, "huge.txt", []byte(strings.Repeat("All work and no play. ", 4000)))
	if err := os.Truncate(path, 400<<20); err != nil { // sparse: it takes no space
		t.Fatal(err)
	}
	r := extract.NewRouter(native.Extractors(nil, nil))
	emitted := 0
	_, err := r.Extract(t.Context(), extract.Source{Path: path, Name: "huge.txt"}, extract.Limits{},
		func(extract.Block) error { emitted++; return nil })
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.QuotaExceeded || emitted > 0 {
		t.Errorf("got %v after %d blocks", err, emitted)
	}
}

// TestLongText: a document of one text is emitted in pieces without loss, and a cancellation stops it.
func TestLongText(t *testing.T) {
	t.Parallel()
	for what, unit := range map[string]string{"words": "harbour crane ", "one word": "ä", "lines": "x := 1\n"} {
		for _, kind := range []extract.Kind{extract.Paragraph, extract.Heading, extract.ListItem, extract.Code} {
			long := strings.Repeat(unit, 5<<20/len(unit))
			router := routed(fixed{blocks: []extract.Block{{Kind: kind, Level: 1, Marker: "-", Text: long}}})
			var got strings.Builder
			kinds := map[extract.Kind]int{}
			blocks := 0
			src := extract.Source{Path: "x", Format: extract.Text}
			if _, err := router.Extract(t.Context(), src, extract.Limits{}, func(b extract.Block) error {
				if len(b.Text) > 1<<20 {
					t.Errorf("%s, %s: a block of %d bytes", what, kind, len(b.Text))
				}
				got.WriteString(b.Text)
				kinds[b.Kind]++
				blocks++
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			squeezed := strings.NewReplacer(" ", "", "\n", "")
			if squeezed.Replace(got.String()) != squeezed.Replace(long) || kinds[kind] == 0 || kind != extract.Code &&
				kinds[extract.Paragraph] < 4 {
				t.Errorf("%s, %s: %d blocks (%v) of %d bytes, want all of %d", what, kind, blocks, kinds, got.Len(),
					len(long))
			}
			ctx, cancel := context.WithCancel(t.Context())
			blocks = 0
			_, err := router.Extract(ctx, src, extract.Limits{}, func(extract.Block) error {
				blocks++
				cancel()
				return nil
			})
			if !errors.Is(err, context.Canceled) || blocks != 1 {
				t.Errorf("%s, %s: %d blocks, %v after a cancel within it", what, kind, blocks, err)
			}
		}
	}
}

// TestHeaderStaysSmall: a header is repeated in every slice, so a table of only header rows gets a bounded one.
func TestHeaderStaysSmall(t *testing.T) {
	t.Parallel()
	emitted, rows := 0, 0
	w := extract.NewTableWriter(func(b extract.Block) error {
		emitted += len(b.Table.Rows)
		rows += len(b.Table.Rows) - b.Table.Headers
		if !b.Table.Continued {
			rows += b.Table.Headers
		}
		return nil
	}, extract.Block{})
	const all = 20_000
	for range all {
		w.Row([]extract.Cell{{Text: "a"}}, true)
		if w.Full() {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil || rows != all || emitted > all*12/10 {
		t.Errorf("%d rows came out as %d, with the headers %d; %v", all, rows, emitted, err)
	}
}

// TestHeaderEndsWithItself: a cell of the header that spans rows below it does so in the first slice alone. In the others it
// would move their first rows to the right.
func TestHeaderEndsWithItself(t *testing.T) {
	t.Parallel()
	var slices []string
	w := extract.NewTableWriter(func(b extract.Block) error {
		slices = append(slices, fmt.Sprint(b.Table.Grid()))
		return nil
	}, extract.Block{})
	for i, row := range [][]extract.Cell{{{Text: "A", RowSpan: 2}, {Text: "B"}}, {{Text: "b"}}, {{Text: "c"}, {Text: "d"}}} {
		if w.Row(row, i == 0); i > 0 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := []string{"[[A B] [A b]]", "[[A B] [c d]]"}; !reflect.DeepEqual(slices, want) {
		t.Errorf("got %q, want %q", slices, want)
	}
}
