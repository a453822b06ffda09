package blob_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a", "a.pdf", "folder/a.pdf", "a..b.pdf", "...", "Jahresbericht 2024 (endgültig).pdf", "100%.txt",
		"a#b?c&d=e+f.txt",
		"你好/\U0001F680.md", "a//b", "trailing.", ".hidden", "a/..b", strings.Repeat("ü", 1024),
	} {
		if err := blob.CheckName(name); err != nil {
			t.Errorf("%q was refused: %v", name, err)
		}
	}
	for name, says := range map[string]string{
		"": "empty", "/etc/passwd": "starts with", "../x": `".."`, "a/../b": `".."`, "a/..": `".."`, "..": `".."`,
		"a/./b":  `"."`,
		"a\x00b": "control", "a\nb": "control", "a\u0085b": "control", `a\..\b`: "backslash", "folder/": "folder",
		"\xff":                    "UTF-8",
		strings.Repeat("x", 1025): "1024",
	} {
		err := blob.CheckName(name)
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.ValidationError {
			t.Errorf("%q: got %v, want a validation error", name, err)
		} else if !strings.Contains(err.Error(), says) || len(err.Error()) > 300 ||
			strings.ContainsAny(err.Error(), "\x00\n") {
			t.Errorf("%q: %q doesn't say %q in one short line", name, err, says)
		}
	}
}

// FuzzCheckName checks that no accepted name leaves its container.
func FuzzCheckName(f *testing.F) {
	for _, seed := range []string{"a/b", "../a", "/a", "a/./b", `..\a`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if blob.CheckName(name) != nil {
			return
		}
		if joined := path.Join("/container", name); !strings.HasPrefix(joined, "/container/") ||
			strings.Contains(name, "\x00") {
			t.Errorf("%q was accepted, and leads to %q", name, joined)
		}
	})
}
