package numfmt

import "strings"

const (
	place     = "\x00" // of a digit in a Padding; XML can't contain it
	maxPlaces = 64     // of a Padding, with its literals, in bytes: a short cell must not become a long text
)

// marks are the characters that are shown as they are, without quotes. A fraction's slash is none of them.
const marks = `-+():!^&'~{}<>=$ `

// colors precede a section in brackets. A condition does so, too, but the section is then not that of every number.
var colors = map[string]bool{
	"black": true, "blue": true, "cyan": true, "green": true, "magenta": true, "red": true, "white": true, "yellow": true,
}

// Padding fills a number up with zeros and puts its digits between literals: a postal code, a part number.
type Padding string

// Zeros returns the padding of a format code whose first section has only zeros, at least two, and literals, for example
// 000-00-0000. It is "" for other codes.
func Zeros(code string) Padding {
	var b strings.Builder
	places := 0
	for does, text := range parts(code) {
		switch {
		case does == symbol && text == "0":
			places++
			b.WriteString(place)
		case does == literal, does == symbol && (text[0] >= 0x80 || strings.Contains(marks, text)):
			b.WriteString(text)
		case does == bracket && paints(text):
		default:
			return ""
		}
	}
	if places < 2 || b.Len() > maxPlaces {
		return ""
	}
	return Padding(b.String())
}

// paints reports whether what is in brackets is a color or a locale.
func paints(inner string) bool {
	inner = strings.ToLower(inner)
	return strings.HasPrefix(inner, "$") || strings.HasPrefix(inner, "color") || colors[inner]
}

// Apply pads a number that Format returned, if it is whole. The sign precedes everything, and the first place takes the
// digits that have no other, as in Excel.
func (p Padding) Apply(number string) string {
	digits, negative := strings.CutPrefix(number, "-")
	if p == "" || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return number
	}
	places := strings.Count(string(p), place)
	digits = strings.Repeat("0", max(0, places-len(digits))) + digits
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	next := len(digits) - places + 1 // digits at the first place
	for i, part := range strings.Split(string(p), place) {
		if i > 0 {
			b.WriteString(digits[:next])
			digits, next = digits[next:], 1
		}
		b.WriteString(part)
	}
	return strings.TrimSpace(b.String())
}
