package store_test

import (
	"fmt"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A content that is left keeps its blob, whatever was removed beside it.
func TestNewBlob(t *testing.T) {
	t.Parallel()
	name := func(n int) string { return fmt.Sprint("results/", n) }
	for want, a := range map[string]store.DerivedAnswer{
		"results/1": {},
		"results/2": {OfJob: 1, Blobs: []string{"results/1"}},
		"results/3": {OfJob: 1, Blobs: []string{"results/2"}},
		"results/4": {OfJob: 2, Blobs: []string{"results/3", "results/1"}},
	} {
		if got := a.NewBlob(name); got != want {
			t.Errorf("beside %v: %s, want %s", a.Blobs, got, want)
		}
	}
}
