package ingest

import (
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func TestWarnings(t *testing.T) {
	t.Parallel()
	unread := map[string]string{
		"unread_pages": "3", "unread_list": "2,4-5",
		"unread_reason": "tesseract is not installed; install tesseract-ocr",
	}
	const said = "3 of 12 pages have no text and could not be read by OCR (tesseract is not installed; install " +
		"tesseract-ocr): page 2,4-5"
	for name, tt := range map[string]struct {
		chunks int
		info   extract.Info
		want   []string
	}{
		"all is well":       {4, extract.Info{Pages: 12}, nil},
		"some pages unread": {4, extract.Info{Pages: 12, Properties: unread}, []string{said}},
		"nothing read": {
			0,
			extract.Info{Pages: 12, Properties: unread},
			[]string{said, "nothing of the document can be found"},
		},
		"attachments unread": {
			4,
			extract.Info{Warnings: []string{"1 attachments or parts could not be read: x.bin (damaged)"}},
			[]string{"1 attachments or parts could not be read: x.bin (damaged)"},
		},
		"empty pages": {
			0,
			extract.Info{Pages: 1},
			[]string{"the document has no text on any of its 1 pages; nothing of it can be found"},
		},
		"empty file": {0, extract.Info{}, []string{"the document has no text; nothing of it can be found"}},
	} {
		w := &work{chunks: tt.chunks, info: tt.info}
		if got := w.warnings(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
