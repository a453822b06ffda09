package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	softHyphen = '\u00AD'
	nonJoiner  = '\u200C' // between the parts of a Persian word
)

// ligatures are the typographic ones of Latin (U+FB00-FB06).
var ligatures = map[rune]string{
	'\uFB00': "ff", '\uFB01': "fi", '\uFB02': "fl", '\uFB03': "ffi", '\uFB04': "ffl", '\uFB05': "st", '\uFB06': "st",
}

// privateBullets maps the private code points of symbol fonts that Word and others use for list bullets.
var privateBullets = map[rune]rune{
	'\uF0B7': '•', '\uF0A7': '▪', '\uF0D8': '➢', '\uF0FC': '✓', '\uF0E0': '→', '\uF0A8': '□', '\uF06E': '■',
	'\uF06F': '□', '\uF076': '❖', '\uF071': '❑', '\uF02D': '-', '\uF020': ' ', '\uF072': '❒', '\uF077': '◆',
	'\uF078': ticked, '\uF0FD': ticked, '\uF0FE': '☑',
}

// The states of a box to tick.
const (
	ticked   = '☒'
	unticked = '☐'
)

// normalize converts a word from poppler: it spells out ligatures and drops controls and invisible characters.
// A soft hyphen stays only at the end, where it means that the word continues on the next line. The result may
// be empty.
func normalize(s string) string {
	if isPlainASCII(s) {
		return strings.Trim(s, " ")
	}
	var b strings.Builder
	b.Grow(len(s))
	before := rune(0)
	for i, r := range s {
		previous := before
		before = r
		switch {
		case r > ' ' && r < 0x7F:
			b.WriteByte(byte(r))
		case r == nonJoiner && rightToLeft(previous):
			if next, _ := utf8.DecodeRuneInString(s[i+len(string(nonJoiner)):]); rightToLeft(next) {
				b.WriteRune(r)
			}
		case r == softHyphen:
			if i+utf8.RuneLen(r) == len(s) && b.Len() > 0 {
				b.WriteRune(r)
			}
		case ligatures[r] != "":
			b.WriteString(ligatures[r])
		case r == '\u2010' || r == '\u2011': // hyphen, non-breaking hyphen
			b.WriteByte('-')
		case isRadical(r):
			b.WriteRune(ideograph(r))
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
	out := strings.TrimSpace(b.String())
	if r, n := utf8.DecodeRuneInString(out); n > 0 && n == len(out) && r >= firstUnnamed && (r < '\U000E0000' || r > '\U000EFFFF') {
		return "•"
	}
	return out
}

// firstUnnamed is the first of the planes without characters. Poppler makes such code points of the numbers in the names of
// a symbol font's glyphs, and what stands alone there is a bullet.
const firstUnnamed = '\U00040000'

// unnamedChar represents a word of a symbol font that poppler can't name, of which it prints the raw code, a
// control character. At the start of a line it is a list bullet, elsewhere nothing.
const unnamedChar = "\u0001"

// isUnnamed reports whether poppler's word is such a character.
func isUnnamed(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && n == len(s) && unicode.IsControl(r) && !unicode.IsSpace(r)
}

func isPlainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7F {
			return false
		}
	}
	return true
}

// bullets are the possible bullets of a list item.
const bullets = "•◦▪▫‣⁃●○■□◆◇❖❑❒➢➤►▶▸✓✔☐☑☒✦★∙·→"

// isBullet reports whether a word consists of a list bullet.
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
	return r == 'o' && w.mono // Word's second level is an o in Courier
}

// isSymbol reports whether a word is a character that is the bullet of prose, and else a sign: symbol fonts have a minus for a dash,
// and their subsets number the glyphs from the exclamation mark on. Those of formulas have letters there.
func isSymbol(w word) bool {
	return w.text == "−" || len(w.text) == 1 && w.text >= "!" && w.text <= "'" && strings.Contains(w.face, "symbol") &&
		!strings.Contains(w.face, "math")
}

// tellsProse reports whether words are some of a language: a term of a formula has the name of a function, which is short.
func tellsProse(words []word) bool {
	const longName = 3
	return letters(words[0].text) > 0 && !words[0].math &&
		slices.ContainsFunc(words, func(w word) bool { return !w.math && letters(w.text) > longName })
}

// isBox reports whether a bullet is a box to tick: whether it is ticked is part of the item's text.
func isBox(w word) bool { return strings.ContainsAny(w.text, "☐☑☒") }

// noSpaceBetween reports whether two texts are joined without a space: one is Chinese or Japanese where they meet.
func noSpaceBetween(before, after string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	return withoutSpace(a, b)
}

// withoutSpace reports whether no space belongs between two characters of different words: one is Chinese or
// Japanese. Korean has the same punctuation, and spaces.
func withoutSpace(a, b rune) bool {
	return (wideScript(a) || wideScript(b)) && !unicode.In(a, unicode.Hangul) && !unicode.In(b, unicode.Hangul)
}

func wideScript(r rune) bool {
	const first = '\u2E80' // Han's
	return r >= first && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r >= '\u3000' && r <= '\u303F' || r >= '\uFF00' && r <= '\uFFEF' && !unicode.In(r, unicode.Hangul))
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
