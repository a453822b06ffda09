package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commandList is a Markdown table of the commands that users see, with their short help.
func commandList() string {
	var b strings.Builder
	b.WriteString("| command | does |\n|---|---|\n")
	for _, c := range leaves((&program{}).newRootCommand("")) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSuffix(strings.TrimPrefix(c.UseLine(), "async-worker "),
			" [flags]"), c.Short)
	}
	return b.String()
}

// leaves are the commands below one that users see and that do something themselves.
func leaves(cmd *cobra.Command) (found []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		if c.Runnable() && !c.HasSubCommands() {
			found = append(found, c)
		}
		found = append(found, leaves(c)...)
	}
	return found
}

// A command is found by the name it is made under, and it is then the only one that is made, with the same help.
func TestOneCommandIsMade(t *testing.T) {
	t.Parallel()
	p := &program{}
	all := p.newRootCommand("")
	for _, c := range p.commands() {
		if got := p.named([]string{c.name, "--help"}); got != c.name {
			t.Errorf("%s: the command %q is made for it", c.name, got)
		}
		one := p.newRootCommand(c.name)
		alone, _, err := one.Find([]string{c.name})
		if err != nil || alone.Name() != c.name {
			t.Errorf("%s: found %q, %v", c.name, alone.Name(), err)
			continue
		}
		for _, other := range one.Commands() {
			if name := other.Name(); name != c.name && name != "help" && name != "completion" {
				t.Errorf("%s: %s is made too", c.name, name)
			}
		}
		among, _, err := all.Find([]string{c.name})
		if err != nil || usage(alone, helpWidth) != usage(among, helpWidth) {
			t.Errorf("%s: its help is another one than among all commands (%v)", c.name, err)
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"help", "run"}, {"__complete", "run", ""}, {"rnu"}} {
		if got := p.named(args); got != "" {
			t.Errorf("%q: only %s is made", args, got)
		}
	}
}
