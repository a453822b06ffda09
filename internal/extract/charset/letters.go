package charset

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// western are the letters beyond ASCII of the languages that windows-1252 has. Each text of some length has one of the
// first in each line.
var western = []struct{ common, others string }{
	{"äü", "ößé"},              // German
	{french, "âæçèêëîïôœùûüÿ"}, // French
	{"ëé", "àáâäèêíïóôöûüç"},   // Dutch, Afrikaans, Albanian, Luxembourgish
	{"óíáà", "éúñüªºèòïç"},     // Spanish, Catalan, Galician, Irish
	{"ãç", "áâàéêíóôõúªº"},     // Portuguese
	{"àèìò", "éíîóùú"},         // Italian, Scottish Gaelic
	{"åäø", "öæéüðþšž"},        // Swedish, Finnish, Danish, Norwegian
	{"êô", "âîûàèéìòùçïëöä"},   // Friulian, Welsh
	{"äõ", "öüšž"},             // Estonian
	{"áí", "éóúýþæöðø"},        // Icelandic, Faroese
}

// alphabet are the letters beyond ASCII of a language, and the encoding in which its old files are.
type alphabet struct {
	name    Name
	table   *charmap.Charmap
	letters string
}

// alphabets are those that windows-1252 doesn't have, the first of equal ones counts.
var alphabets = []alphabet{
	{"windows-1250", charmap.Windows1250, polish},
	{"iso-8859-2", charmap.ISO8859_2, polish},
	{"windows-1250", charmap.Windows1250, czech},
	{"iso-8859-2", charmap.ISO8859_2, czech},
	{"windows-1250", charmap.Windows1250, slovak},
	{"iso-8859-2", charmap.ISO8859_2, slovak},
	{"windows-1250", charmap.Windows1250, hungarian},
	{"iso-8859-2", charmap.ISO8859_2, hungarian},
	{"windows-1250", charmap.Windows1250, romanian},
	{"iso-8859-2", charmap.ISO8859_2, romanian},
	{"windows-1250", charmap.Windows1250, croatian},
	{"iso-8859-2", charmap.ISO8859_2, croatian},
	{"windows-1257", charmap.Windows1257, lithuanian},
	{"windows-1257", charmap.Windows1257, latvian},
	{"windows-1254", charmap.Windows1254, turkish},
	{"windows-1256", charmap.Windows1256, arabic},
}

const (
	french     = "éà" // the common ones
	polish     = "ąćęłńóśźż"
	czech      = "áčďéěíňóřšťúůýž"
	slovak     = "áäčďéíĺľňóôŕšťúýž"
	hungarian  = "áéíóöőúüű"
	romanian   = "ăâîşţ"
	croatian   = "čćđšž" // and Slovenian, Bosnian
	turkish    = "çğıİöşüâîû"
	lithuanian = "ąčęėįšųūž"
	latvian    = "āčēģīķļņōŗšūž"
	arabic     = "ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىيپچژگکہھےںڑڈٹًٌٍَُِّْ" // and Persian
)

const (
	fewOddities = 3  // bytes that don't fit: less are not judged
	oddShare    = 25 // at least one in this many doesn't fit windows-1252
	fewKinds    = 2  // different letters that windows-1252 doesn't have: less are not judged
	someLetters = 12 // bytes that have one of the common letters of their language
	strayShare  = 50 // and at most one in this many fits no letter of the alphabet
)

// high are the bytes beyond ASCII that are in words, by their number.
type high struct {
	near    [256]int // beside a letter or another byte beyond ASCII
	between [256]int // between two of them
	all     int      // near
	runs    int      // of them in a run of three or more

	// æ, and ç that is not before a, o or u: hardly French, but what č, ć and ē of other encodings are in windows-1252
	noFrench int
}

// highBytes counts the bytes beyond ASCII of a text.
func highBytes(text []byte) *high {
	h, run := &high{}, 0
	for i, b := range text {
		if b < 0x80 {
			run = 0
			continue
		}
		before, after := i > 0 && inWord(text[i-1]), i+1 < len(text) && inWord(text[i+1])
		if !before && !after {
			continue
		}
		h.near[b]++
		h.all++
		if r := unicode.ToLower(charmap.Windows1252.DecodeByte(b)); r == 'æ' ||
			r == 'ç' && (i+1 == len(text) || text[i+1] < 0x80 && !strings.ContainsRune("aouAOU", rune(text[i+1]))) {
			h.noFrench++
		}
		if before && after {
			h.between[b]++
		}
		if r := charmap.Windows1252.DecodeByte(b); r != unicode.ReplacementChar && !unicode.IsLetter(r) && between(r) {
			run = 0 // blanks, dashes and bullets, in any number
			continue
		}
		switch run++; {
		case run == 3:
			h.runs += 3
		case run > 3:
			h.runs++
		}
	}
	return h
}

func inWord(b byte) bool { return b >= 0x80 || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// fit counts the bytes that are letters of the alphabet, and those that are not: other letters, and symbols within a word.
// What is beside a word doesn't count.
func (h *high) fit(table *charmap.Charmap, letters string) (fits, strays int) {
	for b := 0x80; b < 0x100; b++ {
		if h.near[b] == 0 {
			continue
		}
		switch r := table.DecodeByte(byte(b)); {
		case strings.ContainsRune(letters, r) || strings.ContainsRune(letters, unicode.ToLower(r)):
			fits += h.near[b]
		case unicode.IsLetter(r) && !strings.ContainsRune("ªºµƒˆ", r):
			strays += h.near[b]
		case !joins(r):
			strays += h.between[b]
		}
	}
	return fits, strays
}

// between reports whether a character is found between words, in rows: a blank, a dash, a dot.
func between(r rune) bool { return joins(r) || strings.ContainsRune("•", r) }

// joins reports whether a character is found between the letters of a word, or of two.
func joins(r rune) bool {
	return strings.ContainsRune("’‘´–—…·«»،؛؟\u00A0\u00AD\u200C\u200D\u200E\u200F", r)
}

// byLetters returns the encoding of a text in Latin or Arabic letters that windows-1252 doesn't have: all its letters are
// those of one language, and they are of no language that windows-1252 has. It returns "" if it can't tell.
func byLetters(h *high) Name {
	if h.isWestern() {
		return ""
	}
	var best Name
	most := 0
	for _, a := range alphabets {
		fits, strays := h.fit(a.table, a.letters)
		if strays*strayShare > fits || fits <= most || h.kinds(a.table, a.letters) < fewKinds {
			continue
		}
		if a.letters == arabic && !h.foreign() {
			continue
		}
		best, most = a.name, fits
	}
	return best
}

// isWestern reports whether all but a few letters are those of a language that windows-1252 has.
func (h *high) isWestern() bool {
	for _, language := range western {
		fits, strays := h.fit(charmap.Windows1252, language.common+language.others)
		if strays >= fewOddities && strays*oddShare >= fits+strays {
			continue
		}
		if common, _ := h.fit(charmap.Windows1252, language.common); common > 0 || fits+strays < someLetters {
			return true
		}
		// A list of names may have none of the common letters: Benoît, François.
		if language.common == french && strays*strayShare <= fits && h.noFrench == 0 {
			return true
		}
	}
	return false
}

// kinds returns how many different letters of the alphabet a text has that are something else in windows-1252. One, however
// often, says nothing: the ñ of a name in a text without other such letters is a Polish ń.
func (h *high) kinds(table *charmap.Charmap, letters string) int {
	kinds := map[rune]bool{}
	for b := 0x80; b < 0x100; b++ {
		r := table.DecodeByte(byte(b))
		if h.near[b] > 0 && r != charmap.Windows1252.DecodeByte(byte(b)) &&
			(strings.ContainsRune(letters, r) || strings.ContainsRune(letters, unicode.ToLower(r))) {
			kinds[unicode.ToLower(r)] = true
		}
	}
	return len(kinds)
}

// foreign reports whether whole words are beyond ASCII, as in no language of Latin letters.
func (h *high) foreign() bool { return h.runs >= 2*fewOddities && h.runs*3 >= h.all*2 }

// doubtful reports whether a text is probably not windows-1252, though in which encoding it is isn't known: whole words are
// beyond ASCII, or symbols are within words.
func (h *high) doubtful() bool {
	symbols := 0
	for b := 0x80; b < 0x100; b++ {
		if r := charmap.Windows1252.DecodeByte(byte(b)); !unicode.IsLetter(r) && !between(r) {
			symbols += h.between[b]
		}
	}
	return h.foreign() || symbols >= fewOddities && symbols*strayShare >= h.all
}

// Doubt is a warning about a text that Open read as windows-1252 because it found no other encoding.
const Doubt = "the encoding of the text is not known, and it was read as windows-1252: save it as UTF-8"

func (t *tally) judge() (name Name, doubtful bool) {
	if t.invalid == 0 || t.multibyte > 10*t.invalid {
		return UTF8, false
	}
	if name, _ := Detect(t.sample); name != "" {
		return name, false
	}
	h := highBytes(t.sample)
	if name := byLetters(h); name != "" {
		return name, false
	}
	return Windows1252, h.doubtful()
}
