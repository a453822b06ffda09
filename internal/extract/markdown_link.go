package extract

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

var (
	// destination escapes what ends a link's destination in angle-free form (CommonMark 6.3), or a cell.
	destination = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C",
		"|", "%7C", "`", "%60", "\"", "%22", "[", "%5B", "]", "%5D")
	entity = pattern.New(`&(#?\w+;)`)
)

// linked escapes a text and writes its links as [text](target).
func linked(text string, links []Link) string {
	if len(links) == 0 {
		return escape(text)
	}
	var b strings.Builder
	at := 0
	for _, l := range links {
		if l.Start < at || l.End > len(text) || l.Start >= l.End { // of a text that was changed since
			continue
		}
		before := escape(text[at:l.Start])
		if plain, ok := strings.CutSuffix(before, "!"); ok { // or it would be a picture
			before = plain + `\!`
		}
		b.WriteString(before + "[" + escape(text[l.Start:l.End]) + "](")
		b.WriteString(entity.ReplaceAllString(destination.Replace(l.Target), "&amp;$1") + ")")
		at = l.End
	}
	b.WriteString(escape(text[at:]))
	return b.String()
}
