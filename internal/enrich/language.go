package enrich

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/RadhiFadlillah/whatlanggo"
	"golang.org/x/text/language"
)

// Unknown is the code of text whose language can't be determined (ISO 639-2: undetermined).
const Unknown = "und"

// Language is the language of a text.
type Language struct {
	Code       string  // ISO 639-1 (for example "de"), a BCP 47 tag if the document states it, or Unknown
	Confidence float64 // 0-1; zero if stated
	Stated     bool    // taken from the document's metadata, because there is too little text to detect it
	Shares     []Share // of a multilingual document, the largest first
}

// Share is how much of a document is in a language.
type Share struct {
	Language string  `json:"language"`
	Share    float64 `json:"share"` // fraction of the letters whose language is known, 0-1
}

// Undetermined is the language of a text for which none could be determined.
var Undetermined = Language{Code: Unknown}

const (
	maxSample     = 1000 // runes of a text that are examined
	minLetters    = 24   // minimum letters of an alphabet that many languages share
	minOwnScript  = 4    // minimum letters of a script of one language
	minConfidence = 0.8  // whatlanggo's threshold of "reliable"

	minForNeighbour = 0.3 // of the related language, when letters and words indicate the neighbour
)

// candidates are the languages that trigrams distinguish. More of them, in which few documents are written,
// would make these less certain, and so would related languages: see neighbours.
var candidates = whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{
	whatlanggo.Deu: true, whatlanggo.Eng: true, whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Ita: true,
	whatlanggo.Por: true,
	whatlanggo.Nld: true, whatlanggo.Dan: true, whatlanggo.Swe: true, whatlanggo.Fin: true, whatlanggo.Pol: true,
	whatlanggo.Ces: true, whatlanggo.Slv: true, whatlanggo.Hun: true, whatlanggo.Ron: true, whatlanggo.Hrv: true,
	whatlanggo.Tur: true,
	whatlanggo.Vie: true, whatlanggo.Ind: true, whatlanggo.Est: true, whatlanggo.Lav: true, whatlanggo.Lit: true,
	whatlanggo.Arb: true, whatlanggo.Pes: true, whatlanggo.Urd: true, whatlanggo.Heb: true, whatlanggo.Hin: true,
	whatlanggo.Mar: true,
	whatlanggo.Nep: true, whatlanggo.Amh: true,
}}

// Detect detects the language of a text from its first 1,000 characters. A text that is too short or too mixed
// is Undetermined, for example one of fewer than 24 letters of the Latin, Cyrillic or Arabic alphabet. The
// method is that of Cavnar and Trenkle, "N-Gram-Based Text Categorization", 1994.
func Detect(text string) Language {
	text = sampleOf(text)
	s := tally(text)
	if code := s.own(); code != "" {
		return Language{Code: code, Confidence: 1}
	}
	if s.shared < minLetters || s.shared < s.letters/2 {
		return Undetermined
	}
	if s.cyrillic > s.shared/2 {
		if code := slavic(text); code != Unknown {
			return Language{Code: code, Confidence: 1}
		}
		return Undetermined
	}
	found := closest(text, s)
	if other := neighbour(found.Code, text); other != found.Code && found.Confidence >= minForNeighbour {
		return Language{Code: other, Confidence: max(found.Confidence, minConfidence)}
	}
	if found.Confidence < minConfidence {
		return Undetermined
	}
	return found
}

// closest returns the language of candidates whose trigrams fit a text best, and of any other script that prevails in the
// text its language, as whatlanggo does.
func closest(text string, s scripts) Language {
	if s.latin > len(text)/2 { // most are such texts, and whatlanggo takes seven times as long for them
		return closestLatin(text)
	}
	found := whatlanggo.DetectWithOptions(text, candidates)
	if code := found.Lang.Iso6391(); found.Lang >= 0 && code != "" {
		return Language{Code: code, Confidence: found.Confidence}
	}
	return Undetermined
}

// sampleOf returns the start of a text without web addresses, whose words belong to no language.
func sampleOf(text string) string {
	end, n := len(text), 0
	for i := range text {
		if n++; n > maxSample {
			end = i
			break
		}
	}
	text = text[:end]
	if !strings.Contains(text, "://") && !strings.Contains(text, "@") {
		return text
	}
	words := strings.Fields(text)
	kept := words[:0]
	for _, w := range words {
		if !strings.Contains(w, "://") && !strings.Contains(w, "@") {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// stated converts a language in a document's metadata to BCP 47, or to "" if it is meaningless.
func stated(tag string) string {
	parsed, err := language.Parse(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"))
	if base, _, _ := parsed.Raw(); err != nil || base.String() == Unknown {
		return ""
	}
	switch s := parsed.String(); s {
	case "mul", "zxx", "mis": // several, none, one without a code
		return ""
	default:
		return s
	}
}

// votes collects the languages of a document's chunks.
type votes struct {
	letters  map[string]int // by language
	weighted float64        // confidence times letters
	unsure   int            // letters of chunks that are undetermined alone
	sample   strings.Builder
}

const (
	maxUnsure = 2 * maxSample // bytes of text of chunks that are undetermined alone, but may suffice together
	minKnown  = 5             // a fifth of the letters must be of a known language
)

func newVotes() votes { return votes{letters: map[string]int{}} }

func (v *votes) add(found Language, sample string) {
	n := letters(sample)
	if found.Code != Unknown {
		v.count(found, n)
		return
	}
	v.unsure += n
	if v.sample.Len()+len(sample) < maxUnsure {
		v.sample.WriteString(sample)
		v.sample.WriteByte('\n')
	}
}

func (v *votes) count(found Language, letters int) {
	v.letters[found.Code] += letters
	v.weighted += found.Confidence * float64(letters)
}

// decide returns the language of most of the text; chunks that are undetermined alone are examined together.
// Without a result it returns the stated language, which comes last because templates often state that of their
// makers.
func (v *votes) decide(declared string) Language {
	if together := Detect(v.sample.String()); together.Code != Unknown {
		v.count(together, v.unsure)
		v.unsure = 0
	}
	shares, total := sharesOf(v.letters)
	if len(shares) == 0 || total*minKnown < total+v.unsure {
		if code := stated(declared); code != "" {
			return Language{Code: code, Stated: true}
		}
		return Undetermined
	}
	found := Language{Code: shares[0].Language, Confidence: v.weighted / float64(total+v.unsure) * shares[0].Share}
	if len(shares) > 1 {
		found.Shares = shares
	}
	// A stated region or script of the same language is more precise than the language alone.
	if code := stated(declared); strings.HasPrefix(code, found.Code+"-") {
		found.Code = code
	}
	return found
}

func letters(text string) (n int) {
	for _, r := range text {
		if r >= utf8.RuneSelf && unicode.IsLetter(r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			n++
		}
	}
	return n
}
