package store

import (
	"regexp"
	"strings"
)

var (
	excluded = regexp.MustCompile(`(^|\s)-("[^"]*"|"?[^\s"]+)`)
	signed   = regexp.MustCompile(`^(-|[.,$€£¥]*[0-9])`)
)

// PositiveTerms is a Query's text without what it excludes: what to make its Embedding of, since a vector knows no "not". Of a
// text that only excludes it is the text.
func PositiveTerms(text string) string {
	straight := strings.NewReplacer("“", `"`, "”", `"`, "„", `"`).Replace(text)
	asked := excluded.ReplaceAllStringFunc(straight, func(part string) string {
		if signed.MatchString(strings.TrimSpace(part)[1:]) {
			return part
		}
		return " "
	})
	if asked = strings.TrimSpace(asked); asked == "" || asked == strings.TrimSpace(straight) {
		return text
	}
	return asked
}
