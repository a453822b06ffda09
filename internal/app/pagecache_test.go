package app

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// counting counts the pages that it reads, and fails with errKilled after a number of them.
type counting struct {
	mu    sync.Mutex
	reads map[int]int
	until int
	end   func(error)
}

func (*counting) Name() string                              { return "counting" }
func (*counting) Version() string                           { return "1" }
func (*counting) Languages() []string                       { return nil }
func (*counting) Abilities() ocr.Abilities                  { return ocr.Abilities{} }
func (c *counting) For(ocr.Preferences) (ocr.Engine, error) { return c, nil }

var errKilled = errors.New("killed")

func (c *counting) Read(_ context.Context, img ocr.Image) (ocr.Page, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.reads) == c.until {
		c.end(errKilled)
		return ocr.Page{}, errKilled
	}
	c.reads[img.Rect.Dx()]++
	return ocr.Page{Paragraphs: []ocr.Paragraph{{{{Text: fmt.Sprint("page ", img.Rect.Dx()), Confidence: 1}}}}}, nil
}

// A worker reuses from the tenant's store what another has read of a document: however often attempts end in the
// middle, each page is read once.
func TestPagesAreReadOnce(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: 8})
	c := &counting{reads: map[int]int{}}
	const all = 40
	numbers := make([]int, all)
	for i := range numbers {
		numbers[i] = i + 1
	}
	attempt := func() error {
		s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: "acme", Dimensions: 8, MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		c.end = cancel
		cache := &pageCache{store: s, log: slog.New(slog.DiscardHandler)}
		d := (&pages.Reader{Engine: c, Budget: pages.NewBudget(2), Cache: cache}).Open(
			ctx,
			func() (string, error) { return "sha", nil },
			func(_ context.Context, number int) (ocr.Image, error) {
				return ocr.Image{Gray: image.NewGray(image.Rect(0, 0, number, 1))}, nil
			},
		)
		defer d.Close()
		return d.Each(numbers, func(number int, p ocr.Page, err error) error {
			if err == nil && p.Paragraphs[0].Text() != fmt.Sprint("page ", number) {
				t.Errorf("page %d is %+v", number, p)
			}
			return err
		})
	}
	for c.until = 7; ; c.until += 11 {
		if err := attempt(); err == nil {
			break
		} else if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
	if len(c.reads) != all {
		t.Errorf("%d of %d pages were read", len(c.reads), all)
	}
	for number, n := range c.reads {
		if n != 1 {
			t.Errorf("page %d was read %d times", number, n)
		}
	}
}

// deadStore is a store that is down.
type deadStore struct {
	err  error
	jobs []string // that were requested
}

func (f *deadStore) PageResults(_ context.Context, s store.PageSource, _, _ int) ([]store.PageResult, error) {
	f.jobs = append(f.jobs, s.JobID)
	return nil, f.err
}

func (f *deadStore) KeepPageResults(_ context.Context, s store.PageSource, _ []store.PageResult) error {
	f.jobs = append(f.jobs, s.JobID)
	return f.err
}

func (f *deadStore) ExpirePageResults(context.Context, time.Duration, int) (int, error) {
	return 0, f.err
}

// A store that is down costs another reading, and nothing more. It gets the id of the pages' job.
func TestPageCacheOverADeadStore(t *testing.T) {
	t.Parallel()
	s := &deadStore{err: errors.New("down")}
	c := &pageCache{store: s, log: slog.New(slog.DiscardHandler)}
	ctx := task.WithID(t.Context(), "job-1")
	if found := c.Get(ctx, "s", "r", 1, 32); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	c.Put(context.WithoutCancel(ctx), "s", "r", 1, []byte("reading"))
	if len(s.jobs) != 2 || s.jobs[0] != "job-1" || s.jobs[1] != "job-1" {
		t.Errorf("for jobs %q", s.jobs)
	}
}
