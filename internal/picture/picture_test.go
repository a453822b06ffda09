package picture_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"image/png"
	"os"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/picture"
)

func TestPage(t *testing.T) {
	t.Parallel()
	bucket, temp := dir.New(t.TempDir()), t.TempDir()
	sums := map[string]string{}
	put := func(name string, content []byte) {
		if _, err := bucket.Put(t.Context(), name, bytes.NewReader(content), ""); err != nil {
			t.Fatal(err)
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	handbook, err := os.ReadFile("../../dev/samples/harbour-handbook.pdf")
	if err != nil {
		t.Fatal(err)
	}
	put("handbook.pdf", handbook)
	put("cut.pdf", handbook[:len(handbook)/8])
	put("text.pdf", []byte("not a PDF"))
	put("large.pdf", append(bytes.Clone(handbook), make([]byte, picture.MaxBytes)...))
	d := picture.New(bucket, temp, nil)
	for _, c := range []struct {
		what, name, sum string
		page            int
		want            error
	}{
		{"first page", "handbook.pdf", sums["handbook.pdf"], 1, nil},
		{"last page", "handbook.pdf", sums["handbook.pdf"], 6, nil},
		{"page after it", "handbook.pdf", sums["handbook.pdf"], 7, picture.ErrNone},
		{"other bytes", "handbook.pdf", sums["cut.pdf"], 1, picture.ErrChanged},
		{"damaged", "cut.pdf", sums["cut.pdf"], 1, picture.ErrNone},
		{"no PDF", "text.pdf", sums["text.pdf"], 1, picture.ErrNone},
		{"too large", "large.pdf", sums["large.pdf"], 1, picture.ErrNone},
		{"removed", "gone.pdf", "", 1, picture.ErrNone},
		{"web address", "https://example.org/a.pdf", "", 1, picture.ErrNone},
		{"another folder", "../a.pdf", "", 1, picture.ErrNone},
	} {
		drawn, err := d.Page(t.Context(), c.name, c.sum, c.page)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
		if err != nil {
			continue
		}
		if size, err := png.DecodeConfig(bytes.NewReader(drawn)); err != nil || size.Width != 1200 || size.Height < 1600 {
			t.Errorf("%s: %v %v", c.what, size, err)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
}
