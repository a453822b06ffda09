package docx_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestBreaks: the words on both sides of a break are apart, also where it is one of the page or the column.
func TestBreaks(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"page", "column", "textWrapping"} {
		br := `<w:br w:type="` + kind + `"/>`
		body := `<w:p><w:r>` + br + `<w:t>one</w:t>` + br + `<w:t>two</w:t>` + br + `</w:r></w:p>`
		if got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, document(t, body)); got != "one  \ntwo\n" {
			t.Errorf("%s: got %q", kind, got)
		}
	}
}
