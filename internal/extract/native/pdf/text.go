package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const softHyphen = '\u00AD'

// ligatures are the typographic ones of Latin (U+FB00-FB06).
var ligatures = map[rune]string{
	'\uFB00': "ff", '\uFB01': "fi", '\uFB02': "fl", '\uFB03': "ffi", '\uFB04': "ffl", '\uFB05': "st", '\uFB06': "st",
}

// privateBullets are the characters that symbol fonts put at private code points, as Word and others use
// them for list bullets.
var privateBullets = map[rune]rune{
	'\uF0B7': '•', '\uF0A7': '▪', '\uF0D8': '➢', '\uF0FC': '✓', '\uF0E0': '→', '\uF0A8': '□', '\uF06E': '■',
	'\uF06F': '□', '\uF076': '❖', '\uF071': '❑', '\uF02D': '-', '\uF020': ' ', '\uF072': '❒', '\uF077': '◆',
}

// normalize makes a word of poppler's a word of ours: ligatures spelled out, no controls, no invisible
// characters. A soft hyphen stays only at its end, where it says that the word goes on in the next line.
// The result may be empty.
func normalize(s string) string {
	if isPlainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == softHyphen:
			if i+utf8.RuneLen(r) == len(s) && b.Len() > 0 {
				b.WriteRune(r)
			}
		case ligatures[r] != "":
			b.WriteString(ligatures[r])
		case r == '\u2010' || r == '\u2011': // hyphen, non-breaking hyphen
			b.WriteByte('-')
		case privateBullets[r] != 0:
			b.WriteRune(privateBullets[r])
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r >= '\uF8E5' && r <= '\uF8FE': // pieces of tall brackets
		case unicode.IsControl(r), r == '\uFEFF', r >= '\u200B' && r <= '\u200F', r >= '\u202A' && r <= '\u202E',
			r >= '\uFDD0' && r <= '\uFDEF', r&0xFFFE == 0xFFFE:
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// unnamedSign stands for a word of a symbol font that poppler can't name: it prints the raw code, a
// control character. At the beginning of a line it is a list's bullet, elsewhere nothing.
const unnamedSign = "\u0001"

// isUnnamed reports whether poppler's word is such a character.
func isUnnamed(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && n == len(s) && unicode.IsControl(r) && !unicode.IsSpace(r)
}

func isPlainASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7F {
			return false
		}
	}
	return true
}

// bullets are what a list item may begin with.
const bullets = "•◦▪▫‣⁃●○■□◆◇❖❑❒➢➤►▶▸✓✔☐☑☒✦★∙·→"

// isBullet reports whether a word is a list's bullet and nothing else.
func isBullet(w word) bool {
	r, n := utf8.DecodeRuneInString(w.text)
	if n == 0 || n != len(w.text) {
		return false
	}
	switch {
	case strings.ContainsRune(bullets, r), r >= '\uE000' && r <= '\uF8FF':
		return true
	case r == '-', r == '–', r == '—', r == '*', r == '◾':
		return true
	}
	return r == 'o' && w.mono // Word's second level is an o of Courier
}

// noSpaceBetween reports whether two texts are joined without a space: the scripts of Chinese and
// Japanese have none.
func noSpaceBetween(before, after string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	return wideScript(a) && wideScript(b)
}

func wideScript(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r >= '\u3000' && r <= '\u303F' || r >= '\uFF00' && r <= '\uFFEF' && !unicode.In(r, unicode.Hangul)
}

// letters counts the letters of s.
func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// endsSentence reports whether s ends with a character that ends a sentence.
func endsSentence(s string) bool {
	s = strings.TrimRight(s, `"'”’»)]`)
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".!?:;。！？：…", r)
}
