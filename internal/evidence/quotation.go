package evidence

import (
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// longestQuotation is in bytes; a longer text is between two marks that don't belong together.
const longestQuotation = 1000

// marks match the pairs of quotation marks. The apostrophe is excluded, because it occurs in too many words.
var marks = []*pattern.Pattern{
	pattern.New(`“([^“”„\n]+)”`),
	pattern.New(`[„‚]([^„‚“”‘\n]+)[“”‘]`),
	pattern.New(`«([^«»\n]+)»`),
	pattern.New(`»([^«»\n]+)«`),
	pattern.New(`‹([^‹›\n]+)›`),
	pattern.New(`「([^「」\n]+)」`),
	pattern.New(`『([^『』\n]+)』`),
	pattern.New(`(?:^|[\s(\[—–-])"([^"\n]+)"`),
}

// omission matches the mark of an omission in a quotation.
var omission = pattern.New(`\s*[\[(]?(?:…|\.\.\.)[\])]?\s*`)

// quotations returns the text between quotation marks.
func quotations(text string) []string {
	var all []string
	for _, pair := range marks {
		for _, m := range pair.FindAllStringSubmatch(text, -1) {
			if len(m[1]) <= longestQuotation && strings.ContainsFunc(m[1], unicode.IsLetter) {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// quotes reports whether the source contains a quotation.
func (s *Source) quotes(q string) bool {
	rest := s.words
	for _, part := range omission.Split(q, -1) {
		words := plain(part)
		at := strings.Index(rest, words)
		if at < 0 {
			return false
		}
		rest = rest[at+len(words):]
	}
	return true
}
