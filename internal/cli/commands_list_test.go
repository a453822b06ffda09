package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// commandList is a Markdown table of the commands that users see, with their short help.
func commandList() string {
	var b strings.Builder
	b.WriteString("| command | does |\n|---|---|\n")
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
				continue
			}
			if c.Runnable() && !c.HasSubCommands() {
				fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSuffix(strings.TrimPrefix(c.UseLine(), "async-worker "),
					" [flags]"), c.Short)
			}
			walk(c)
		}
	}
	walk((&program{}).newRootCommand())
	return b.String()
}
