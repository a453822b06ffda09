package pdf

import (
	"regexp"
	"unicode"
	"unicode/utf8"
)

// Chinese and Japanese are written without spaces. Some programs set Latin letters and numbers within them a quarter
// of an em apart ("autospace"), which is as wide as a space that somebody typed.

// sectionAlone matches a section's number, which a space follows.
var sectionAlone = regexp.MustCompile(`^\(?\d{1,2}(\.\d{1,2})*[.)]?$`)

// closeUp finds out whether a page's gaps next to Latin letters and numbers are made by a program: then nearly
// none of these touch Chinese. Such gaps are no spaces.
func (p *page) closeUp() {
	var gaps []int // indexes of the words after them
	touching := 0
	for i, w := range p.words {
		touching += changesWithin(w.text)
		if i == 0 || p.words[i-1].segment != w.segment {
			continue
		}
		before := p.words[i-1]
		last, _ := utf8.DecodeLastRuneInString(before.text)
		first, _ := utf8.DecodeRuneInString(w.text)
		switch gap := w.left - before.right; {
		case gap < 0.08*w.em() && (wideScript(last) || wideScript(first)):
			p.words[i].tight = true
			touching += one(changesScript(last, first))
		case (i < 2 || p.words[i-2].segment != w.segment) && sectionAlone.MatchString(before.text):
		case gap < 0.4*w.em() && changesScript(last, first):
			gaps = append(gaps, i)
		}
	}
	if len(gaps) < 3 || touching*4 > len(gaps) {
		return
	}
	for _, i := range gaps {
		p.words[i].tight = true
	}
}

// changesWithin counts where a word changes between Chinese or Japanese and Latin letters or digits.
func changesWithin(s string) (n int) {
	before := rune(0)
	for _, r := range s {
		n += one(changesScript(before, r))
		before = r
	}
	return n
}

func changesScript(a, b rune) bool {
	other := func(r rune) bool { return r < 0x250 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return wideScript(a) && other(b) || other(a) && wideScript(b)
}
