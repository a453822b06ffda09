package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wording is what a text says, in one form: texts with the same wording are copies. It is its words in order, and the
// signs that say something. What it leaves out says nothing in any language: spaces and line breaks, punctuation, the
// form of letters and digits (ligatures, half and full width, Arabic-Indic digits), the case of longer words.
//
// No other word may differ, however long the text is: "Berlin" for "Paris", "forbidden" for "allowed", a "not" more, 三百
// for 五百. Which words turn a text round is a question of language that no list answers, and of a copy that is folded
// without need a reader never sees what it says. One that is not folded costs them a place among the hits.
//
// Source of comparing texts by their words: Broder, "On the resemblance and containment of documents", 1997; here
// resemblance is 1.
type wording string

// wordingOf is that of a hit's last heading and text: a short text under another heading is another one. It is empty if
// they have no word and no sign; then nothing is a copy.
func wordingOf(h Hit) wording {
	text := h.Content
	if n := len(h.HeadingPath); n > 0 {
		text = h.HeadingPath[n-1] + "\n" + text
	}
	w := writer{text: composed(text)}
	w.out.Grow(len(w.text) + len(w.text)/8)
	before, at := ' ', 0
	for at < len(w.text) {
		r, size := utf8.DecodeRuneInString(w.text[at:])
		w.take(before, r, w.text[at+size:], at)
		if !unicode.Is(unicode.Cf, r) { // it doesn't show
			before = r
		}
		at += size
	}
	w.end(at)
	return wording(w.out.String())
}

// writer writes a wording.
type writer struct {
	text string
	from int // of the current word
	in   bool
	cell int // of a table: where the current one begins, after a bar in this line; 0: there was none
	had  int // bytes of out at the beginning of the cell
	out  strings.Builder
}

// take takes the character r at a place.
func (w *writer) take(before, r rune, rest string, at int) {
	switch {
	case unicode.Is(unicode.Cf, r): // a soft hyphen, a joiner: within a word
	case !counts(r):
		w.end(at)
		if sign := signOf(before, r, rest); sign != 0 {
			w.out.WriteRune(sign)
			w.out.WriteByte(' ')
		}
		switch r {
		case '|':
			w.bar(at)
		case '\n', '\r':
			w.cell = 0
		}
	case kindOf(r) == unspaced && !unicode.Is(unicode.Hangul, r): // a line break between them says nothing
		w.end(at)
		w.out.WriteRune(r)
		w.out.WriteByte(' ')
	case !w.in:
		w.from, w.in = at, true
	}
}

// bar ends the current cell. One without words is written, unless it is of the line below a header: the words before and
// after it are of columns that are apart.
func (w *writer) bar(at int) {
	if w.cell > 0 && w.out.Len() == w.had {
		if cell := strings.TrimSpace(w.text[w.cell:at]); !strings.Contains(cell, "---") {
			w.out.WriteString(cell + "| ")
		}
	}
	w.cell, w.had = at+1, w.out.Len()
}

// end ends the current word.
func (w *writer) end(at int) {
	if !w.in {
		return
	}
	w.in = false
	word := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return digitOf(r)
	}, w.text[w.from:at])
	// The case of a short one, or with a number, may say something: mW and MW, us and US.
	if utf8.RuneCountInString(word) > 3 && !strings.ContainsFunc(word, unicode.IsNumber) {
		word = strings.ToLower(word)
	}
	w.out.WriteString(word)
	w.out.WriteByte(' ')
}

// counts reports whether a character is part of words. All numbers are: m² is not m, nor 6½ 6.
func counts(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }

// signOf is one form of a sign, between a character and the rest of the text, that says something; 0: it doesn't.
func signOf(before, r rune, rest string) rune {
	first := r != before
	if isDash(r) && r != '—' {
		r = '-'
	}
	if mark := quoteOf(r); mark != 0 && (unicode.IsDigit(before) || quoteOf(before) == mark) { // 5' is not 5", nor 5''
		return mark
	}
	after, _ := utf8.DecodeRuneInString(rest)
	switch {
	case unicode.IsDigit(before) && unicode.IsDigit(after) && !unicode.IsSpace(r) && r != '|': // 1.5, 1/5, 10:30, 5-10
		return r
	case strings.ContainsRune("-.(", r) && first && !counts(before) && startsNumber(rest): // -5 °C, .5, a loss of (5)
		return r
	case r == '-' && unicode.IsDigit(before) && !counts(after): // a loss of 5-
		return r
	case r == '?', r == '؟':
		return '?'
	case r == '#' && (counts(before) || counts(after)): // C#; else it is Markdown
		return r
	case strings.ContainsRune("%‰§&@", r):
		return r
	case r == '|', unicode.Is(unicode.Sk, r): // of a table
		return 0
	case unicode.IsSymbol(r): // of currencies and arithmetic, arrows, boxes that are ticked or not
		return r
	}
	return 0
}

// isDash reports whether a character is a dash, a hyphen or a minus.
func isDash(r rune) bool { return r == '−' || unicode.Is(unicode.Pd, r) }

// quoteOf is one form of a quotation mark that may be a foot, an inch, a minute or a second; 0: it is none.
func quoteOf(r rune) rune {
	switch r {
	case '\'', '‘', '’', '′', '´':
		return '\''
	case '"', '“', '”', '″':
		return '"'
	}
	return 0
}

// startsNumber reports whether a text begins with a number, perhaps after a minus, a currency and a point.
func startsNumber(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	next := func() {
		text = text[size:]
		r, size = utf8.DecodeRuneInString(text)
	}
	if isDash(r) {
		next()
	}
	if unicode.Is(unicode.Sc, r) {
		if next(); unicode.IsSpace(r) {
			next()
		}
	}
	if r == '.' {
		next()
	}
	return unicode.IsDigit(r)
}

// digitOf is a decimal digit of any script as one of ASCII; other characters stay.
func digitOf(r rune) rune {
	if r < utf8.RuneSelf || !unicode.IsDigit(r) {
		return r
	}
	for _, of := range unicode.Nd.R16 { // each range begins with a zero: The Unicode Standard, 4.6
		if r >= rune(of.Lo) && r <= rune(of.Hi) {
			return '0' + (r-rune(of.Lo))%10
		}
	}
	for _, of := range unicode.Nd.R32 {
		if r >= rune(of.Lo) && r <= rune(of.Hi) {
			return '0' + (r-rune(of.Lo))%10
		}
	}
	return r
}

// composed is a text with one form of each letter, however it is composed, and whatever shape a font or a keyboard gave
// it: ligatures, Arabic forms, half and full width are from U+F900 to U+FFEF. Elsewhere the form says something: 10² is
// not 102.
func composed(text string) string {
	shaped := func(r rune) bool { return r >= 0xf900 && r <= 0xffef && r != utf8.RuneError }
	if !strings.ContainsFunc(text, shaped) {
		return norm.NFC.String(text)
	}
	var out strings.Builder
	for from := 0; from < len(text); {
		first, _ := utf8.DecodeRuneInString(text[from:])
		is := shaped(first)
		to := len(text)
		if n := strings.IndexFunc(text[from:], func(r rune) bool { return shaped(r) != is }); n >= 0 {
			to = from + n
		}
		if is {
			out.WriteString(norm.NFKC.String(text[from:to]))
		} else {
			out.WriteString(text[from:to])
		}
		from = to
	}
	return norm.NFC.String(out.String())
}
