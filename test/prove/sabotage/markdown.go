package sabotage

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Markdown is RELIABILITY.md's table of the invariants: for each one the lines that hold it, where they stand
// now, and the tests that go red without them.
func Markdown(root string) (string, error) {
	var b strings.Builder
	b.WriteString("| | promise | held by | without it | goes red |\n|---|---|---|---|---|\n")
	for _, v := range Invariants() {
		head := fmt.Sprintf("**%s** | %s", v.ID, v.Promise)
		for _, s := range All() {
			if !slices.Contains(s.Breaks, v.ID) {
				continue
			}
			p, err := s.find(root)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "| %s | [`%s`](%s#L%d) | %s | %s |\n", head, p.name, s.File, p.line, s.Name, names(s.Tests))
			head = " | "
		}
		fmt.Fprintf(&b, "| %s | *as a whole* | | %s |\n", head, names(v.Together))
	}
	return b.String(), nil
}

// names are tests, by the folder that they are written in.
func names(tests []Test) string {
	var list []string
	for i, t := range tests {
		name := "`" + t.Name + "`"
		if i == len(tests)-1 || tests[i+1].In != t.In {
			name += " (" + path.Base(t.In) + ")"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}
