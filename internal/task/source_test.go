package task_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestRedactSource: what may be a secret in an address is not shown; the name of a blob is.
func TestRedactSource(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"":                                  "",
		"https://files.example/a%20b/ü.pdf": "https://files.example/a%20b/ü.pdf",
		"https://files.example:8443/a.pdf?token=SECRET": "https://files.example:8443/a.pdf",
		"https://files.example/a.pdf#SECRET":            "https://files.example/a.pdf",
		"https://files.example/a.pdf#SECRET?SECRET":     "https://files.example/a.pdf",
		"https://files.example?SECRET":                  "https://files.example",
		"https://me:SECRET@files.example/@here/a.pdf":   "https://files.example/@here/a.pdf",
		"https://SECRET@files.example?SECRET":           "https://files.example",
		"https://me:SEC@RET@files.example/a":            "https://files.example/a",
		"//me:SECRET@files.example/a":                   "//files.example/a",
		"https://files.example/x//me@here":              "https://files.example/x//me@here",
		"https://me:SEC/RET@files.example/a":            "",
		"https://me:SEC?RET@files.example/a":            "",
		"https:me:SECRET@files.example/a":               "",
		"me:SECRET@files.example/a":                     "",
		"https://files.example/%zz?SECRET":              "",
		"https://files.example/\x00?SECRET":             "",
		"a.pdf?SECRET":                                  "a.pdf",
		"blob:in/a?b#c.pdf":                             "blob:in/a?b#c.pdf",
		"blob:me:x@here":                                "blob:me:x@here",
	} {
		if got := task.RedactSource(uri); got != want {
			t.Errorf("%q: got %q, want %q", uri, got, want)
		}
	}
}
