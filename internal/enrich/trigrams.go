package enrich

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// trigramLists has a line for each of the candidates with Latin letters: its code, and its 300 most frequent trigrams, the
// most frequent first, with _ for a space. TestTrigrams makes the file.
//
//go:embed trigrams.txt
var trigramLists string

// listed is the number of trigrams of each language.
const listed = 300

// trigram is three characters of 21 bits.
type trigram uint64

func (t trigram) with(r rune) trigram { return (t<<21 | trigram(r)) & (1<<63 - 1) }

// place is that of a trigram in a language's list.
type place struct {
	language uint8
	weight   uint16 // listed for the most frequent one, 1 for the last
}

// profiles are the lists, by trigram.
type profiles struct {
	languages []string
	numbers   map[trigram]int // into places
	places    [][]place
}

var loadProfiles = sync.OnceValue(func() *profiles {
	p := &profiles{numbers: map[trigram]int{}}
	for line := range strings.Lines(trigramLists) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		for i, text := range fields[1:] {
			var t trigram
			for _, r := range strings.ReplaceAll(text, "_", " ") {
				t = t.with(r)
			}
			n, ok := p.numbers[t]
			if !ok {
				n = len(p.places)
				p.numbers[t], p.places = n, append(p.places, nil)
			}
			p.places[n] = append(p.places[n], place{uint8(len(p.languages)), uint16(listed - i)})
		}
		p.languages = append(p.languages, fields[0])
	}
	return p
})

// likeness is how much of a language's list a text has.
type likeness struct {
	language string
	score    int // the sum of the weights of the text's trigrams
	trigrams int // of the list that the text has
}

// compare returns the likenesses of a text to the languages, the greatest first.
func (p *profiles) compare(text string) []likeness {
	all := make([]likeness, len(p.languages))
	for i, l := range p.languages {
		all[i].language = l
	}
	seen := make([]bool, len(p.places))
	before, last, t := ' ', ' ', trigram(0).with(' ').with(' ')
	add := func(r rune) {
		t = t.with(r)
		within := last != ' ' || before != ' ' && r != ' '
		before, last = last, r
		n, ok := p.numbers[t]
		if !ok || !within {
			return
		}
		for _, at := range p.places[n] {
			all[at.language].score += int(at.weight)
			if !seen[n] {
				all[at.language].trigrams++
			}
		}
		seen[n] = true
	}
	for _, r := range text {
		add(letterOf(r))
	}
	add(' ')
	slices.SortStableFunc(all, func(a, b likeness) int { return cmp.Compare(b.score, a.score) })
	return all
}

// letterOf is a character as trigrams have it: in lower case, or a space for a digit or sign.
func letterOf(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r
	case unicode.IsSymbol(r) || unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsDigit(r):
		return ' '
	}
	return unicode.ToLower(r)
}

// closestLatin is whatlanggo's DetectWithOptions(text, candidates) for a text that is mostly in Latin letters. The library
// looks up each list in the text, and this looks up the text in the lists. Of languages that fit equally the library
// takes one by chance, with confidence 0.
func closestLatin(text string) Language {
	all := loadProfiles().compare(text)
	first, second := all[0], float64(all[1].score)
	switch {
	case first.score == 0:
		return Undetermined
	case second == 0:
		return Language{Code: first.language, Confidence: min(1, float64(first.score/500))}
	}
	// The more the first is ahead for the number of its trigrams, the surer. The numbers are from experiments of whatlanggo's.
	ahead, sure := (float64(first.score)-second)/second, 12/float64(first.trigrams)+0.05
	return Language{Code: first.language, Confidence: math.Round(min(1, ahead/sure)*100) / 100}
}
