package blobtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// removed: a removed blob is gone, its neighbours are not, and it can be written again.
func removed(t *testing.T, b blob.Bucket) {
	write := func(name string) {
		t.Helper()
		_, err := b.Put(t.Context(), name, strings.NewReader(name), "text/plain")
		must(t, err)
	}
	write("a/one.txt")
	write("a/two.txt")
	must(t, b.Remove(t.Context(), "a/one.txt"))
	for range 2 {
		if _, err := b.Stat(t.Context(), "a/one.txt"); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("a removed blob: %v", err)
		}
		if err := b.Remove(t.Context(), "a/one.txt"); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("removed again: %v", err)
		}
	}
	if err := b.Remove(t.Context(), "a"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a folder: %v", err)
	}
	if err := b.Remove(t.Context(), "../a/two.txt"); err == nil {
		t.Error("a name that leaves the container was accepted")
	}
	_, err := b.Stat(t.Context(), "a/two.txt")
	must(t, err)
	write("a/one.txt")
	_, err = b.Stat(t.Context(), "a/one.txt")
	must(t, err)
}
