package numfmt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxCode = 1024 // size of a code, in bytes; Excel allows 255 characters, and a file has thousands of codes
	maxUnit = 64   // size of what a format adds to a number, in bytes: a short cell must not become a long text

	spaces = " \u00a0\u202f"
	signs  = "()+-:!^&'~{}<>=" // shown as they are, and no part of a unit at its edges
)

// Units is what a format code shows beside a number and tells its unit, such as a currency: of numbers above, below and of
// zero.
type Units [3]unit

// unit has a space towards the number if the code shows one.
type unit struct{ before, after string }

// UnitsOf returns the units in a format code. It has none where they would be wrong for the number at full precision: if
// the code scales it, such as 0.0,,"M", puts text between its digits, or distinguishes more than signs; or
// if the code is longer than any that Excel writes.
func UnitsOf(code string) Units {
	if len(code) > maxCode || Parse(code) != General {
		return Units{}
	}
	var all Units
	n := 0
	s := section{}
	for does, text := range allParts(code) {
		if does != separator {
			s.add(does, text)
			continue
		}
		if all[n] = s.unit(); s.wrong {
			return Units{}
		}
		if n++; n == len(all) {
			return all
		}
		s = section{}
	}
	if all[n] = s.unit(); s.wrong {
		return Units{}
	}
	for i := n + 1; i < len(all); i++ {
		all[i] = all[0]
	}
	return all
}

// section reads a section of a format code.
type section struct {
	before, after strings.Builder
	held          string // symbols that may be the start of "General", or of an exponent
	digits        bool   // it has places of digits
	ended         bool   // and something behind them
	comma         bool   // the last symbol of the number is one: without a digit behind it, it scales
	wrong         bool   // the code has no units
}

func (s *section) add(does role, text string) {
	if does != symbol && s.held != "" {
		s.show(s.held)
		s.held = ""
	}
	switch does {
	case literal:
		s.show(hyphenated(text))
	case bracket:
		s.bracket(text)
	case symbol:
		s.symbol(text)
	case separator:
	}
}

// hyphen stands for one that joins a word with the number, and is no sign; XML can't contain it.
const hyphen = "\x00"

// hyphenated marks the hyphens at the edges of a text in quotes: "INV-"0, 0"-fold".
func hyphenated(text string) string {
	if word, ok := strings.CutSuffix(text, "-"); ok && endsWord(word) {
		return word + hyphen
	}
	if word, ok := strings.CutPrefix(text, "-"); ok && startsWord(word) {
		return hyphen + word
	}
	return text
}

func startsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func endsWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (s *section) bracket(inner string) {
	switch {
	case strings.HasPrefix(inner, "$"): // a currency, and a locale behind the dash
		if currency, _, _ := strings.Cut(inner[1:], "-"); currency != "" {
			s.show(currency)
		}
	case strings.ContainsAny(inner, "<>="): // a condition
		s.wrong = true
	}
}

func (s *section) symbol(text string) {
	if s.holds(text) {
		return
	}
	inNumber := s.digits && !s.ended
	switch {
	case strings.Contains("0#?", text), inNumber && strings.Contains("123456789", text): // a denominator
		s.place()
	case text == ".":
		s.wrong = s.wrong || s.comma
		s.place()
	case text == "," && inNumber:
		s.comma = true
	case text == "%":
		s.wrong = true
	case text == "@", text == "/" && inNumber:
	default:
		s.show(text)
	}
}

// holds keeps a symbol that may belong to the word General or to an exponent, which stand for digits.
func (s *section) holds(text string) bool {
	const general = "general"
	before := s.held
	s.held = ""
	switch word := strings.ToLower(before + text); {
	case word == "e+", word == "e-":
		return true
	case word == general:
		s.place()
		return true
	case strings.HasPrefix(general, word), word == "e" && s.digits && !s.ended:
		s.held = before + text
		return true
	}
	if before != "" {
		s.show(before)
	}
	return false
}

// place is a place of a digit. Only spaces and the like may part it from others.
func (s *section) place() {
	s.wrong = s.wrong || strings.Trim(s.after.String(), spaces+signs) != ""
	s.after.Reset()
	s.digits, s.ended, s.comma = true, false, false
}

func (s *section) show(text string) {
	if !s.digits {
		s.before.WriteString(text)
		return
	}
	s.wrong = s.wrong || s.comma
	s.ended = true
	s.after.WriteString(text)
}

// unit returns the unit of a whole section.
func (s *section) unit() unit {
	if s.held != "" {
		s.show(s.held)
	}
	s.wrong = s.wrong || s.comma
	if !s.digits {
		return unit{}
	}
	var u unit
	if text := strings.Trim(s.before.String(), spaces+signs); tells(text) {
		u.before = strings.Clone(strings.ReplaceAll(text, hyphen, "-")) // the code is larger
		if gap := s.before.String(); strings.ContainsAny(gap[len(strings.TrimRight(gap, spaces+signs)):], spaces) {
			u.before += " "
		}
	}
	if text := strings.Trim(s.after.String(), spaces+signs); tells(text) {
		u.after = strings.Clone(strings.ReplaceAll(text, hyphen, "-"))
		if gap := s.after.String(); strings.ContainsAny(gap[:len(gap)-len(strings.TrimLeft(gap, spaces+signs))], spaces) {
			u.after = " " + u.after
		}
	}
	return u
}

// tells reports whether a text beside a number says what is counted.
func tells(text string) bool {
	return len(text) <= maxUnit && strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("°%‰", r)
	})
}

// Apply puts the unit to a number that Format returned. The text from start to end is the number, without a sign that comes
// before the unit.
func (u Units) Apply(number string) (text string, start, end int) {
	digits, negative := strings.CutPrefix(number, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(number) > maxUnit {
		return number, 0, len(number)
	}
	of, sign := u[0], ""
	switch {
	case negative:
		of = u[1]
	case number == "0":
		of = u[2]
	}
	if negative && of.before != "" && !strings.HasSuffix(of.before, " ") {
		sign, number = "-", digits
	}
	start = len(sign) + len(of.before)
	return sign + of.before + number + of.after, start, start + len(number)
}
