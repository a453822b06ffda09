package blobtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// listed returns the names under a prefix, sorted.
func listed(t *testing.T, b blob.Bucket, prefix string) []string {
	t.Helper()
	names := []string{}
	for p, err := range b.List(t.Context(), prefix) {
		must(t, err)
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// list: the blobs under a prefix, with the properties that Stat has, and no others.
func list(t *testing.T, b blob.Bucket) {
	all := []string{
		"a.txt", "in/2026-old/e.txt", "in/2026/a b.txt", "in/2026/c#d?.txt", "in/2026/deep/er.txt", "in/x.txt",
		"inbox/f.txt", "ümläut/ü.txt",
	}
	for _, name := range all {
		put(t, b, name, "content of "+name)
	}
	for prefix, want := range map[string][]string{
		"":          all,
		"in/2026":   {"in/2026-old/e.txt", "in/2026/a b.txt", "in/2026/c#d?.txt", "in/2026/deep/er.txt"},
		"in/2026/":  {"in/2026/a b.txt", "in/2026/c#d?.txt", "in/2026/deep/er.txt"},
		"in":        {"in/2026-old/e.txt", "in/2026/a b.txt", "in/2026/c#d?.txt", "in/2026/deep/er.txt", "in/x.txt", "inbox/f.txt"},
		"a.txt":     {"a.txt"},
		"ümläut/":   {"ümläut/ü.txt"},
		"nothing":   {},
		"no/thing/": {},
		"../":       {},
	} {
		if got := listed(t, b, prefix); !slices.Equal(got, want) {
			t.Errorf("under %q: %q, want %q", prefix, got, want)
		}
	}
	for p, err := range b.List(t.Context(), "in/") {
		must(t, err)
		stat, err := b.Stat(t.Context(), p.Name)
		must(t, err)
		if p.ETag != stat.ETag || p.Size != stat.Size || !p.ModifiedAt.Equal(stat.ModifiedAt) {
			t.Errorf("listed as %+v, and it is %+v", p, stat)
		}
	}
}

// listStops: a list ends when its reader has enough, and with its context.
func listStops(t *testing.T, b blob.Bucket) {
	for i := range 3 {
		put(t, b, fmt.Sprintf("%d.txt", i), "x")
	}
	seen := 0
	for _, err := range b.List(t.Context(), "") {
		must(t, err)
		if seen++; seen == 2 {
			break
		}
	}
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	failed := 0
	for _, err := range b.List(ctx, "") {
		if err == nil {
			t.Error("a canceled list goes on")
		}
		failed++
	}
	if failed != 1 {
		t.Errorf("a canceled list has %d errors", failed)
	}
}
