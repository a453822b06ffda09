package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A splitter returns the length of the first piece of a text that is not empty: what the vocabulary's expression
// matches first. Byte-pair encoding never merges over the end of a piece. tiktoken's own expressions need a regular
// expression engine that backtracks, and took two thirds of the time of a count.
type splitter func(text string) int

// splitCl100k is cl100k_base's expression (source: tiktoken_ext/openai_public.py):
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func splitCl100k(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	start := prefix(text)
	if n := run(text[start:], unicode.IsLetter); n > 0 {
		return start + n
	}
	return splitRest(text, "\r\n")
}

// splitO200k is o200k_base's expression (same source). A word is capitals and then small letters, where letters
// without case and marks are both:
//
//	[^\r\n\p{L}\p{N}]?U*L+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?U+L*(?i:…)?|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// where U is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and L is [\p{Ll}\p{Lm}\p{Lo}\p{M}].
func splitO200k(text string) int {
	first := prefix(text)
	for _, match := range []func(string) int{endsSmall, startsCapital} {
		for _, start := range []int{first, 0} { // the prefix is tried first; a mark may be a prefix or a part of the word
			if n := match(text[start:]); n > 0 {
				n += start
				return n + contraction(text[n:])
			}
		}
	}
	return splitRest(text, "\r\n/")
}

// endsSmall is the length of U*L+ at the start of text. U* gives back until L+ has a rune.
func endsSmall(text string) int {
	end := run(text, capital)
	if n := run(text[end:], small); n > 0 {
		return end + n
	}
	for end > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:end])
		if small(r) {
			return end
		}
		end -= n
	}
	return 0
}

// startsCapital is the length of U+L* at the start of text.
func startsCapital(text string) int {
	n := run(text, capital)
	if n == 0 {
		return 0
	}
	return n + run(text[n:], small)
}

// splitRest matches what both expressions have after words: up to three digits, signs with the runes of after that
// follow them, and white space.
func splitRest(text, after string) int {
	if n := digits(text); n > 0 {
		return n
	}
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	if n := run(text[start:], sign); n > 0 {
		n += start
		return n + len(text[n:]) - len(strings.TrimLeft(text[n:], after))
	}
	return blanks(text)
}

// blanks is the length of \s*[\r\n]+|\s+(?!\S)|\s+ at the start of text: white space up to its last line end, or all but
// the last rune, which belongs to the word that follows.
func blanks(text string) int {
	n := run(text, unicode.IsSpace)
	if end := strings.LastIndexAny(text[:n], "\r\n"); end >= 0 {
		return end + 1
	}
	if _, last := utf8.DecodeLastRuneInString(text[:n]); n < len(text) && n > last {
		return n - last
	}
	return n
}

// contraction is the length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at the start of text, or 0.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if long := "'\u017f"; strings.HasPrefix(text, long) { // the long s folds to s
		return len(long)
	}
	if len(text) >= 3 {
		switch strings.ToLower(text[1:3]) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// prefix is the length of [^\r\n\p{L}\p{N}]? at the start of text.
func prefix(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	if r == '\r' || r == '\n' || unicode.IsLetter(r) || unicode.IsNumber(r) {
		return 0
	}
	return n
}

func digits(text string) int {
	end := 0
	for range 3 {
		r, n := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsNumber(r) {
			break
		}
		end += n
	}
	return end
}

// run is the length of the runes at the start of text that are in a class.
func run(text string, in func(rune) bool) int {
	for i, r := range text {
		if !in(r) {
			return i
		}
	}
	return len(text)
}

func sign(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

func capital(r rune) bool {
	if r < utf8.RuneSelf {
		return 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M)
}

func small(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z'
	}
	return unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M)
}
