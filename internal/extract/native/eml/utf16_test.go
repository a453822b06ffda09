package eml_test

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestUTF16: a message that an editor saved as UTF-16 is read, whatever encoding its parts declare.
func TestUTF16(t *testing.T) {
	t.Parallel()
	const text = "From: a@example.com\r\nSubject: Offer\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: text/plain; charset=us-ascii\r\n\r\nGrüße aus Köln.\r\n"
	for what, as := range map[string]encoding.Encoding{
		"little endian": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"big endian":    unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
		"unmarked":      unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	} {
		content, err := as.NewEncoder().Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := nativetest.Markdown(t, native.Extractors(nil, nil)[extract.EML], extract.EML, content)
		if want := "# Offer\n\nFrom: a@example.com\n\nGrüße aus Köln.\n"; got != want {
			t.Errorf("%s: got\n%s", what, got)
		}
	}
}
