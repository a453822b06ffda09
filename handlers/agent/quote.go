package agent

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// locate finds a quote in a text, regardless of white space, Unicode form (NFKC), kinds of quotation marks and dashes,
// and invisible characters. It returns the quote as the text spells it.
func locate(text, quote string) (string, bool) {
	hay, places := plain(text)
	needle, _ := plain(quote)
	needle = strings.TrimSpace(needle)
	if strings.IndexFunc(needle, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) < 0 {
		return "", false // an empty quote
	}
	at := strings.Index(hay, needle)
	if at < 0 {
		return "", false
	}
	end := len(text)
	if at+len(needle) < len(places) {
		end = places[at+len(needle)]
	}
	return strings.TrimSpace(text[places[at]:end]), true
}

// plain is a text normalized for comparing quotes, with the position in the original of each of its bytes.
func plain(text string) (string, []int) {
	var out strings.Builder
	var places []int
	var it norm.Iter
	it.InitString(norm.NFKC, text)
	space := true // no white space at the start or after other white space
	for !it.Done() {
		from := it.Pos()
		for _, c := range string(it.Next()) {
			switch {
			case unicode.IsSpace(c):
				if space {
					continue
				}
				c = ' '
			case unicode.Is(unicode.Cf, c), unicode.IsControl(c), unicode.Is(unicode.Variation_Selector, c):
				continue
			case strings.ContainsRune("‘’‚‛′`´", c):
				c = '\''
			case strings.ContainsRune("“”„‟″«»", c):
				c = '"'
			case unicode.Is(unicode.Pd, c), c == '−':
				c = '-'
			}
			space = c == ' '
			for range utf8Len(c) {
				places = append(places, from)
			}
			out.WriteRune(c)
		}
	}
	return out.String(), places
}

func utf8Len(c rune) int { return len(string(c)) }

// marker is a reference to a citation in the text of an answer.
var marker = pattern.New(` ?\[(\d{1,3}(?:, ?\d{1,3})*)\]`)

// renumber updates the references in an answer to the citations that were kept, and removes references to others. It
// doesn't change an answer that is not a string.
func renumber(value json.RawMessage, kept map[int]int, all int) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	return quoted(marker.ReplaceAllStringFunc(text, func(m string) string {
		var to []string
		for n := range strings.SplitSeq(strings.Trim(m, " []"), ",") {
			number, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil || number < 1 || number > all {
				return m // not a reference
			}
			if now, ok := kept[number]; ok {
				to = append(to, strconv.Itoa(now))
			}
		}
		if len(to) == 0 {
			return ""
		}
		space := m[:strings.IndexByte(m, '[')]
		return space + "[" + strings.Join(to, ", ") + "]"
	}))
}
