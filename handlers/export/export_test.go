package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers/export"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

const day = 24 * time.Hour

// signing is a bucket that signs addresses, and counts what else is asked of it.
type signing struct {
	blob.Bucket
	err   error
	calls int
}

func (s *signing) SignUpload(context.Context, string, string, time.Duration) (blob.Upload, error) {
	return blob.Upload{}, errors.New("nobody uploads")
}

func (s *signing) SignDownload(_ context.Context, name string, d time.Duration) (blob.Download, error) {
	return blob.Download{URL: "https://signed/" + name, Expires: time.Now().Add(d + time.Minute)}, s.err
}

func (s *signing) Open(ctx context.Context, name string) (blob.Properties, io.ReadCloser, error) {
	s.calls++
	return s.Bucket.Open(ctx, name)
}

func deps(b *handlertest.Bench) export.Deps {
	return export.Deps{
		Bucket: &signing{Bucket: b.Bucket}, Store: b.Store, Limits: extract.DefaultLimits, Fonts: fonts.New(), Address: day,
		TempDir: b.Temp,
	}
}

// putDeck uploads a deck with its picture.
func putDeck(b *handlertest.Bench, name string, edit func(*deck.Deck)) {
	b.Helper()
	d := decktest.Sample(b)
	data, key := decktest.Picture(b)
	m := d.Media[key]
	m.Blob = "decks/x/media/" + key + ".png"
	d.Media[key] = m
	b.Put(m.Blob, string(data))
	if edit != nil {
		edit(d)
	}
	var out bytes.Buffer
	if err := deck.Write(&out, d); err != nil {
		b.Fatal(err)
	}
	b.Put(name, out.String())
}

func exported(b *handlertest.Bench, d export.Deps, payload string) export.Result {
	b.Helper()
	call := b.Begin(payload, task.Hints{})
	out, err := export.New(d).Handle(b.Context(), call)
	if err != nil {
		b.Fatal(err)
	}
	var r export.Result
	b.Complete(call, out, &r)
	if r.ResultPath != "exports/"+call.Task.ID+"."+string(r.Format) || r.Bytes != int64(len(b.Get(r.ResultPath))) {
		b.Errorf("%+v", r)
	}
	if p := call.Progress.(*handlertest.Progress); strings.Join(p.Stages, " ") !=
		"preparing rendering_slides packaging uploading_artifact finalizing" {
		b.Errorf("stages %v", p.Stages)
	}
	return r
}

// TestExports: both formats of a deck, by its blob and by its id, with an address that holds long enough; the same deck
// yields the same bytes.
func TestExports(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Export, 8)
	putDeck(b, "decks/x.json", nil)
	for format, magic := range map[string]string{"pptx": "PK", "pdf": "%PDF-"} {
		r := exported(b, deps(b), `{"blob":"decks/x.json","format":"`+format+`"}`)
		if want := map[string]int{"pptx": 4, "pdf": 3}[format]; r.Slides != want { // one is hidden
			t.Errorf("%s: %d slides, want %d", format, r.Slides, want)
		}
		content := b.Get(r.ResultPath)
		if !strings.HasPrefix(content, magic) || r.Title != "Southhaven Harbour" || r.URL == nil ||
			*r.URL != "https://signed/"+r.ResultPath || time.Until(*r.URLExpiresAt) < day {
			t.Errorf("%s: %+v", format, r)
		}
		if again := exported(b, deps(b), `{"blob":"decks/x.json","format":"`+format+`"}`); b.Get(again.ResultPath) != content {
			t.Errorf("%s: the same deck yields other bytes", format)
		}
	}
	_, h := b.Begin(`{"filename":"x"}`, task.Hints{}), b.Begin(`{"deck_id":"0"}`, task.Hints{})
	id := "7f1b0f5e-6f4e-4f0e-9a63-3b0a8f6f1a11"
	if _, err := b.Store.Complete(t.Context(), store.Completion{Holder: h.Holder, Result: json.RawMessage("{}"), Effects: []store.Effect{{
		Kind: store.EffectRecordDeck, Args: store.DeckRecord{ID: id, SourceFilename: "x", Title: "t", Slides: 4, Blob: "decks/x.json"},
	}}}); err != nil {
		t.Fatal(err)
	}
	if r := exported(b, deps(b), `{"deck_id":"`+id+`"}`); r.Format != export.PPTX || r.Slides != 4 {
		t.Errorf("by its id: %+v", r)
	}
}

// TestTemplate: the deck gets the look of a template, and keeps its text.
func TestTemplate(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Export, 8)
	putDeck(b, "decks/x.json", nil)
	look := deck.New("Look")
	look.Theme.Colors["accent1"] = "#AA00AA"
	look.Size = deck.Size{Width: 9144000, Height: 6858000}
	look.Slides = []deck.Slide{{Layout: "content", Title: "a slide of the template", Elements: []deck.Element{}}}
	b.Put("brand.pptx", string(decktest.PPTX(t, look)))
	for _, format := range []string{"pptx", "pdf"} {
		r := exported(b, deps(b), `{"blob":"decks/x.json","template":"brand.pptx","format":"`+format+`"}`)
		content := b.Get(r.ResultPath)
		if format == "pptx" {
			d, text := decktest.Read(t, []byte(content))
			if d.Theme.Colors["accent1"] != "#AA00AA" || d.Size.Width != 9144000 || strings.Contains(text, "of the template") ||
				!strings.Contains(text, "Dredged the south basin") || len(d.Slides) < 4 {
				t.Errorf("%v, %d slides: %.200s", d.Theme.Colors, len(d.Slides), text)
			}
		}
	}
	b.Put("no.pptx", "not a presentation")
	_, err := export.New(deps(b)).Handle(t.Context(), b.Begin(`{"blob":"decks/x.json","template":"no.pptx"}`, task.Hints{}))
	if err == nil || taskerr.Classify(err).Class != taskerr.CorruptionDetected {
		t.Error(err)
	}
}

// TestCannotSign: a worker whose credentials can't sign says so before it does anything; one that need not sign exports.
func TestCannotSign(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Export, 8)
	putDeck(b, "decks/x.json", nil)
	d := deps(b)
	bucket := &signing{Bucket: b.Bucket, err: blob.ErrUnsigned}
	const right = "grant the right to sign"
	denied := &signing{Bucket: b.Bucket, err: &taskerr.Error{
		Class: taskerr.ValidationError, Dependency: taskerr.Storage, Hint: right, Cause: blob.ErrUnsigned,
	}}
	for _, d.Bucket = range []blob.Bucket{bucket, b.Bucket, denied} {
		call := b.Begin(`{"blob":"decks/x.json"}`, task.Hints{})
		_, err := export.New(d).Handle(t.Context(), call)
		e := taskerr.Classify(err)
		if err == nil || e.Code != "EXPORT_CANNOT_SIGN" || e.Class != taskerr.ValidationError || !strings.Contains(e.Hint, "EXPORT_URL_HOURS=0") {
			t.Errorf("%v", err)
		}
		if e.Dependency != "" || d.Bucket == denied && !strings.Contains(e.Hint, right) {
			t.Errorf("the hint is %q, the dependency %q", e.Hint, e.Dependency)
		}
	}
	if bucket.calls+denied.calls > 0 {
		t.Error("the deck was read before")
	}
	d.Address = 0
	if r := exported(b, d, `{"blob":"decks/x.json"}`); r.URL != nil || r.URLExpiresAt != nil {
		t.Errorf("%+v", r)
	}
}

// TestRefuses: a deck that is not one, or whose pictures are not what it says, ends in one clear error.
func TestRefuses(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Export, 8)
	_, key := decktest.Picture(t)
	putDeck(b, "good.json", nil)
	b.Put("text.json", "no deck")
	b.Put("secret.txt", "not a picture")
	edit := func(f func(m *deck.Media)) func(*deck.Deck) {
		return func(d *deck.Deck) {
			m := d.Media[key]
			f(&m)
			d.Media[key] = m
		}
	}
	putDeck(b, "other.json", edit(func(m *deck.Media) { m.Blob = "secret.txt" }))
	putDeck(b, "outside.json", edit(func(m *deck.Media) { m.Blob = "../secret.txt" }))
	putDeck(b, "lost.json", edit(func(m *deck.Media) { m.Blob = "gone.png" }))
	putDeck(b, "path.json", func(d *deck.Deck) {
		d.Media["../../etc/passwd"] = d.Media[key]
		d.Slides[2].Elements[2].Picture.Media = "../../etc/passwd"
	})
	for payload, class := range map[string]taskerr.Class{
		`{"blob":"gone.json"}`:                               taskerr.ContentMissing,
		`{"blob":"text.json"}`:                               taskerr.ValidationError,
		`{"blob":"other.json"}`:                              taskerr.CorruptionDetected,
		`{"blob":"outside.json"}`:                            taskerr.ValidationError,
		`{"blob":"lost.json"}`:                               taskerr.ContentMissing,
		`{"blob":"path.json"}`:                               taskerr.ValidationError,
		`{"deck_id":"7f1b0f5e-6f4e-4f0e-9a63-3b0a8f6f1a12"}`: taskerr.ContentMissing,
	} {
		_, err := export.New(deps(b)).Handle(t.Context(), b.Begin(payload, task.Hints{}))
		if got := taskerr.Classify(err); err == nil || got.Class != class {
			t.Errorf("%s: %v", payload, err)
		}
	}
	b.CheckTemp()
	for _, payload := range []string{
		`{}`, `{"blob":"a","deck_id":"7f1b0f5e-6f4e-4f0e-9a63-3b0a8f6f1a12"}`, `{"deck_id":"x"}`, `{"blob":"../a"}`,
		`{"blob":"a","format":"odp"}`, `{"blob":"a","template":"/t"}`, `{"blob":7}`,
	} {
		err := export.New(export.Deps{}).Check(task.Task{Payload: json.RawMessage(payload)})
		if err == nil || taskerr.Classify(err).Class != taskerr.ValidationError {
			t.Errorf("%s: %v", payload, err)
		}
	}
}

// TestTwoAtATime: two exports of a deck run at once, the third waits.
func TestTwoAtATime(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Export, 8)
	putDeck(b, "decks/x.json", nil)
	for n := range 3 {
		_, err := export.New(deps(b)).Handle(t.Context(), b.Begin(`{"blob":"decks/x.json"}`, task.Hints{}))
		var busy *store.BusyError
		if errors.As(err, &busy) != (n == 2) || n < 2 && err != nil {
			t.Errorf("export %d: %v", n+1, err)
		}
	}
}
