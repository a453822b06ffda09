package agent

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

var (
	// literal is a string in JSON. With a colon it is a key.
	literal = pattern.New(`"(?:[^"\\]|\\.)*"(?:\s*:)?`)
	// marker is a reference to citations in the text of an answer, such as [1, 3-5].
	marker = pattern.New(` ?\[\d{1,3}(?: ?[-–,;] ?\d{1,3})*\]`)
	// span is a number or a range in a marker.
	span = pattern.New(`(\d+)(?: ?([-–]) ?(\d+))?`)
)

// renumber updates the references in the texts of an answer to the citations that were kept, and removes references to
// others. kept has the new number of each, in the same order as before; all is how many citations there were.
func renumber(value json.RawMessage, kept map[int]int, all int) json.RawMessage {
	return json.RawMessage(literal.ReplaceAllStringFunc(string(value), func(s string) string {
		var text string
		if strings.HasSuffix(s, ":") || json.Unmarshal([]byte(s), &text) != nil {
			return s
		}
		now := marker.ReplaceAllStringFunc(text, func(m string) string { return renumbered(m, kept, all) })
		if now == text {
			return s
		}
		return string(quoted(now))
	}))
}

// renumbered returns a marker with the new numbers; empty: none of its citations was kept.
func renumbered(m string, kept map[int]int, all int) string {
	var to []string
	for _, part := range span.FindAllStringSubmatch(m, -1) {
		first, err := strconv.Atoi(part[1])
		last, err2 := strconv.Atoi(cmp.Or(part[3], part[1]))
		if err != nil || err2 != nil || first < 1 || last < first || last > all {
			return m // not a reference
		}
		low, high := 0, 0 // kept citations are in order, so a range stays one
		for n := first; n <= last; n++ {
			if now, ok := kept[n]; ok {
				high = now
				if low == 0 {
					low = now
				}
			}
		}
		switch low {
		case 0: // none of them was kept
		case high:
			to = append(to, strconv.Itoa(low))
		default:
			to = append(to, strconv.Itoa(low)+part[2]+strconv.Itoa(high))
		}
	}
	if len(to) == 0 {
		return ""
	}
	space, _, _ := strings.Cut(m, "[")
	return space + "[" + strings.Join(to, ", ") + "]"
}
