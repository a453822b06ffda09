package config

import (
	"fmt"
	"strings"
)

// Markdown returns the table of all settings for the documents.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| setting | default | what it is |\n|---|---|---|\n")
	for _, s := range Settings() {
		def := s.DefaultText()
		if s.Unit != "" {
			def += " " + s.Unit
		}
		if s.Default != "" || strings.HasPrefix(def, "<") {
			def = "`" + def + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, def, strings.ReplaceAll(s.Help, "|", `\|`))
	}
	return b.String()
}
