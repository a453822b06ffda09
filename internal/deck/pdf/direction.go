package pdf

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/bidi"
)

// hasRTL reports whether a text has a letter of a script that is written from right to left.
func hasRTL(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		c := p.Class()
		return c == bidi.R || c == bidi.AL
	}) >= 0
}

// visual is a text in the order in which it is drawn from the left (Unicode Annex 9), with its letters joined. rtl: its
// paragraph is written from right to left.
func visual(text string, rtl bool) string {
	if !hasRTL(text) {
		return text
	}
	text = shape(text)
	base := "\u200e" // the library takes the direction from the first letter, or from such a mark
	if rtl {
		base = "\u200f"
	}
	var p bidi.Paragraph
	if _, err := p.SetString(base + text); err != nil {
		return text
	}
	order, err := p.Order()
	if err != nil {
		return text
	}
	runs := make([]bidi.Run, order.NumRuns())
	for i := range runs {
		runs[i] = order.Run(i)
	}
	// The library returns runs in the order of the text. In a paragraph from right to left all change places (rule L2);
	// else those of a sequence from right to left, with the numbers in and behind it.
	for begin := 0; begin < len(runs); begin++ {
		end := begin
		for end < len(runs) && (rtl || runs[end].Direction() == bidi.RightToLeft || end > begin && numeric(runs[end].String())) {
			end++
		}
		slices.Reverse(runs[begin:end])
		begin = max(begin, end-1)
	}
	var out strings.Builder
	for _, run := range runs {
		if run.Direction() == bidi.RightToLeft {
			out.WriteString(bidi.ReverseString(run.String()))
			continue
		}
		out.WriteString(run.String())
	}
	return strings.ReplaceAll(out.String(), base, "")
}

// numeric reports whether a run from left to right is a number: it is between letters from right to left then.
func numeric(text string) bool {
	digits := false
	for _, r := range text {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.L:
			return false
		case bidi.EN, bidi.AN:
			digits = true
		default:
		}
	}
	return digits
}

// joining are the presentation forms of Arabic letters (Unicode, Arabic Presentation Forms-B), by letter: isolated,
// final, initial, medial. Those of two forms don't join the letter behind them.
var joining = map[rune][]rune{
	'ء': {0xFE80}, 'آ': {0xFE81, 0xFE82}, 'أ': {0xFE83, 0xFE84}, 'ؤ': {0xFE85, 0xFE86}, 'إ': {0xFE87, 0xFE88},
	'ئ': {0xFE89, 0xFE8A, 0xFE8B, 0xFE8C}, 'ا': {0xFE8D, 0xFE8E}, 'ب': {0xFE8F, 0xFE90, 0xFE91, 0xFE92},
	'ة': {0xFE93, 0xFE94}, 'ت': {0xFE95, 0xFE96, 0xFE97, 0xFE98}, 'ث': {0xFE99, 0xFE9A, 0xFE9B, 0xFE9C},
	'ج': {0xFE9D, 0xFE9E, 0xFE9F, 0xFEA0}, 'ح': {0xFEA1, 0xFEA2, 0xFEA3, 0xFEA4}, 'خ': {0xFEA5, 0xFEA6, 0xFEA7, 0xFEA8},
	'د': {0xFEA9, 0xFEAA}, 'ذ': {0xFEAB, 0xFEAC}, 'ر': {0xFEAD, 0xFEAE}, 'ز': {0xFEAF, 0xFEB0},
	'س': {0xFEB1, 0xFEB2, 0xFEB3, 0xFEB4}, 'ش': {0xFEB5, 0xFEB6, 0xFEB7, 0xFEB8}, 'ص': {0xFEB9, 0xFEBA, 0xFEBB, 0xFEBC},
	'ض': {0xFEBD, 0xFEBE, 0xFEBF, 0xFEC0}, 'ط': {0xFEC1, 0xFEC2, 0xFEC3, 0xFEC4}, 'ظ': {0xFEC5, 0xFEC6, 0xFEC7, 0xFEC8},
	'ع': {0xFEC9, 0xFECA, 0xFECB, 0xFECC}, 'غ': {0xFECD, 0xFECE, 0xFECF, 0xFED0}, 'ـ': {'ـ', 'ـ', 'ـ', 'ـ'},
	'ف': {0xFED1, 0xFED2, 0xFED3, 0xFED4}, 'ق': {0xFED5, 0xFED6, 0xFED7, 0xFED8}, 'ك': {0xFED9, 0xFEDA, 0xFEDB, 0xFEDC},
	'ل': {0xFEDD, 0xFEDE, 0xFEDF, 0xFEE0}, 'م': {0xFEE1, 0xFEE2, 0xFEE3, 0xFEE4}, 'ن': {0xFEE5, 0xFEE6, 0xFEE7, 0xFEE8},
	'ه': {0xFEE9, 0xFEEA, 0xFEEB, 0xFEEC}, 'و': {0xFEED, 0xFEEE}, 'ى': {0xFEEF, 0xFEF0}, 'ي': {0xFEF1, 0xFEF2, 0xFEF3, 0xFEF4},
	'پ': {0xFB56, 0xFB57, 0xFB58, 0xFB59}, 'چ': {0xFB7A, 0xFB7B, 0xFB7C, 0xFB7D}, 'ژ': {0xFB8A, 0xFB8B},
	'ک': {0xFB8E, 0xFB8F, 0xFB90, 0xFB91}, 'گ': {0xFB92, 0xFB93, 0xFB94, 0xFB95}, 'ی': {0xFBFC, 0xFBFD, 0xFBFE, 0xFBFF},
}

// lamAlef are the ligatures of lam and the letters behind it: isolated, final.
var lamAlef = map[rune][2]rune{'آ': {0xFEF5, 0xFEF6}, 'أ': {0xFEF7, 0xFEF8}, 'إ': {0xFEF9, 0xFEFA}, 'ا': {0xFEFB, 0xFEFC}}

// shape replaces Arabic letters by their joined forms. Marks above and below don't part letters.
func shape(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return joining[r] != nil }) < 0 {
		return text
	}
	letters := []rune(text)
	out := make([]rune, 0, len(letters))
	joined := false // the letter before joins this one
	for i := 0; i < len(letters); i++ {
		forms := joining[letters[i]]
		if forms == nil {
			if !mark(letters[i]) {
				joined = false
			}
			out = append(out, letters[i])
			continue
		}
		if letters[i] == 'ل' && i+1 < len(letters) {
			if both, ok := lamAlef[letters[i+1]]; ok {
				form := both[0]
				if joined {
					form = both[1]
				}
				out = append(out, form)
				joined = false
				i++
				continue
			}
		}
		next := i + 1
		for next < len(letters) && mark(letters[next]) {
			next++
		}
		joins := len(forms) == 4 && next < len(letters) && len(joining[letters[next]]) > 1
		form := 0
		switch {
		case joined && joins:
			form = 3
		case joins:
			form = 2
		case joined && len(forms) > 1:
			form = 1
		}
		out = append(out, forms[form])
		joined = joins
	}
	return string(out)
}

// mark reports whether a character is a mark of Arabic, such as a vowel.
func mark(r rune) bool { return r >= 0x064B && r <= 0x065F || r == 0x0670 }
