package charset_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
)

// A text that is UTF-8 stays UTF-8: neither an escape sequence of Japanese mail nor bytes that EBCDIC's letters have make
// another text of it. A switch to Japanese without a way back is no Japanese mail.
func TestTextsThatPassForOthers(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an escape sequence":          "Grüße vom Hafen.\x1B$B Das steht in einem Protokoll. " + strings.Repeat("Der Lotse prüft die Tür. ", 20) + "\x1B(B",
		"an escape sequence in ASCII": "The log has \x1B$B in it. " + strings.Repeat("The pilot checks the door. ", 20),
		"letters of EBCDIC":           strings.Repeat("שלום@דגל@", 20),
		"accents of EBCDIC":           strings.Repeat("éé@", 40),
	} {
		if got, encoding := charset.DecodeNamed([]byte(text)); got != text || encoding != charset.UTF8 {
			t.Errorf("%s is read as %s: %.60q", name, encoding, got)
		}
	}
}
