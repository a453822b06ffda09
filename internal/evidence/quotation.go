package evidence

import (
	"regexp"
	"strings"
	"unicode"
)

// longestQuotation is in bytes; what is longer than that between two marks is two marks that don't belong together.
const longestQuotation = 1000

// marks are the pairs of quotation marks. The apostrophe is none: it stands in too many words.
var marks = []*regexp.Regexp{
	regexp.MustCompile(`“([^“”„\n]+)”`),
	regexp.MustCompile(`[„‚]([^„‚“”‘\n]+)[“”‘]`),
	regexp.MustCompile(`«([^«»\n]+)»`),
	regexp.MustCompile(`»([^«»\n]+)«`),
	regexp.MustCompile(`‹([^‹›\n]+)›`),
	regexp.MustCompile(`「([^「」\n]+)」`),
	regexp.MustCompile(`『([^『』\n]+)』`),
	regexp.MustCompile(`(?:^|[\s(\[—–-])"([^"\n]+)"`),
}

// omission is where a quotation leaves something out.
var omission = regexp.MustCompile(`\s*[\[(]?(?:…|\.\.\.)[\])]?\s*`)

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

// quotes reports whether the source has a quotation.
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
