package tenants

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseEnv(t *testing.T) {
	t.Parallel()
	text := "# c\n; c\n\nA=1\n B = two words \nC='it is'\nD=\"say \\\"so\\\" for \\$5\"\nE=\nA=2\nF=x;y=z#1\n"
	got, err := ParseEnv(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"A": "2", "B": "two words", "C": "it is", "D": `say "so" for $5`, "E": "",
		"F": "x;y=z#1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	for text, line := range map[string]string{
		"A=1\nb c": "line 2", "A=1\n\n9=s3cret": "line 3",
		`A="s3cret`: "line 1, A", `A="s3cret" x`: "line 1, A", `A=s3cret\`: "line 1, A",
	} {
		if _, err := ParseEnv(text); err == nil || !strings.Contains(err.Error(), line) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A written value is read back.
func TestQuote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := strings.TrimSpace(strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' || r == 0 {
				return -1
			}
			return r
		}, rapid.String().Draw(t, "value")))
		f := &envFile{}
		f.set("A", value)
		got, err := ParseEnv(f.String())
		if err != nil || got["A"] != value {
			t.Fatalf("%q became %q as %s: %v", value, got["A"], f, err)
		}
	})
}

// A shell can read it too: users source such a file for check-config.
func TestQuoteForShells(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "env")
	for _, value := range []string{"plain", "a;b&c", "it's", `"$HOME" \n`, "`id`", "two  words", "#1", "*", "~"} {
		f := &envFile{}
		f.set("A", value)
		if err := os.WriteFile(file, []byte(f.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", `. "$0" && printf %s "$A"`, file).CombinedOutput()
		if err != nil || string(out) != value {
			t.Errorf("%s is read as %q: %v", f, out, err)
		}
	}
}
