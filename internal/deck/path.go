package deck

import (
	"strconv"
	"strings"
)

// Command is a part of a Path.
type Command struct {
	Letter byte // M, L, C or Z
	Points []int64
}

// Parse returns the commands of a path, up to the first that is not one.
func (p Path) Parse() []Command {
	words := strings.Fields(p.Commands)
	var out []Command
	for len(words) > 0 {
		n, known := map[string]int{"M": 2, "L": 2, "C": 6, "Z": 0}[words[0]]
		if !known || len(words) <= n {
			return out
		}
		c := Command{Letter: words[0][0]}
		for _, word := range words[1 : n+1] {
			v, err := strconv.ParseInt(word, 10, 64)
			if err != nil || outside(v) {
				return out
			}
			c.Points = append(c.Points, v)
		}
		out = append(out, c)
		words = words[n+1:]
	}
	return out
}
