package cli

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// Help says in a whole sentence that further settings are flags.
func TestHelpOfHiddenSettings(t *testing.T) {
	t.Parallel()
	r := invoke(t, app.Tenant{}, nil, "", "enqueue", "--help")
	r.want(t, exitOK, "This command also takes ", " settings as flags; async-worker run --help lists them.")
	if strings.Contains(r.out, "more settings are") {
		t.Error(r.out)
	}
}

// A command in a message is not broken between its words, and the line that it moves to stays within the width.
func TestWrappedCommands(t *testing.T) {
	t.Parallel()
	for n := range 80 {
		var b strings.Builder
		printWrapped(&b, "  what to do: ", strings.Repeat("x ", n)+"use sudo async-worker tenant add NAME; then "+
			"look at sudo async-worker tenant list, or async-worker jobs list, once more")
		for line := range strings.Lines(b.String()) {
			if len(strings.TrimRight(line, "\n")) > maxLineWidth {
				t.Fatalf("%d columns: %s", len(line), line)
			}
		}
	}
}

// A command that gives a file to the group of the program stays on one line, and within the width.
func TestWrappedGroup(t *testing.T) {
	t.Parallel()
	const path = "/etc/async-worker/southhaven.env"
	const command = "chgrp async-worker " + path + " && chmod 0640 " + path
	for n := range 60 {
		var b strings.Builder
		printWrapped(&b, "  remedy:  ", strings.Repeat("x ", n)+"move it to each tenant's credentials (async-worker tenant add "+
			"TENANT --force --secret SUPABASE_KEY), or: "+command)
		if !strings.Contains(b.String(), command) {
			t.Fatalf("a command is broken:\n%s", b.String())
		}
		for line := range strings.Lines(b.String()) {
			if len(strings.TrimRight(line, "\n")) > maxLineWidth {
				t.Fatalf("%d columns: %s", len(line), line)
			}
		}
	}
}

// The help of every command fits the terminal, and no flag or command is left without a word. A longer command or word
// has a line of its own, as an example has.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	for _, width := range []int{minHelpWidth, 80, helpWidth, maxHelpWidth} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			for _, c := range available(Root()) {
				for line := range strings.Lines(helpAt(t, width, c)) {
					line = strings.TrimRight(line, "\n")
					pieces := strings.Fields(commandPattern.ReplaceAllString(line, "COMMAND"))
					if n := runewidth.StringWidth(line); n > width && len(pieces) > 1 {
						t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), n, line)
					}
				}
			}
		})
	}
}

// helpAt is the help of a command on a terminal, without its examples.
func helpAt(t *testing.T, width int, c *cobra.Command) string {
	t.Helper()
	var out, errOut bytes.Buffer
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut, columns: width}
	code := p.run(t.Context(), append(strings.Fields(c.CommandPath())[1:], "--help"))
	result{code, out.String(), errOut.String()}.want(t, exitOK, "Usage:")
	return strings.Replace(out.String(), "\nExamples:\n"+c.Example+"\n", "", 1)
}

// available is a command with all below it that help shows.
func available(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, available(sub)...)
		}
	}
	return all
}

// Every command has a description, and a group where help has groups.
func TestCommandsAreDescribed(t *testing.T) {
	t.Parallel()
	root := Root()
	for _, c := range available(root) {
		if c.Short == "" {
			t.Errorf("%s has no description", c.CommandPath())
		}
	}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.GroupID == "" && !slices.Contains([]string{"completion", "help", "version"},
			c.Name()) {
			t.Errorf("%s is in no group of help", c.Name())
		}
	}
}
