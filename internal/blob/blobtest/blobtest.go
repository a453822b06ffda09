// Package blobtest is the conformance suite of buckets: it checks what handlers may rely on.
package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
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
		{"an unchanged blob is not sent again", true, openChanged},
		{"a stream is of one version", true, overwriteWhileReading},
		{"a failed write leaves the old version", true, failedWrite},
		{"a removed blob is gone", true, removed},
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

func openChanged(t *testing.T, b blob.Bucket) {
	first := put(t, b, "a.txt", "first")
	if _, r, err := b.OpenChanged(t.Context(), "a.txt", first.ETag); !errors.Is(err, blob.ErrUnchanged) || r != nil {
		t.Errorf("the blob that is known: %v", err)
	}
	second := put(t, b, "a.txt", "second")
	for _, etag := range []string{first.ETag, "", `"0x0"`} {
		p, r, err := b.OpenChanged(t.Context(), "a.txt", etag)
		if err != nil {
			t.Errorf("ETag %q: %v", etag, err)
			continue
		}
		got, err := io.ReadAll(r)
		must(t, err)
		must(t, r.Close())
		if string(got) != "second" || p.ETag != second.ETag || p.Size != 6 {
			t.Errorf("ETag %q: read %q of %+v", etag, got, p)
		}
	}
	if _, _, err := b.OpenChanged(t.Context(), "absent.txt", second.ETag); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a blob that is not there: %v", err)
	}
	if _, _, err := b.OpenChanged(t.Context(), "../a.txt", second.ETag); err == nil ||
		errors.Is(err, blob.ErrUnchanged) {
		t.Errorf("a bad name: %v", err)
	}
}

// overwriteWhileReading demands the whole old content, or ErrChanged: never a mix. The content is larger than the
// sockets' buffers.
func overwriteWhileReading(t *testing.T, b blob.Bucket) {
	const size = 24 << 20
	first := bytes.Repeat([]byte("1"), size)
	_, err := b.Put(t.Context(), "a.bin", bytes.NewReader(first), "")
	must(t, err)
	_, r, err := b.Open(t.Context(), "a.bin")
	must(t, err)
	defer r.Close()
	start := make([]byte, 1000)
	_, err = io.ReadFull(r, start)
	must(t, err)
	_, err = b.Put(t.Context(), "a.bin", bytes.NewReader(bytes.Repeat([]byte("2"), size)), "")
	must(t, err)
	rest, err := io.ReadAll(r)
	got := append(start, rest...)
	if !bytes.Equal(got, first[:min(len(got), size)]) {
		t.Error("bytes of two versions were mixed")
	}
	if err != nil && !errors.Is(err, blob.ErrChanged) || err == nil && len(got) != size {
		t.Errorf("read %d bytes of the old version, then %v", len(got), err)
	}
}

func failedWrite(t *testing.T, b blob.Bucket) {
	put(t, b, "a.txt", "whole")
	broken := errors.New("the source broke")
	for _, before := range []int{0, 100, 10 << 20} {
		body := io.MultiReader(io.LimitReader(zeros{}, int64(before)), iotest.ErrReader(broken))
		if _, err := b.Put(t.Context(), "a.txt", body, ""); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", before, err)
		}
		if _, got := read(t, b, "a.txt"); got != "whole" {
			t.Errorf("after %d bytes: the blob is %d bytes now", before, len(got))
		}
	}
}

func ensureTwice(t *testing.T, b blob.Bucket) {
	put(t, b, "a.txt", "kept")
	must(t, b.Ensure(t.Context()))
	if _, got := read(t, b, "a.txt"); got != "kept" {
		t.Errorf("read %q", got)
	}
}

func canceled(t *testing.T, b blob.Bucket) {
	put(t, b, "a.txt", strings.Repeat("x", 8<<20))
	ctx, cancel := context.WithCancel(t.Context())
	_, r, err := b.Open(ctx, "a.txt")
	must(t, err)
	defer r.Close()
	cancel()
	_, readErr := io.Copy(io.Discard, r)
	_, putErr := b.Put(ctx, "b.txt", strings.NewReader("x"), "")
	_, statErr := b.Stat(ctx, "a.txt")
	for i, err := range []error{readErr, putErr, statErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if _, err := b.Stat(t.Context(), "b.txt"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a canceled write left something: %v", err)
	}
}

// large samples the heap during the transfer: a stream held in memory would take its size.
func large(t *testing.T, b blob.Bucket) {
	const size = 64 << 20
	runtime.GC()
	before, peak := heap(), uint64(0)
	sample := writerFunc(func(p []byte) (int, error) {
		peak = max(peak, heap())
		return len(p), nil
	})
	written, got := sha256.New(), sha256.New()
	p, err := b.Put(t.Context(), "large.bin", io.TeeReader(io.LimitReader(noise(1), size),
		io.MultiWriter(written, sample)), "")
	must(t, err)
	_, r, err := b.Open(t.Context(), "large.bin")
	must(t, err)
	n, err := io.CopyBuffer(io.MultiWriter(got, sample), r, make([]byte, 1<<20))
	must(t, err)
	must(t, r.Close())
	if peak > before+size/2 {
		t.Errorf("writing and reading %d MiB took %d MiB of heap", size>>20, (peak-before)>>20)
	}
	if p.Size != size || n != size || !equal(written, got) {
		t.Errorf("wrote %d bytes (%+v), read %d", size, p, n)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func equal(a, b hash.Hash) bool {
	return fmt.Sprintf("%x", a.Sum(nil)) == fmt.Sprintf("%x", b.Sum(nil))
}

// noise is an endless stream without repetitions.
func noise(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
