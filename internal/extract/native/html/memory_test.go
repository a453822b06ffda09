package html_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/html"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestMemoryOfOneTag: a tag of 17 MB takes no more memory than one of 256 KB, and what is not read of it is said. The
// test doesn't run beside others, whose memory would count.
func TestMemoryOfOneTag(t *testing.T) { //nolint:paralleltest // see above
	var attributes bytes.Buffer
	attributes.WriteString("<!doctype html><h1>a</h1><p>before<p")
	for i := 0; attributes.Len() < 17<<20; i++ {
		fmt.Fprintf(&attributes, " a%x", i)
	}
	attributes.WriteString(" title=b>after")
	picture := "<!doctype html><h1>a</h1><p>before<img src=\"data:" + strings.Repeat("abcdefgh", 17<<17) + "\" alt=b><p>after"
	for _, tt := range []struct {
		what    string
		page    []byte
		want    string
		warning bool
		most    uint64 // MB
	}{
		{"attributes", attributes.Bytes(), "a before after", true, 60},
		{"a picture", []byte(picture), "a before b after", false, 16},
	} {
		t.Run(tt.what, func(t *testing.T) { //nolint:paralleltest // as above
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			doc, err := nativetest.Extract(t, html.New(), extract.HTML, tt.page, extract.Limits{})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range doc.Blocks {
				got = append(got, b.Text)
			}
			if strings.Join(got, " ") != tt.want || (len(doc.Info.Warnings) > 0) != tt.warning {
				t.Errorf("%q, %q", got, doc.Info.Warnings)
			}
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("allocated %d MB", allocated)
			if allocated > tt.most {
				t.Errorf("allocated %d MB", allocated)
			}
		})
	}
}
