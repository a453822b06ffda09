package store

import (
	"regexp"
	"strings"
)

var (
	excluded = regexp.MustCompile(`(^|[\s\p{Z}])-("[^"]*"|"?[^\s\p{Z}"]+)`)
	signed   = regexp.MustCompile(`^(-|[.,$€£¥]*[0-9])`)
)

// PositiveTerms returns a Query's text without the terms that it excludes. Its Embedding is made of these, because a
// vector can't express "not". A text that only excludes terms is returned as it is.
func PositiveTerms(text string) string {
	straight := strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "＂", `"`, "－", "-").Replace(text)
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

// PlainTerms returns a Query's text as words: nothing in it excludes, is a phrase or an alternative.
func PlainTerms(text string) string {
	words := strings.Fields(strings.NewReplacer("“", " ", "”", " ", "„", " ", "＂", " ", `"`, " ").Replace(text))
	for i, w := range words {
		if rest := strings.TrimLeft(w, "-－"); rest != w && !signed.MatchString(rest) {
			words[i] = rest
		}
		if words[i] == "OR" {
			words[i] = "or"
		}
	}
	return strings.Join(words, " ")
}
