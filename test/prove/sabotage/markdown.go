package sabotage

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Markdown is RELIABILITY.md's table of the invariants: for each one the functions that hold it, and the tests that
// fail when a line of theirs is missing.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| | promise | held by | without it | goes red |\n|---|---|---|---|---|\n")
	for _, v := range Invariants() {
		head := fmt.Sprintf("**%s** | %s", v.ID, v.Promise)
		for _, s := range All() {
			if !slices.Contains(s.Breaks, v.ID) {
				continue
			}
			fmt.Fprintf(&b, "| %s | [`%s`](%s) | %s | %s |\n", head, s.Func, s.Dir, s.Name, names(s.Tests))
			head = " | "
		}
		fmt.Fprintf(&b, "| %s | *as a whole* | | %s |\n", head, names(v.Together))
	}
	return b.String()
}

// names lists tests with the folders that define them.
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
