package enrich

import (
	"strings"
	"unicode"
)

// cyrillic lists the languages of that alphabet, distinguished by letters that only some have. Trigrams often
// confuse related languages.
var cyrillic = []struct {
	code string
	own  string // letters that indicate it
	not  string // letters that it lacks
}{
	{"ru", "ыэё", "іїєґўђјљњћџѓѕќ"},
	{"uk", "іїєґ", "ыэёъўђјљњћџѓѕќ"},
	{"be", "ўі", "иїєґъщђјљњћџѓѕќ"},
	{"bg", "ъ", "ыэёіїєґўђјљњћџѓѕќ"},
	{"sr", "ђћјљњџ", "щъьюяйыэёіїєґўѓѕќ"},
	{"mk", "ѓќѕјљњџ", "щъьюяйыэёіїєґўђћ"},
}

// others are letters of languages that are not distinguished: Kazakh, Kyrgyz, Mongolian, Tatar and more.
const others = "әғқңөұүһҳҷӣӯҫҙҡҥӑӗӳ"

// notWeight is how much a letter that a language lacks counts against it: a foreign name has one or two.
const notWeight = 3

// slavic returns the language of a text in Cyrillic, or Unknown if two fit equally well.
func slavic(text string) string {
	scores := make([]int, len(cyrillic))
	letters, foreign := 0, 0
	for _, r := range strings.ToLower(text) {
		if !unicode.Is(unicode.Cyrillic, r) {
			continue
		}
		letters++
		if strings.ContainsRune(others, r) {
			foreign++
		}
		for i, l := range cyrillic {
			switch {
			case strings.ContainsRune(l.own, r):
				scores[i]++
			case strings.ContainsRune(l.not, r):
				scores[i] -= notWeight
			}
		}
	}
	best, second, code := 0, 0, Unknown
	for i, s := range scores {
		switch {
		case s > best:
			best, second, code = s, best, cyrillic[i].code
		case s > second:
			second = s
		}
	}
	if best == second || foreign*100 > letters { // more than a hundredth
		return Unknown
	}
	return code
}
