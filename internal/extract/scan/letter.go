package scan

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plainLetter returns a letter without its accents.
func plainLetter(r rune) rune {
	if r < 0x80 {
		return r
	}
	if d := norm.NFD.PropertiesString(string(r)).Decomposition(); d != nil {
		r, _ = utf8.DecodeRune(d)
	}
	return r
}
