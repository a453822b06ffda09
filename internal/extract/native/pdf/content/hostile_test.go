package content_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// TestOperands: what waits for its operator is bounded in bytes. 24 KB, packed, took half a gigabyte of memory.
func TestOperands(t *testing.T) {
	t.Parallel()
	stream := strings.Repeat("<<"+strings.Repeat("/A 1 ", 95_000)+">>", 20) + "n"
	if _, err := draw(t.Context(), stream, "", ""); !errors.Is(err, content.ErrTooMuch) {
		t.Errorf("got %v", err)
	}
}

// counter counts what is read.
type counter struct {
	io.ReaderAt
	read int64
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	c.read += int64(len(p))
	return c.ReaderAt.ReadAt(p, at)
}

// TestContentsOneByOne: a stream of a page is opened when the one before it has ended. Ten thousand open ones would
// hold gigabytes.
func TestContentsOneByOne(t *testing.T) {
	t.Parallel()
	many, spaces := strings.Repeat("n ", 300_000), strings.Repeat(" ", 1<<20)
	file := fmt.Sprintf("%%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Kids[3 0 R]>> endobj\n"+
		"3 0 obj <</Type/Page/Contents[4 0 R %s]>> endobj\n4 0 obj <</Length %d>>stream\n%s\nendstream endobj\n"+
		"5 0 obj <</Filter/ASCIIHexDecode/Length %d>>stream\n%s\nendstream endobj\n",
		strings.Repeat("5 0 R ", 300), len(many), many, len(spaces), spaces)
	in := &counter{ReaderAt: strings.NewReader(file)}
	f, err := object.Open(t.Context(), in, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	page, _ := f.Pages()()
	in.read = 0
	if _, err := content.NewReader(f).Read(t.Context(), page); !errors.Is(err, content.ErrTooMuch) || in.read > 50<<20 {
		t.Errorf("%v after %d MB", err, in.read>>20)
	}
}

// TestCanceledBetweenOperators: a page without operators ends with its task, too.
func TestCanceledBetweenOperators(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the task was canceled")
	cancel(stop)
	if _, err := draw(ctx, strings.Repeat(" ", 100_000), "", ""); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// TestFontsOfAPage: a page whose fonts have millions of widths, in a few bytes, doesn't get them all.
func TestFontsOfAPage(t *testing.T) {
	t.Parallel()
	var fonts, uses strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&fonts, "/F%d <</Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</W[0 65535 500]>>]>> ", i)
		fmt.Fprintf(&uses, "/F%d 1 Tf (ab) Tj ", i)
	}
	file := fmt.Sprintf("%%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Kids[3 0 R]>> endobj\n"+
		"3 0 obj <</Type/Page/Contents 4 0 R/Resources<</Font<<%s>>>>>> endobj\n4 0 obj <</Length %d>>stream\n%s\nendstream endobj\n",
		fonts.String(), uses.Len(), uses.String())
	f, err := object.Open(t.Context(), strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	page, _ := f.Pages()()
	d, err := content.NewReader(f).Read(t.Context(), page)
	if err != nil || !d.Unknown || len(d.Texts) == 0 || len(d.Texts) > 20 {
		t.Errorf("%d texts, unknown %v, %v", len(d.Texts), d.Unknown, err)
	}
}

// TestRangesBackwards: ranges of widths that end before they begin don't pay for others. A file of a megabyte took minutes,
// in which nothing stopped it.
func TestRangesBackwards(t *testing.T) {
	t.Parallel()
	for name, widths := range map[string]string{
		"ranges": "0 -99999999999 5 " + strings.Repeat("0 69999 500 ", 50_000),
		"lists":  strings.Repeat("0 [1 2 3 4 5 6 7 8 9] ", 15_000) + strings.Repeat("0 69999 500 ", 10_000),
	} {
		text := "/F 1 Tf (ab) Tj"
		file := fmt.Sprintf("%%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Kids[3 0 R]>> endobj\n"+
			"3 0 obj <</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj\n4 0 obj <</Length %d>>stream\n%s\nendstream endobj\n"+
			"5 0 obj <</Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</W[%s]>>]>> endobj\n", len(text), text, widths)
		f, err := object.Open(t.Context(), strings.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		page, _ := f.Pages()()
		d, err := content.NewReader(f).Read(t.Context(), page)
		if err != nil || !d.Unknown {
			t.Errorf("%s: unknown %v, %v", name, d.Unknown, err)
		}
	}
}

// TestFontsOfStates: a state of graphics that sets a font is used a hundred thousand times, and its font is not read as
// often.
func TestFontsOfStates(t *testing.T) {
	t.Parallel()
	uses := strings.Repeat("/S gs (ab) Tj ", 100_000)
	file := fmt.Sprintf("%%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Kids[3 0 R]>> endobj\n"+
		"3 0 obj <</Type/Page/Contents 4 0 R/Resources<</ExtGState<</S<</Font[<</Subtype/Type1/BaseFont/Helvetica>> 1]>>>>>>>> endobj\n"+
		"4 0 obj <</Length %d>>stream\n%s\nendstream endobj\n", len(uses), uses)
	f, err := object.Open(t.Context(), strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	page, _ := f.Pages()()
	d, err := content.NewReader(f).Read(t.Context(), page)
	if err != nil || !d.Unknown || len(d.Texts) == 0 {
		t.Errorf("%d texts, unknown %v, %v", len(d.Texts), d.Unknown, err)
	}
}
