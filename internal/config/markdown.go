package config

import (
	"fmt"
	"strings"
)

// Markdown returns the table of all settings for the documents.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| setting | default | a reload applies it | what it is |\n|---|---|---|---|\n")
	for _, s := range Settings() {
		def := s.DefaultText()
		if s.Unit != "" {
			def += " " + s.Unit
		}
		if s.Default != "" || strings.HasPrefix(def, "<") {
			def = "`" + def + "`"
		}
		live := ""
		if s.Live {
			live = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, def, live, strings.ReplaceAll(s.Help, "|", `\|`))
	}
	return b.String()
}
