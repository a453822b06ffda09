package object

import (
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// Text returns a text string (7.9.2.2) as UTF-8. PDFDocEncoding is read as windows-1252, from which it differs in
// few signs.
func (s String) Text() string {
	switch {
	case strings.HasPrefix(string(s), "\xFE\xFF"):
		s = s[2:]
		units := make([]uint16, 0, len(s)/2)
		for i := 0; i+1 < len(s); i += 2 {
			units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
		}
		return string(utf16.Decode(units))
	case strings.HasPrefix(string(s), "\xEF\xBB\xBF"):
		return strings.ToValidUTF8(string(s[3:]), "")
	}
	text, err := charmap.Windows1252.NewDecoder().String(string(s))
	if err != nil {
		return ""
	}
	return text
}
