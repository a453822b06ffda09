package ingest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// scanner is an extractor that reads so many of three pages; it reads some of them only if the machine is not busy.
type scanner struct {
	pages   int
	info    extract.Info
	calls   int
	version string // empty: scanner@1
	first   string // text of the first page; empty: it has its own
}

func (s *scanner) Version(extract.Format) string { return cmp.Or(s.version, "scanner@1") }

func (s *scanner) Extract(_ context.Context, src extract.Source, _ extract.Limits, emit extract.Emit) (extract.Info, error) {
	s.calls++
	src.Memory.Save("a conversion")
	info := s.info
	info.Extractor, info.Pages = "scanner", 3
	for n := range s.pages {
		text := []string{cmp.Or(s.first, "One of three pages."), "Two of them, and more words.", "Three is the last."}[n]
		info.Characters += len(text)
		if err := emit(extract.Block{Kind: extract.Paragraph, Text: text, Page: n + 1}); err != nil {
			return extract.Info{}, err
		}
	}
	return info, nil
}

// busy reads the first page only.
func (s *scanner) busy() {
	s.pages = 1
	s.info = extract.Info{Incomplete: true, Properties: map[string]string{
		"unread_pages": "2", "unread_list": "2-3", "unread_reason": "a page took longer than 30s",
	}}
}

func (s *scanner) idle() { s.pages, s.info = 3, extract.Info{} }

func newScanner(t *testing.T) (*bench, *line, *scanner) {
	t.Helper()
	b, l := newLine(t)
	s := new(scanner)
	b.rebuild(func(d *ingest.Deps) { d.Extractor = s })
	return b, l, s
}

// A part replaces a complete version only in the last attempt, with a warning; the next ingest reads it again.
func TestPartReplacesNoWhole(t *testing.T) {
	t.Parallel()
	b, _, s := newScanner(t)
	b.Put("handbook.md", "the first scan")
	s.idle()
	b.ingest(handbook, task.Hints{})
	b.Put("handbook.md", "the second scan")
	s.busy()
	c := b.Begin(handbook, task.Hints{})
	_, err := b.handler.Handle(t.Context(), c)
	failure, ok := errors.AsType[*taskerr.Error](err)
	if !ok || !taskerr.Classes[failure.Class].Retryable || failure.Dependency != "" ||
		!strings.Contains(failure.Message, "a page took longer than 30s") {
		t.Fatalf("the first attempt: %v", err)
	}
	if p, ok := c.Progress.(*handlertest.Progress); !ok || strings.Contains(string(p.Pending), "a conversion") {
		t.Error("the next attempt would get the same part of the extractor's service")
	}
	c, out, err := b.attempt(c, true)
	if err != nil {
		t.Fatalf("the last attempt: %v", err)
	}
	part := b.complete(c, out)
	if part.Version != 2 || part.Chunks != 1 || len(part.Warnings) != 2 ||
		!strings.Contains(part.Warnings[1], "its next ingest reads it again") {
		t.Errorf("the part: %+v", part)
	}
	s.idle()
	if whole := b.ingest(handbook, task.Hints{}); whole.Unchanged || whole.Version != 3 || len(whole.Warnings) > 0 {
		t.Errorf("read again: %+v", whole)
	}
	calls := s.calls
	if again := b.ingest(handbook, task.Hints{}); !again.Unchanged || len(again.Warnings) > 0 || s.calls != calls {
		t.Errorf("unchanged: %+v", again)
	}
}

// What is never read in full is not read for ever, and each result says what is missing.
func TestNeverReadInFull(t *testing.T) {
	t.Parallel()
	b, _, s := newScanner(t)
	b.Put("handbook.md", "a scan")
	s.busy()
	for n := range 9 {
		r := b.ingest(handbook, task.Hints{})
		want := "its next ingest reads it again"
		if n >= 5 {
			want = "it was read 6 times, never in full; only an ingest with hints.force reads it again"
		}
		if r.Version != 1 || r.Unchanged != (n > 0) || len(r.Warnings) != 2 || !strings.HasPrefix(r.Warnings[0], "2 of 3 pages") ||
			!strings.HasSuffix(r.Warnings[1], want) || s.calls != min(n+1, 6) {
			t.Errorf("ingest %d: %d readings, %+v", n+1, s.calls, r)
		}
	}
	s.idle()
	if r := b.ingest(handbook, task.Hints{Force: true}); r.Unchanged || len(r.Warnings) > 0 {
		t.Errorf("forced: %+v", r)
	}
	s.busy()
	b.Put("handbook.md", "another scan") // with less text: the first attempt would fail
	again := b.Begin(handbook, task.Hints{})
	again.Last = true
	out, err := b.handler.Handle(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	b.complete(again, out)
	calls := s.calls
	if b.ingest(handbook, task.Hints{}); s.calls != calls+1 {
		t.Error("other bytes are not read again")
	}
}

// Another reading of the same bytes with less in it replaces nothing, and counts. What other means have read doesn't.
func TestWorseReadingReplacesNothing(t *testing.T) {
	t.Parallel()
	b, _, s := newScanner(t)
	b.Put("handbook.md", "a scan")
	s.busy()
	s.pages = 2
	b.ingest(handbook, task.Hints{})
	pipeline := func() string {
		return handlertest.Query[string](b.Bench, `select split_part(pipeline, ' ', 1) from document_versions where status = 'active'`)
	}
	s.busy()
	for n := 2; n <= 6; n++ {
		r := b.ingest(handbook, task.Hints{Force: n%2 == 0})
		if r.Version != 1 || !r.Unchanged || r.Chunks == 0 || len(r.Warnings) != 2 || pipeline() != fmt.Sprintf("provisional=%d", n) ||
			strings.HasSuffix(r.Warnings[1], "its next ingest reads it again") != (n < 6) {
			t.Errorf("reading %d: %s, %+v", n, pipeline(), r)
		}
	}
	if n := handlertest.Query[int](b.Bench, `select count(*) from document_chunks where content like '%Two of them%'`); n != 1 {
		t.Errorf("%d chunks have the better reading", n)
	}
	calls := s.calls
	if r := b.ingest(handbook, task.Hints{}); !r.Unchanged || s.calls != calls {
		t.Errorf("after the last: %+v", r)
	}
	s.version = "scanner@2"
	if r := b.ingest(handbook, task.Hints{}); s.calls != calls+1 || pipeline() != "provisional=1" || len(r.Warnings) != 2 {
		t.Errorf("by a new version of the reader: %s after %d calls, %q", pipeline(), s.calls-calls, r.Warnings)
	}
	s.info = extract.Info{Fallback: true} // has no sentence of its own that it is read again
	if r := b.ingest(handbook, task.Hints{}); !r.Unchanged || len(r.Warnings) != 2 ||
		!strings.HasSuffix(r.Warnings[1], "its next ingest reads it again") {
		t.Errorf("by another reader: %+v", r)
	}
	s.idle()
	if r := b.ingest(handbook, task.Hints{}); r.Unchanged || len(r.Warnings) > 0 {
		t.Errorf("the whole: %+v", r)
	}
}

// A part of the same bytes replaces no complete version, which is marked as provisional: it is read again.
func TestPartOfTheSameBytes(t *testing.T) {
	t.Parallel()
	b, _, s := newScanner(t)
	b.Put("handbook.md", "a scan")
	s.idle()
	b.ingest(handbook, task.Hints{})
	s.version = "scanner@2"
	s.busy()
	c := b.Begin(handbook, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), c); taskerr.Classify(err).Class != taskerr.TransientStorage {
		t.Errorf("another attempt may read all of it: %v", err)
	}
	c.Last = true
	out, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r := b.complete(c, out); r.Version != 1 || !r.Unchanged || len(r.Warnings) != 1 ||
		!strings.HasSuffix(r.Warnings[0], "its next ingest reads it again") {
		t.Errorf("the part: %+v", r)
	}
	const inIndex = `select split_part(v.pipeline, ' ', 1) || ': ' || string_agg(c.content, ' ') from document_versions v
		join document_chunks c on (c.document_id, c.version) = (v.document_id, v.version) where v.status = 'active' group by v.pipeline`
	if was := handlertest.Query[string](b.Bench, inIndex); !strings.HasPrefix(was, "provisional=1: ") ||
		!strings.Contains(was, "Three is the last") {
		t.Errorf("in the index is %s", was)
	}
	s.idle()
	if r := b.ingest(handbook, task.Hints{}); s.calls != 4 || len(r.Warnings) > 0 {
		t.Errorf("read again: %d readings, %+v", s.calls, r)
	}
}

// A complete version that stayed in place of worse readings of its bytes goes on as one: a part of other bytes replaces it
// only in the last attempt.
func TestKeptVersionIsStillComplete(t *testing.T) {
	t.Parallel()
	b, _, s := newScanner(t)
	b.Put("handbook.md", "the first scan")
	s.idle()
	b.ingest(handbook, task.Hints{})
	s.busy()
	for n := range 2 { // the second one reads what the first one has marked
		c := b.Begin(handbook, task.Hints{Force: true})
		c.Last = true
		out, err := b.handler.Handle(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if r := b.complete(c, out); r.Version != 1 || !r.Unchanged {
			t.Fatalf("part %d of the same bytes: %+v", n+1, r)
		}
	}
	b.Put("handbook.md", "the second scan")
	c := b.Begin(handbook, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), c); taskerr.Classify(err).Class != taskerr.TransientStorage {
		t.Errorf("the first attempt: %v", err)
	}
	c, out, err := b.attempt(c, true)
	if err != nil {
		t.Fatalf("the last attempt: %v", err)
	}
	if r := b.complete(c, out); r.Version != 2 || r.Chunks != 1 {
		t.Errorf("the part: %+v", r)
	}
}

// What other settings have made does not stay, however much more it has.
func TestWorseReadingByOtherSettings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ingest.Deps){
		"redaction": watch(privacy.Redact, privacy.Patterns{}),
		"model": func(d *ingest.Deps) {
			other := "another-model"
			d.Embedder = renamed{d.Embedder, &other}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, s := newScanner(t)
			b.Put("handbook.md", "a scan")
			s.busy()
			s.pages = 2
			s.first = "Mail ada@example.org."
			b.ingest(handbook, task.Hints{})
			b.rebuild(change)
			s.busy()
			if r := b.ingest(handbook, task.Hints{}); r.Version != 2 || r.Unchanged {
				t.Errorf("%+v", r)
			}
			const inIndex = `select string_agg(distinct model, ' ') || ': ' || string_agg(content, ' ') from document_chunks`
			was := handlertest.Query[string](b.Bench, inIndex)
			if name == "redaction" && strings.Contains(was, "ada@") || name == "model" && !strings.HasPrefix(was, "another-model: ") {
				t.Errorf("in the index is %s", was)
			}
		})
	}
}

// Pages that no other reading has are no reason to read a document again; its warnings are repeated.
func TestWarningsOfTheUnchanged(t *testing.T) {
	t.Parallel()
	b, _, s := newScanner(t)
	b.Put("handbook.md", "a scan")
	s.busy()
	s.info.Incomplete = false
	first := b.ingest(handbook, task.Hints{})
	if again := b.ingest(handbook, task.Hints{}); !again.Unchanged || s.calls != 1 || len(first.Warnings) != 1 ||
		!slices.Equal(again.Warnings, first.Warnings) {
		t.Errorf("%+v, then %+v", first, again)
	}
}

// A prefix submits what was not read as it should be, in growing intervals, and not for ever.
func TestPrefixReadsPartsAgain(t *testing.T) {
	t.Parallel()
	b, l, s := newScanner(t)
	b.Put("in/scan.txt", "a scan")
	const payload = `{"document_set":"docs","prefix":"in/"}`
	s.busy()
	run := func(submitted int) {
		t.Helper()
		r := b.spread(payload, task.Hints{})
		if r.Submitted != submitted || r.Incomplete != 1-submitted || r.Unchanged != 0 {
			t.Errorf("after %d readings: %+v", s.calls, r)
		}
		b.work(l)
	}
	later := func(interval string) {
		handlertest.Query[int](b.Bench, `update documents set updated_at = updated_at - $1::interval returning 1`, interval)
	}
	run(1)
	run(1)
	run(0)
	for _, wait := range []string{"1 hour", "6 hours", "1 day", "4 days"} {
		run(0)
		later(wait)
		run(1)
	}
	later("1 year")
	run(0)
	if s.calls != 6 {
		t.Errorf("read %d times", s.calls)
	}
	b.Put("in/scan.txt", "another scan")
	s.pages, s.info = 3, extract.Info{Fallback: true}
	run(1)
	s.idle()
	run(1)
	if r := b.spread(payload, task.Hints{}); r.Unchanged != 1 {
		t.Errorf("read as it should be: %+v", r)
	}
}
