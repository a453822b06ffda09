package docx_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestOpenFields: of fields that never end, the innermost 64 count, so a text costs the same however many there are.
func TestOpenFields(t *testing.T) {
	t.Parallel()
	char := func(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }
	link := char("begin") + `<w:r><w:instrText>HYPERLINK "http://u"</w:instrText></w:r>` + char("separate") + `<w:r><w:t>a</w:t></w:r>`
	open := char("begin") + char("separate")
	for _, tt := range []struct{ what, body, want string }{
		{"within the limit", `<w:p>` + link + strings.Repeat(open, 63) + `</w:p>` + x, "[a](http://u)\n\n[x](http://u)\n"},
		{"beyond it", `<w:p>` + link + strings.Repeat(open, 64) + `</w:p>` + x, "[a](http://u)\n\nx\n"},
		{
			"a link after them", `<w:p>` + strings.Repeat(open, 1000) + link + char("end") + `</w:p>` + x + `<w:p>` +
				strings.Repeat(char("end"), 1000) + `</w:p>` + x,
			"[a](http://u)\n\nx\n\nx\n",
		},
	} {
		if got := nativetest.Markdown(t, docx.New(nil), extract.DOCX, document(t, tt.body)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}
