package native_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestLinks: every format keeps the targets of its links at their words, and only those that a reader may follow.
func TestLinks(t *testing.T) {
	t.Parallel()
	const url = "(" + nativetest.LinkTarget + ")"
	all := native.Extractors(nil, nil)
	for _, d := range nativetest.LinkedDocuments(t) {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			got := nativetest.Markdown(t, all[d.Format], d.Format, d.Content)
			want := []string{"the [annex](#", "[write to us](mailto:desk@example.com).", "See the [tide tables]" + url + ", the"}
			if d.Format == extract.XLSX {
				want = []string{"| [tide tables]" + url + " | [annex](#Annex!A1) |", "\n\n[the web]" + url + "\n"}
			} else if !strings.Contains(got, "| North | on [the web]"+url+" |") {
				t.Error("the link in the cell is lost")
			}
			for _, want := range want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, hostile := range []string{"javascript", "](file", "](data", "passwd"} {
				if strings.Contains(got, hostile) {
					t.Errorf("%q is kept", hostile)
				}
			}
			if !strings.Contains(got, "script") {
				t.Error("the text of a link that is not kept is lost")
			}
			if t.Failed() {
				t.Log(got)
			}
		})
	}
}
