package scan

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plausibility returns how much words look like those of a language, 0-1, or 1 if there are too few
// letters to tell. It knows no particular language, only what the words of all languages have in common, and
// what text with wrongly named or poorly recognized characters lacks:
//
//   - a word uses one script, and its capitals are at its start, or it is all capitals
//   - digits don't occur between letters, nor do characters other than hyphens and apostrophes
//   - alphabets have vowels every few letters: in Latin, Greek and Cyrillic about two of five
//   - text in an alphabet doesn't consist of single letters
func plausibility(words []string) float64 {
	var t tally
	for _, w := range words {
		t.add(w)
	}
	if t.letters < fewLetters {
		return 1
	}
	odd := t.odd / math.Max(t.weight, 1)
	// Vowels: natural text has 0.3 and more; tables of abbreviations may go down to vowelsLeast.
	if t.alphabetic >= enoughVowels {
		share := float64(t.vowels) / float64(t.alphabetic)
		odd += max(0, (vowelsLeast-share)/vowelsLeast)
		odd += max(0, (share-vowelsMost)/(1-vowelsMost))
	}
	if t.latin >= enoughVowels {
		odd += max(0, (t.surprise/float64(t.latin)-surpriseMost)/surpriseRange)
	}
	// Natural text has at most one single letter in four words; letterspaced text has little else.
	if single := float64(t.single) / math.Max(float64(t.alphabets), 1); t.alphabets >= 20 && single > 0.4 {
		odd += single - 0.4
	}
	return math.Max(0, 1-odd)
}

const (
	// too few letters to tell a language's words from other characters
	fewLetters   = 20
	enoughVowels = 60 // letters from which their frequencies are meaningful
	vowelsLeast  = 0.25
	vowelsMost   = 0.65
	// surpriseMost is the maximum information of a Latin letter in bits: English has 4.2, Polish 4.6, nonsense
	// 5.4 and more.
	surpriseMost  = 4.9
	surpriseRange = 0.8
	longRun       = 6 // consonants in a row; "Angstschweiß" has eight, but hardly any other word does
)

// tally counts words and letters.
type tally struct {
	letters            int
	weight, odd        float64 // of the words with letters; long ones count more
	alphabetic, vowels int     // letters of Latin, Greek and Cyrillic, and the vowels among them
	alphabets, single  int     // words of these scripts, and those of one letter
	latin              int     // Latin letters
	surprise           float64 // their information in bits
}

func (t *tally) add(w string) {
	shape := shapeOf(w)
	n := letterCount(w) + shape.garbage
	if n == 0 {
		return
	}
	t.letters += n
	weight := math.Sqrt(float64(n))
	t.weight += weight
	t.surprise += shape.surprise
	t.latin += shape.latin
	if shape.odd() {
		t.odd += weight
	}
	if shape.vowels+shape.consonants > 0 {
		t.alphabets++
		if n == 1 && utf8.RuneCountInString(w) == 1 {
			t.single++
		}
	}
	t.vowels += shape.vowels
	t.alphabetic += shape.vowels + shape.consonants
}

func letterCount(w string) int {
	n := 0
	for _, r := range w {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// shape is the language-independent form of a word.
type shape struct {
	vowels, consonants int
	run                int // the longest run of consonants
	lower, upper       int
	scripts            int
	caseBreaks         int // an upper-case letter after a lower-case one
	digitBreaks        int // a digit between letters
	markBreaks         int // a character between letters that occurs in no word
	garbage            int
	latin              int     // Latin letters
	surprise           float64 // their information in bits
	technical          bool    // an address, a path, a program identifier
}

// odd reports whether hardly any language has such a word.
func (s shape) odd() bool {
	switch {
	case s.garbage > 0, s.scripts > 1:
		return true
	case s.technical:
		return false
	case s.digitBreaks > 0 && s.lower > 0, s.markBreaks > 0, s.caseBreaks > 1:
		return true
	case s.run >= longRun && s.lower > 0:
		return true
	}
	// Without a vowel it is an abbreviation if it is all capitals or short.
	return s.vowels == 0 && s.consonants >= 5 && s.lower > 0
}

func shapeOf(w string) shape {
	w = strings.TrimFunc(w, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !isGarbage(r)
	})
	s := shape{technical: strings.ContainsAny(w, "@/\\_.:=#&()[]{}<>+*|$%") && strings.Count(w, "�") == 0}
	var script *unicode.RangeTable
	var before rune
	run := 0
	runes := []rune(w)
	for i, r := range runes {
		switch {
		case isGarbage(r):
			s.garbage++
		case unicode.IsLetter(r):
			if plain := unicode.ToLower(plainLetter(r)); plain >= 'a' && plain <= 'z' {
				s.latin++
				s.surprise += bits(plain)
			}
			if t := scriptOf(r); t != nil && t != script {
				script = t
				s.scripts++
			}
			if unicode.IsUpper(r) {
				s.upper++
				if unicode.IsLower(before) {
					s.caseBreaks++
				}
			} else if unicode.IsLower(r) {
				s.lower++
			}
			switch vowel(r) {
			case isVowel:
				s.vowels++
				run = 0
			case isConsonant:
				s.consonants++
				run++
				s.run = max(s.run, run)
			}
		case between(runes, i) && unicode.IsDigit(r):
			s.digitBreaks++
		case between(runes, i) && !strings.ContainsRune("-'’‘ʼ`´·\u00ad\u2010\u2011–—,;", r) && !unicode.IsMark(r):
			s.markBreaks++
		default:
			run = 0
		}
		before = r
	}
	return s
}

// between reports whether rune i is between two letters of alphabets with vowels.
func between(runes []rune, i int) bool {
	return i > 0 && i+1 < len(runes) && vowel(runes[i-1]) != noSound && vowel(runes[i+1]) != noSound
}

// isGarbage reports whether a character replaces one that could not be named.
func isGarbage(r rune) bool {
	return r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.Is(unicode.Co, r)
}

// scripts are those that are never mixed in a word; scripts that are mixed (Han with Kana) are omitted.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Thai, unicode.Hangul,
	unicode.Armenian, unicode.Georgian, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Ethiopic,
}

// scriptOf returns the script of a letter, or nil if words may mix it (as Greek, in formulas and units).
func scriptOf(r rune) *unicode.RangeTable {
	if r < 0x250 {
		if r == 'µ' || r == 'ª' || r == 'º' {
			return nil
		}
		return unicode.Latin
	}
	for _, t := range scripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	return nil
}

// bits returns the information of a letter from a to z by its frequency: rounded means over English, German,
// French, Spanish, Italian, Portuguese, Dutch, Polish and Turkish.
func bits(letter rune) float64 {
	perMille := [...]float64{
		90, 16, 33, 42, 130, 12, 18, 25, 80, 7, 19, 45, 30, // a-m
		75, 75, 24, 4, 65, 65, 62, 42, 15, 15, 3, 15, 14, // n-z
	}
	return -math.Log2(perMille[letter-'a'] / 1000)
}

type sound int

const (
	noSound sound = iota
	isVowel
	isConsonant
)

// vowels of the alphabets that write all of them, without accents.
const vowels = "aeiouyæøœıαεηιουωаеёиоуыэюяіїєўѣ"

// vowel classifies a letter as vowel or consonant, or neither in scripts that don't write vowels as letters.
func vowel(r rune) sound {
	r = unicode.ToLower(plainLetter(r))
	switch {
	case strings.ContainsRune(vowels, r):
		return isVowel
	case unicode.Is(unicode.Latin, r), unicode.Is(unicode.Greek, r), unicode.Is(unicode.Cyrillic, r):
		return isConsonant
	}
	return noSound
}
