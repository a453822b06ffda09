package privacy_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// script is a scripted detector.
type script func(texts []string, language string) ([][]privacy.Finding, error)

func (s script) Find(_ context.Context, texts []string, language string) ([][]privacy.Finding, error) {
	return s(texts, language)
}

func (script) Version() string { return "script@1" }

// everywhere finds a word.
func everywhere(word string, kind privacy.Kind, score float64) script {
	return func(texts []string, _ string) ([][]privacy.Finding, error) {
		found := make([][]privacy.Finding, len(texts))
		for i, text := range texts {
			for at := strings.Index(text, word); at >= 0; {
				found[i] = append(found[i], privacy.Finding{Kind: kind, Start: at, End: at + len(word), Score: score})
				next := strings.Index(text[at+len(word):], word)
				if next < 0 {
					break
				}
				at += len(word) + next
			}
		}
		return found, nil
	}
}

func unknown(string) string { return "und" }

func filter(mode privacy.Mode, d privacy.Detector, kinds ...privacy.Kind) *privacy.Filter {
	return privacy.NewFilter(privacy.Options{Mode: mode, Detector: d, Kinds: kinds, Language: unknown})
}

// pass runs blocks through a filter.
func pass(t *testing.T, f *privacy.Filter, blocks ...extract.Block) (*privacy.Document, []extract.Block, error) {
	t.Helper()
	var out []extract.Block
	d := f.Document(func(b extract.Block) error { out = append(out, b); return nil })
	for _, b := range blocks {
		if err := d.Block(t.Context(), b); err != nil {
			return d, out, err
		}
	}
	return d, out, d.Flush(t.Context())
}

func document() []extract.Block {
	return []extract.Block{
		{Kind: extract.Heading, Level: 1, Page: 1, Text: "Contact of a@example.org"},
		{Kind: extract.TableKind, Table: &extract.Table{
			Headers: 1,
			Rows: [][]extract.Cell{
				{{Text: "Name"}, {Text: "IBAN"}}, {{Text: "Ada"}, {Text: "DE89 3704 0044 0532 0130 00"}},
			},
		}},
		{Kind: extract.ListItem, Marker: "-", Text: "a@example.org, b@example.org und +49 30 1234567"},
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	in := document()
	d, out, err := pass(t, filter(privacy.Redact, privacy.Patterns{}), in...)
	if err != nil {
		t.Fatal(err)
	}
	want := document()
	want[0].Text = "Contact of [EMAIL]"
	want[1].Table.Rows[1][1].Text = "[IBAN]"
	want[2].Text = "[EMAIL], [EMAIL] und [PHONE]"
	if !reflect.DeepEqual(out, want) {
		t.Errorf("got %+v", out)
	}
	if got := d.Found().String(); got != "EMAIL: 3, IBAN: 1, PHONE: 1" || d.Missed() != nil {
		t.Errorf("found %s, missed %v", got, d.Missed())
	}
	if !reflect.DeepEqual(in, document()) {
		t.Error("the extractor's own blocks were changed")
	}
	info, err := d.Info(t.Context(), extract.Info{
		Title: "For a@example.org", Pages: 3, Warnings: []string{"b@example.org payslip.docx: it can't be read"},
		Properties: map[string]string{"author": "Ada <a@example.org>", "pages": "3"},
	})
	if err != nil || info.Title != "For [EMAIL]" || info.Properties["author"] != "Ada <[EMAIL]>" ||
		info.Properties["pages"] != "3" || info.Pages != 3 || info.Warnings[0] != "[EMAIL] payslip.docx: it can't be read" ||
		d.Found().String() != "EMAIL: 5, IBAN: 1, PHONE: 1" {
		t.Errorf("info %+v, %v", info, err)
	}
}

func TestTagAndOff(t *testing.T) {
	t.Parallel()
	d, out, err := pass(t, filter(privacy.Tag, privacy.Patterns{}, privacy.Email), document()...)
	if err != nil || !reflect.DeepEqual(out, document()) || d.Found().String() != "EMAIL: 3" {
		t.Errorf("tagging: %v, %v, %+v", err, d.Found(), out)
	}
	off := filter(privacy.Off, privacy.Patterns{})
	d, out, err = pass(t, off, document()...)
	if err != nil || !reflect.DeepEqual(out, document()) || len(d.Found()) != 0 || off.Mode() != privacy.Off ||
		off.Version() != "off" {
		t.Errorf("off: %v, %v, %+v", err, d.Found(), out)
	}
}

// Overlapping findings are merged into one of the kind with the highest score; kinds that were not requested
// don't count.
func TestOverlap(t *testing.T) {
	t.Parallel()
	both := privacy.All(everywhere("Ada Lovelace", "PERSON", 0.9), everywhere("Lovelace of London", "LOCATION", 0.99),
		everywhere("a Love", privacy.Phone, 0.5))
	_, out, err := pass(t, filter(privacy.Redact, both), extract.Block{Text: "By Ada Lovelace of London."})
	if err != nil || out[0].Text != "By [PERSON] of London." {
		t.Errorf("got %+v, %v", out, err)
	}
	asked := filter(privacy.Redact, both, "LOCATION", "PERSON")
	_, out, err = pass(t, asked, extract.Block{Text: "By Ada Lovelace of London."})
	if err != nil || out[0].Text != "By [LOCATION]." {
		t.Errorf("got %+v, %v", out, err)
	}
	if got := asked.Version(); got != "redact script@1+script@1+script@1 LOCATION,PERSON" {
		t.Errorf("version %q", got)
	}
}

// When the detector fails, redacting emits nothing; tagging emits everything and reports it.
func TestDetectorFails(t *testing.T) {
	t.Parallel()
	down := taskerr.Errorf(taskerr.DependencyUnavailable, "down")
	for what, d := range map[string]script{
		"down": func([]string, string) ([][]privacy.Finding, error) { return nil, down },
		"one short": func(texts []string, _ string) ([][]privacy.Finding, error) {
			return make([][]privacy.Finding, len(texts)-1), nil
		},
		"outside": func(texts []string, _ string) ([][]privacy.Finding, error) {
			return answers(texts, privacy.Finding{Kind: "X", Start: 3, End: 1e6}), nil
		},
		"upside down": func(texts []string, _ string) ([][]privacy.Finding, error) {
			return answers(texts, privacy.Finding{Kind: "X", Start: 3, End: 2}), nil
		},
	} {
		_, out, err := pass(t, filter(privacy.Redact, d), document()...)
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || !taskerr.Classes[e.Class].Retryable || len(out) > 0 {
			t.Errorf("%s: redacting: %v, %d blocks passed", what, err, len(out))
		}
		if text, err := filter(privacy.Redact, d).Text(t.Context(), "a title"); err == nil {
			t.Errorf("%s: %q passed", what, text)
		}
		tagged, out, err := pass(t, filter(privacy.Tag, d), document()...)
		if err != nil || len(out) != 3 || tagged.Missed() == nil {
			t.Errorf("%s: tagging: %v, %d blocks, missed %v", what, err, len(out), tagged.Missed())
		}
	}
}

func answers(texts []string, f privacy.Finding) [][]privacy.Finding {
	all := make([][]privacy.Finding, len(texts))
	all[0] = []privacy.Finding{f}
	return all
}

// The detector is called for batches of blocks, not once per block or once for all.
func TestBatches(t *testing.T) {
	t.Parallel()
	var calls []int
	language := "und"
	d := script(func(texts []string, l string) ([][]privacy.Finding, error) {
		calls, language = append(calls, len(texts)), l
		return make([][]privacy.Finding, len(texts)), nil
	})
	f := privacy.NewFilter(privacy.Options{Mode: privacy.Tag, Detector: d, Language: func(text string) string {
		if strings.Contains(text, "deutsch") {
			return "de"
		}
		return "und"
	}})
	blocks := []extract.Block{{Text: "deutsch"}}
	for range 149 {
		blocks = append(blocks, extract.Block{Text: "more"})
	}
	blocks = append(blocks, extract.Block{Text: strings.Repeat("long ", 10_000)}, extract.Block{Text: "end"})
	_, out, err := pass(t, f, blocks...)
	if err != nil || !reflect.DeepEqual(out, blocks) || !reflect.DeepEqual(calls, []int{64, 64, 23, 1}) ||
		language != "de" {
		t.Errorf("%v: %d blocks by calls %v, language %s", err, len(out), calls, language)
	}
}
