package extract_test

import (
	"context"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func TestStatedTitle(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"The Art of Waiting": "The Art of Waiting", " Two\n lines ": "Two lines", "T": "T", "年次報告": "年次報告",
		"Untidy rooms":      "Untidy rooms",
		"Documents of 2024": "Documents of 2024", "Index of prices": "Index of prices",
		"": "", "2024": "", "Microsoft Word - report_final.doc": "", "untitled": "", "Untitled Document": "",
		"Dokument1": "", "report-2024.pdf": "",
		`C:\Users\x\y.docx`: "", "Sheet 1": "", "Präsentation2": "", "https://example.org/": "", "about:blank": "",
		"PowerPoint Presentation": "",
	} {
		if got := extract.StatedTitle(title); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

// titled is an extractor of a document with a title.
type titled string

func (titled) Name() string { return "titled" }
func (titled) Version() int { return 1 }
func (e titled) Extract(context.Context, extract.Source, extract.Limits, extract.Emit) (extract.Info, error) {
	return extract.Info{Title: string(e)}, nil
}

// A file's name is not a title, even if the extractor reports it.
func TestTitleIsNotTheFilesName(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{"Q3-final": "", "q3-FINAL.xyz": "", "Q3": "Q3", "Untitled": ""} {
		r := extract.NewRouter(map[extract.Format]extract.Extractor{extract.Text: titled(title)})
		info, err := r.Extract(t.Context(), extract.Source{
			Name: "reports/q3-final.xyz", Format: extract.Text,
		}, extract.Limits{}, nil)
		if err != nil || info.Title != want {
			t.Errorf("%q: got %q, %v; want %q", title, info.Title, err, want)
		}
	}
}
