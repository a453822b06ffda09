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
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

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
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // with more of it, what is sampled is garbage
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
