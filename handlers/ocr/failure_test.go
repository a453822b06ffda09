package ocr_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	handler "github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// numbered returns pages of different widths, by which an engine can distinguish them: page 1 has 100 points.
func numbered(t *testing.T, n int) []ocrtest.Page {
	t.Helper()
	img := ocrtest.Scan(t, 0, "A page").Gray
	all := make([]ocrtest.Page, n)
	for i := range all {
		all[i] = ocrtest.Page{Image: img, Points: [2]float64{float64(100 * (i + 1)), 800}}
	}
	return all
}

// number returns the page of an image, and whether the image is the coarser one of the second try.
func number(img ocr.Image) (page int, coarse bool) {
	inches := float64(img.Rect.Dx()) / float64(img.DPI)
	return int(inches*72/100 + 0.5), img.DPI < 72
}

var errStumbled = errors.New("the engine stumbled")

// A page that fails is tried again alone and coarser. One that fails again stays unread, and the document says so.
func TestPagesThatFail(t *testing.T) {
	t.Parallel()
	e := &fake{fail: func(_ context.Context, _ int, img ocr.Image) error {
		if page, coarse := number(img); page == 3 || page == 2 && !coarse {
			return errStumbled
		}
		return nil
	}}
	b := newBench(t, e)
	b.putPDF("a.pdf", numbered(t, 4)...)
	c := b.Begin(`{"filename":"a.pdf"}`, task.Hints{})
	out, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r := b.complete(c, out)
	want := "<!-- page 1 -->\n\nread\n\n<!-- page 2 -->\n\nread\n\n<!-- page 3 unread: the engine stumbled " +
		"-->\n\n<!-- page 4 -->\n\nread\n"
	if got := b.Get(r.DerivedBlob); got != want || fmt.Sprint(r.UnreadPages) != "[3]" || e.calls != 6 ||
		len(r.Warnings) != 1 || r.Warnings[0] != "1 of 4 pages could not be read (the engine stumbled)" {
		t.Errorf("%q %+v after %d calls", got, r, e.calls)
	}
	if said := strings.Join(c.Progress.(*handlertest.Progress).Log, "\n"); !strings.Contains(said,
		"page 1 of 4\npage 2 of 4\npage 3 of 4\npage 4 of 4\nuploading_artifact\nfinalizing") {
		t.Error(said)
	}
	// An incomplete result is not reused.
	if again := b.do(`{"filename":"a.pdf"}`, task.Hints{}); again.Reused || again.Version != 2 {
		t.Errorf("%+v", again)
	}
}

func TestNoPageCanBeRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fail  error
		class taskerr.Class
		says  string
		calls int
	}{
		{errStumbled, taskerr.CorruptionDetected, "the engine stumbled", 10}, // five pages, twice each
		{
			taskerr.Errorf(taskerr.UnsupportedFormat, "the model refuses"), taskerr.UnsupportedFormat, "the model refuses",
			10,
		},
		{&ocr.UnavailableError{Reason: "it was uninstalled"}, taskerr.DependencyUnavailable, "it was uninstalled", 1},
		{ocr.ErrPart, taskerr.TransientStorage, "only a part of the page", 10},
		{taskerr.Errorf(taskerr.AIRateLimit, "slowly"), taskerr.AIRateLimit, "slowly", 1},
	} {
		e := &fake{fail: func(context.Context, int, ocr.Image) error { return tt.fail }}
		b := newBench(t, e, func(d *handler.Deps) { d.Reader.Budget = pages.NewBudget(1) })
		b.putPDF("a.pdf", numbered(t, 7)...)
		// Pages that were started ahead may have been read before the document fails.
		if got := b.fails(`{"filename":"a.pdf"}`, task.Hints{}, tt.class); !strings.Contains(got, tt.says) ||
			e.calls < tt.calls || e.calls > tt.calls+2 {
			t.Errorf("%v: %q after %d calls, want %d", tt.fail, got, e.calls, tt.calls)
		}
	}
}

func TestPageThatTakesTooLong(t *testing.T) {
	t.Parallel()
	e := &fake{fail: func(ctx context.Context, _ int, img ocr.Image) error {
		if page, _ := number(img); page == 1 {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	}}
	limit := 3 * time.Second
	try := func() (*bench, handlers.Call, handlers.Outcome, error) {
		b := newBench(t, e, func(d *handler.Deps) { d.Reader.PageTime = limit })
		b.putPDF("a.pdf", numbered(t, 2)...)
		c := b.Begin(`{"filename":"a.pdf"}`, task.Hints{OutputFormat: "hocr"})
		out, err := b.handler.Handle(t.Context(), c)
		return b, c, out, err
	}
	b, c, out, err := try()
	for err != nil && taskerr.Classify(err).Class == taskerr.Timeout && limit < time.Minute {
		limit *= 2 // a busy machine drew the other page too late
		b, c, out, err = try()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := b.complete(c, out)
	if got := b.Get(r.DerivedBlob); !strings.Contains(got, fmt.Sprintf("<!-- unread: it took longer than %s -->", limit)) ||
		len(r.UnreadPages) != 1 {
		t.Errorf("%q %+v", got, r)
	}
	if got := b.fails(`{"filename":"a.pdf","pages":"1"}`, task.Hints{}, taskerr.Timeout); !strings.Contains(got,
		"STEP_TIMEOUT_SEC") {
		t.Error(got)
	}
}

// A cancel in the middle ends the programs and leaves nothing on the disk, in the container or in the store.
func TestCanceledInTheMiddle(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	ocrtest.Need(t, "tesseract")
	program, err := tesseract.Open(t.Context(), tesseract.Options{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	errEnough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	e := &busy{Engine: program, third: func() { cancel(errEnough) }}
	b := newBench(t, e)
	noise := ocrtest.Blank()
	state := uint32(1)
	for i := range noise.Pix {
		state = state*1664525 + 1013904223
		noise.Pix[i] = byte(state >> 24)
	}
	page := ocrtest.Page{Image: noise.Gray} // keeps tesseract busy for a long time
	b.putPDF("a.pdf", scanned(t, "A page"), scanned(t, "A page"), page, page)
	c := b.Begin(`{"filename":"a.pdf"}`, task.Hints{})
	if _, err := b.handler.Handle(ctx, c); !errors.Is(err, errEnough) {
		t.Errorf("got %v", err)
	}
	b.CheckTemp()
	for _, folder := range []string{temp, b.Blobs + "/derived"} {
		if left, err := os.ReadDir(folder); err == nil && len(left) > 0 {
			t.Errorf("%s: %v", folder, left)
		}
	}
	if found, err := b.Store.Derived(t.Context(), store.DerivedQuery{JobID: c.Task.ID}); err != nil ||
		found.OfJob != 0 {
		t.Errorf("%+v %v", found, err)
	}
}

// busy is an engine that signals when it reads the third page.
type busy struct {
	ocr.Engine
	third func()
}

func (e *busy) For(ocr.Preferences) (ocr.Engine, error) { return e, nil }

func (e *busy) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	if img.GrayAt(1, 1).Y != 255 { // noise
		time.AfterFunc(100*time.Millisecond, e.third)
	}
	return e.Engine.Read(ctx, img)
}

// A panic while a page is read fails that page and doesn't end the worker.
func TestPanic(t *testing.T) {
	t.Parallel()
	b := newBench(t, &fake{fail: func(_ context.Context, _ int, img ocr.Image) error {
		if page, _ := number(img); page == 1 {
			panic(image.Rect(0, 0, 1, 1))
		}
		return nil
	}})
	b.putPDF("a.pdf", numbered(t, 2)...)
	if r := b.do(`{"filename":"a.pdf"}`, task.Hints{}); len(r.UnreadPages) != 1 {
		t.Errorf("%+v", r)
	}
}
