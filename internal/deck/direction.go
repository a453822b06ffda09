package deck

import "golang.org/x/text/unicode/bidi"

// RightToLeft reports whether the first letter of a text is of a script that is written from right to left: letters alone
// say so, and not digits or marks (Unicode Annex 9, rule P2).
func RightToLeft(text string) bool {
	for _, r := range text {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.R, bidi.AL:
			return true
		case bidi.L:
			return false
		default:
		}
	}
	return false
}

// RightToLeft reports whether a paragraph of the style is written from right to left.
func (p *Paragraph) RightToLeft(st Style) bool {
	if p.RTL != nil {
		return *p.RTL
	}
	return st.RTL
}
