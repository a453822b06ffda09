package source_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// encoded is a bucket whose blobs have a Content-Encoding.
type encoded struct {
	blob.Bucket
	encoding string
}

func (e encoded) OpenChanged(ctx context.Context, name, etag string) (blob.Properties, io.ReadCloser, error) {
	p, body, err := e.Bucket.OpenChanged(ctx, name, etag)
	p.Encoding = e.encoding
	return p, body, err
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestEncodedBlobs: a blob that was uploaded compressed, with the Content-Encoding that says so, is read like any other:
// its content counts, and is limited. What is not compressed, whatever it says, is left as it is.
func TestEncodedBlobs(t *testing.T) {
	t.Parallel()
	const most = 20_000
	text := strings.Repeat("0123456789", 1000)
	packed := gzipped(t, text)
	for name, c := range map[string]struct {
		encoding, stored, want string
		class                  taskerr.Class
	}{
		"gzip":       {encoding: "gzip", stored: packed, want: text},
		"capitals":   {encoding: " X-GZIP", stored: packed, want: text},
		"none":       {stored: packed, want: packed},
		"a mistake":  {encoding: "gzip", stored: "%PDF-1.7", want: "%PDF-1.7"},
		"one byte":   {encoding: "gzip", stored: "x", want: "x"},
		"empty":      {encoding: "gzip"},
		"a charset":  {encoding: "utf-8", stored: "text", want: "text"},
		"cut off":    {encoding: "gzip", stored: packed[:len(packed)/2], class: taskerr.CorruptionDetected},
		"no header":  {encoding: "gzip", stored: packed[:5], class: taskerr.CorruptionDetected},
		"no end":     {encoding: "gzip", stored: gzipped(t, strings.Repeat(text, 3)), class: taskerr.QuotaExceeded},
		"no end raw": {stored: strings.Repeat(text, 3), class: taskerr.QuotaExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket, temp := dir.New(t.TempDir()), t.TempDir()
			if err := bucket.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := bucket.Put(t.Context(), "a.txt", strings.NewReader(c.stored), ""); err != nil {
				t.Fatal(err)
			}
			f, err := source.Fetcher{Bucket: encoded{bucket, c.encoding}}.Fetch(t.Context(), source.Place{Blob: "a.txt"},
				source.Options{TempDir: temp, Bytes: most, Progress: func(float64) {}})
			if c.class != "" {
				if err == nil || taskerr.Classify(err).Class != c.class {
					t.Errorf("%v, want %s", err, c.class)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(f.Path)
			if err != nil || string(got) != c.want || f.Size != int64(len(c.want)) {
				t.Errorf("read %d bytes, %.20q, %v", f.Size, got, err)
			}
		})
	}
}
