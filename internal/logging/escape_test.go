package logging

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"unicode"
)

// What a terminal would obey is visible in every format, and the JSON still decodes to the same string.
func TestInvisibleCharacters(t *testing.T) {
	t.Parallel()
	const hostile = "a\u009b31mb\u202ec\u2066d\u200ee\U000e0041f\ufeffg \u00adh é 日本 😀"
	for _, format := range []Format{JSON, Text} {
		var out bytes.Buffer
		log, err := Open(&out, Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		log.Warn("message "+hostile, "file", hostile)
		for _, r := range "\u009b\u202e\u2066\u200e\U000e0041\u00ad" {
			if strings.ContainsRune(out.String(), r) {
				t.Errorf("%s: %U is written as it is: %q", format, r, out.String())
			}
		}
		if !strings.Contains(out.String(), "é 日本 😀") || !strings.Contains(out.String(), `\u202e`) {
			t.Errorf("%s: %s", format, out.String())
		}
		if format != JSON {
			continue
		}
		var got struct{ Msg, File string }
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.File != hostile ||
			got.Msg != "message "+hostile {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// A line that a library writes to the log package becomes a record, without text from a connection.
func TestForeignLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slog.NewLogLogger(Foreign(slog.NewJSONHandler(&out, nil)), slog.LevelWarn).
		Printf("Unsolicited response received on idle HTTP channel starting with %q; err=%v", "the document's text",
			nil)
	got := out.String()
	if !strings.Contains(got, "Unsolicited response") || strings.Contains(got, "document") ||
		!strings.Contains(got, `"level":"WARN"`) {
		t.Error(got)
	}
}

// A line in the journal has no control character: journalctl shows "blob data" in place of one that has, so that whoever
// names a file could hide what is logged of it.
func TestNoControlCharactersInTheJournal(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"\x1b[2Kx", "a\x00b", "a\x7fb", "a\vb", "bell\a", "\u009b31m"} {
		log, got := toJournal(t, &bytes.Buffer{}, nil)
		log.Warn("can't read", "file", value)
		line := (*got)[0].message
		if strings.ContainsFunc(line, unicode.IsControl) || !strings.HasPrefix(line, `can't read file=`) {
			t.Errorf("%q is written as %q", value, line)
		}
	}
}
