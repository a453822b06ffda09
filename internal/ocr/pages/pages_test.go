package pages_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// engine returns the number that is encoded as the width of the page's image.
type engine struct {
	mu      sync.Mutex
	calls   map[int]int
	running int
	most    int
	before  func(ctx context.Context, number int) error
	partial int // number of the page of which a part is read
}

func (*engine) Name() string        { return "fake" }
func (*engine) Version() string     { return "1" }
func (*engine) Languages() []string { return []string{"eng", "deu"} }

func (*engine) Abilities() ocr.Abilities                  { return ocr.Abilities{} }
func (e *engine) For(ocr.Preferences) (ocr.Engine, error) { return e, nil }

func (e *engine) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	number := img.Rect.Dx()
	e.mu.Lock()
	if e.calls == nil {
		e.calls = map[int]int{}
	}
	e.calls[number]++
	e.running++
	e.most = max(e.most, e.running)
	e.mu.Unlock()
	var err error
	if e.before != nil {
		err = e.before(ctx, number)
	}
	e.mu.Lock()
	e.running--
	e.mu.Unlock()
	if err != nil {
		return ocr.Page{}, err
	}
	word := ocr.Word{
		Text: fmt.Sprint(number), Confidence: 0.123456, Box: ocr.Box{
			Left: 1.0 / 3, Top: 0.1, Right: 2.0 / 3, Bottom: 0.2,
		},
	}
	return ocr.Page{Paragraphs: []ocr.Paragraph{{{word}}}, Turned: 1, Partial: number == e.partial}, nil
}

func render(_ context.Context, number int) (ocr.Image, error) {
	return ocr.Image{Gray: image.NewGray(image.Rect(0, 0, number, 1)), DPI: 300}, nil
}

func source() (string, error) { return "sha", nil }

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i + 1
	}
	return numbers
}

// memory is a cache.
type memory struct {
	mu   sync.Mutex
	kept map[string]map[int][]byte
	gets int
}

func (m *memory) Get(_ context.Context, source, reader string, first, count int) map[int][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gets++
	found := map[int][]byte{}
	for n, reading := range m.kept[source+reader] {
		if n >= first && n < first+count {
			found[n] = reading
		}
	}
	return found
}

func (m *memory) Put(_ context.Context, source, reader string, page int, reading []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]map[int][]byte{}
	}
	if m.kept[source+reader] == nil {
		m.kept[source+reader] = map[int][]byte{}
	}
	m.kept[source+reader][page] = reading
}

// Pages are yielded in order, however long each takes, and no more are read at a time than the budget allows,
// over two documents.
func TestEachIsParallelAndInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &engine{before: func(_ context.Context, number int) error {
			time.Sleep(time.Duration(1+number*7%5) * time.Second)
			return nil
		}}
		budget := pages.NewBudget(3)
		var documents sync.WaitGroup
		for range 2 {
			documents.Go(func() {
				d := (&pages.Reader{Engine: e, Budget: budget}).Open(t.Context(), source, render)
				defer d.Close()
				var got []int
				if err := d.Each(upTo(20), func(number int, p ocr.Page, err error) error {
					if err != nil || p.Paragraphs[0].Text() != fmt.Sprint(number) {
						t.Error(number, p, err)
					}
					got = append(got, number)
					return nil
				}); err != nil || fmt.Sprint(got) != fmt.Sprint(upTo(20)) {
					t.Error(got, err)
				}
			})
		}
		documents.Wait()
		if e.most != 3 {
			t.Errorf("%d pages were read at a time", e.most)
		}
	})
}

func TestEachEndsWithYield(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &engine{before: func(ctx context.Context, number int) error {
			if number < 3 {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		d := (&pages.Reader{Engine: e, Budget: pages.NewBudget(2)}).Open(t.Context(), source, render)
		errFull := errors.New("full")
		err := d.Each(upTo(1000), func(number int, _ ocr.Page, _ error) error {
			if number == 2 {
				return errFull
			}
			return nil
		})
		d.Close()
		if !errors.Is(err, errFull) || len(e.calls) > 6 {
			t.Errorf("%v after %d pages", err, len(e.calls))
		}
	})
}

func TestPageTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &engine{before: func(ctx context.Context, number int) error {
			if number == 2 {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			time.Sleep(9 * time.Second) // the wait for the budget doesn't count
			return nil
		}}
		d := (&pages.Reader{
			Engine: e, Budget: pages.NewBudget(1), PageTime: 10 * time.Second,
		}).Open(t.Context(), source, render)
		defer d.Close()
		start := time.Now()
		_ = d.Each(upTo(4), func(number int, _ ocr.Page, err error) error {
			if (number == 2) != errors.Is(err, ocr.ErrPageTime) {
				t.Errorf("page %d: %v", number, err)
			}
			return nil
		})
		if took := time.Since(start); took != 3*9*time.Second+10*time.Second {
			t.Errorf("the pages took %s", took)
		}
	})
}

// The wait for memory that others have doesn't count as a page's time, and ends with the task.
func TestPageTimeWithoutWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := child.NewPool(3)
		step := func(ctx context.Context, d time.Duration) error {
			_, release, err := pool.Take(ctx, child.Step, 2)
			if err != nil {
				return err
			}
			defer release()
			return retry.Sleep(ctx, d)
		}
		e := &engine{before: func(ctx context.Context, _ int) error { return step(ctx, 9*time.Second) }}
		ctx, stop := context.WithTimeoutCause(t.Context(), 2*time.Minute, errEnd)
		defer stop()
		d := (&pages.Reader{Engine: e, Budget: pages.NewBudget(1), PageTime: 10 * time.Second}).Open(ctx, source, render)
		defer d.Close()
		for number, held := range []time.Duration{time.Minute, time.Hour} {
			_, release, err := pool.Take(t.Context(), child.Step, 2)
			if err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(held, release)
			_, err = d.Start(number + 1).Wait()
			if held == time.Minute && err != nil || held == time.Hour && !errors.Is(err, errEnd) {
				t.Errorf("after %v: %v", held, err)
			}
			if timer.Stop() {
				release()
			}
		}
	})
}

var errEnd = errors.New("the task's time is over")

// Pages that were read before an attempt ended are not read again; failed ones are.
func TestCache(t *testing.T) {
	t.Parallel()
	cache := &memory{}
	e := &engine{}
	errOdd := errors.New("odd")
	attempt := func(t *testing.T, fail func(number int) bool, options string) (first ocr.Page) {
		e.before = func(_ context.Context, number int) error {
			if fail(number) {
				return errOdd
			}
			return nil
		}
		r := &pages.Reader{Engine: e, Budget: pages.NewBudget(2), Cache: cache, Options: options}
		d := r.Open(t.Context(), source, render)
		defer d.Close()
		if err := d.Each(upTo(70), func(number int, p ocr.Page, err error) error {
			if errors.Is(err, errOdd) != fail(number) {
				t.Errorf("page %d: %v", number, err)
			}
			if number == 2 {
				first = p
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return first
	}
	fresh := attempt(t, func(n int) bool { return n%2 == 1 }, "")
	cache.gets = 0
	kept := attempt(t, func(int) bool { return false }, "")
	if fmt.Sprint(fresh) != fmt.Sprint(kept) || cache.gets != 3 {
		t.Errorf("%v became %v, in %d calls", fresh, kept, cache.gets)
	}
	for n, calls := range e.calls {
		if calls != 1+n%2 {
			t.Errorf("page %d was read %d times", n, calls)
		}
	}
	if attempt(t, func(int) bool { return false }, "600 dpi"); e.calls[2] != 2 {
		t.Error("other options, but the same reading")
	}
	for _, kept := range cache.kept {
		kept[4] = []byte("damaged")
	}
	if attempt(t, func(int) bool { return false }, ""); e.calls[4] != 3 {
		t.Error("a damaged reading was used")
	}
}

// A page of which only a part was read is read again by the next attempt.
func TestPartialPageIsNotCached(t *testing.T) {
	t.Parallel()
	e := &engine{partial: 2}
	r := &pages.Reader{Engine: e, Budget: pages.NewBudget(1), Cache: &memory{}}
	for range 2 {
		d := r.Open(t.Context(), source, render)
		_ = d.Each(upTo(2), func(number int, p ocr.Page, err error) error {
			if err != nil || p.Partial != (number == 2) {
				t.Errorf("page %d: %+v %v", number, p, err)
			}
			return nil
		})
		d.Close()
	}
	if e.calls[1] != 1 || e.calls[2] != 2 {
		t.Errorf("%v", e.calls)
	}
}

func TestPanicOfAnEngineIsAnError(t *testing.T) {
	t.Parallel()
	d := (&pages.Reader{
		Engine: &engine{before: func(context.Context, int) error { panic("oh") }}, Budget: pages.NewBudget(1),
	}).
		Open(t.Context(), source, render)
	defer d.Close()
	if _, err := d.Start(1).Wait(); err == nil || !strings.Contains(err.Error(), "panic: oh") {
		t.Error(err)
	}
	if _, err := d.Start(2).Wait(); err == nil {
		t.Error("the budget is lost")
	}
}

func TestFileSourceFails(t *testing.T) {
	t.Parallel()
	e := &engine{}
	d := (&pages.Reader{Engine: e, Budget: pages.NewBudget(1), Cache: &memory{}}).Open(t.Context(),
		pages.FileSource(t.TempDir()+"/none"), render)
	defer d.Close()
	if p, err := d.Start(3).Wait(); err != nil || p.Paragraphs[0].Text() != "3" {
		t.Error(p, err)
	}
}
