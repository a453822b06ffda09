// Package blobtest is the conformance suite of buckets: it checks what handlers may rely on.
package blobtest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Run runs the suite. open returns an empty bucket whose container doesn't exist yet, once for each test.
func Run(t *testing.T, open func(t *testing.T) blob.Bucket) {
	// The first one runs alone: it measures the memory of the process.
	for _, c := range []struct {
		name     string
		parallel bool
		run      func(*testing.T, blob.Bucket)
	}{
		{"a large stream takes little memory", false, large},
		{"what was written is read", true, writeAndRead},
		{"names stay apart", true, names},
		{"a bad name is refused", true, badNames},
		{"a missing blob is not found", true, notFound},
		{"a new version replaces the old one", true, overwrite},
		{"a new blob replaces none", true, putNew},
		{"an unchanged blob is not sent again", true, openChanged},
		{"a stream is of one version", true, overwriteWhileReading},
		{"a failed write leaves the old version", true, failedWrite},
		{"a removed blob is gone", true, removed},
		{"blobs are listed by prefix", true, list},
		{"a list ends when it should", true, listStops},
		{"ensuring twice succeeds", true, ensureTwice},
		{"a canceled context ends a call", true, canceled},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			if c.parallel {
				t.Parallel()
			}
			b := open(t)
			if err := b.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.run(t, b)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, b blob.Bucket, name, content string) blob.Properties {
	t.Helper()
	p, err := b.Put(t.Context(), name, strings.NewReader(content), "text/plain")
	must(t, err)
	return p
}

func read(t *testing.T, b blob.Bucket, name string) (blob.Properties, string) {
	t.Helper()
	p, r, err := b.Open(t.Context(), name)
	must(t, err)
	content, err := io.ReadAll(r)
	must(t, err)
	must(t, r.Close())
	return p, string(content)
}

func writeAndRead(t *testing.T, b blob.Bucket) {
	for name, content := range map[string]string{
		"empty.txt": "", "a.txt": "hello",
		"folder/b.txt": strings.Repeat("0123456789", 1e5),
	} {
		written := put(t, b, name, content)
		opened, got := read(t, b, name)
		if got != content {
			t.Errorf("%s: read %d bytes, want %d", name, len(got), len(content))
		}
		stat, err := b.Stat(t.Context(), name)
		must(t, err)
		for what, p := range map[string]blob.Properties{"Put": written, "Open": opened, "Stat": stat} {
			if p.Name != name || p.Size != int64(len(content)) || p.ETag != written.ETag || p.ETag == "" {
				t.Errorf("%s: %s says %+v", name, what, p)
			}
			if age := time.Since(p.ModifiedAt).Abs(); age > time.Minute {
				t.Errorf("%s: %s says it was modified %s ago", name, what, age)
			}
		}
		if !strings.HasPrefix(opened.ContentType, "text/plain") {
			t.Errorf("%s: content type %q", name, opened.ContentType)
		}
	}
}

func names(t *testing.T, b blob.Bucket) {
	all := []string{
		"plain.txt", "with space.txt", "with  two.txt", "100%.txt", "100%25.txt", "a#b.txt", "a?b.txt", "a?b=c&d.txt",
		"a+b.txt", "a b.txt",
		"a%2Fb.txt", "a/b.txt", "ümläut.txt", "u\u0308mla\u0308ut.txt", "你好/世界.txt", "\U0001F680.txt", "a:b;c,d@e!.txt",
		"'\"<>|*.txt", "a..b.txt", "~", ".hidden",
		"deep/er/and/deeper/still.txt", "UPPER.txt", "upper.txt", "comp=list", "trailing space ",
	}
	for _, name := range all {
		put(t, b, name, "content of "+name)
	}
	for _, name := range all {
		if p, got := read(t, b, name); got != "content of "+name || p.Name != name {
			t.Errorf("%q holds %q", name, got)
		}
	}
}

func badNames(t *testing.T, b blob.Bucket) {
	for _, name := range []string{"", "/a", "../a", "a/../../b", "a/", "a\x00b", "a\\b", "./a"} {
		_, putErr := b.Put(t.Context(), name, strings.NewReader("x"), "")
		_, statErr := b.Stat(t.Context(), name)
		_, _, openErr := b.Open(t.Context(), name)
		for _, err := range []error{putErr, statErr, openErr} {
			if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.ValidationError {
				t.Errorf("%q: got %v, want a validation error", name, err)
			}
		}
	}
}

func notFound(t *testing.T, b blob.Bucket) {
	put(t, b, "folder/there.txt", "x")
	for _, name := range []string{
		"absent.txt", "folder/absent.txt", "folder", "no/such/folder.txt",
		"folder/there.txt/below",
	} {
		if _, err := b.Stat(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("stat %q: %v", name, err)
		}
		if _, _, err := b.Open(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("open %q: %v", name, err)
		}
	}
}

func overwrite(t *testing.T, b blob.Bucket) {
	first := put(t, b, "a.txt", "first, and longer")
	second := put(t, b, "a.txt", "second")
	if first.ETag == second.ETag {
		t.Errorf("both versions have the ETag %s", first.ETag)
	}
	if p, got := read(t, b, "a.txt"); got != "second" || p.ETag != second.ETag {
		t.Errorf("read %q of %s", got, p.ETag)
	}
}

func putNew(t *testing.T, b blob.Bucket) {
	for name, content := range map[string]string{"small.txt": "first", "large.txt": strings.Repeat("first", 2<<20)} {
		p, err := b.PutNew(t.Context(), name, strings.NewReader(content), "text/plain")
		must(t, err)
		if _, err := b.PutNew(t.Context(), name, strings.NewReader("2"+content), ""); !errors.Is(err, blob.ErrExists) {
			t.Errorf("%s, again: %v", name, err)
		}
		if now, got := read(t, b, name); got != content || now.ETag != p.ETag || p.Size != int64(len(content)) {
			t.Errorf("%s: read %d bytes of %+v, wrote %+v", name, len(got), now, p)
		}
	}
	if _, err := b.PutNew(t.Context(), "../a.txt", strings.NewReader("x"), ""); err == nil ||
		errors.Is(err, blob.ErrExists) {
		t.Errorf("a bad name: %v", err)
	}
}

func ensureTwice(t *testing.T, b blob.Bucket) {
	put(t, b, "a.txt", "kept")
	must(t, b.Ensure(t.Context()))
	if _, got := read(t, b, "a.txt"); got != "kept" {
		t.Errorf("read %q", got)
	}
}
