package cli

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

const (
	// helpWidth is the width of help without a terminal; a terminal's width is clamped to the other two.
	helpWidth, minHelpWidth, maxHelpWidth = 100, 60, 120
	// helpColumn is where the texts of commands and flags start.
	helpColumn = 30
	// subjectOf is the annotation of a flag with its subject.
	subjectOf = "subject"
)

// The groups of commands, in the order of help.
const (
	aboutTasks   = "tasks"
	aboutWorker  = "worker"
	aboutMachine = "machine"
)

func groupCommands(root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: aboutTasks, Title: "Tasks and documents"},
		&cobra.Group{ID: aboutWorker, Title: "A tenant's worker"},
		&cobra.Group{ID: aboutMachine, Title: "This machine"},
	)
	for group, names := range map[string][]string{
		aboutTasks: {
			"enqueue", "ask", "summarize", "search", "documents", "mcp", "jobs", "dlq", "queue", "webhooks",
			"cognee", "schedules", "extract",
		},
		aboutWorker:  {"run", "status", "reload", "check-config", "doctor", "migrate", "token"},
		aboutMachine: {"tenant", "front"},
	} {
		for _, c := range root.Commands() {
			if slices.Contains(names, c.Name()) {
				c.GroupID = group
			}
		}
	}
}

// renameCobraParts rewrites the texts of the commands and flags that cobra adds.
func renameCobraParts(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Short = "Show the help of a command"
			c.Run, c.RunE = nil, helpOf
		case "completion":
			c.Short = "Print a script that completes commands in bash, zsh, fish or PowerShell"
			c.Args, c.RunE = needsSubcommand, showHelp
		}
	}
	root.Flags().Lookup("version").Usage = "print the version"
}

// helpOf is cobra's command help, except that an unknown command is an error.
func helpOf(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return needsSubcommand(found, rest)
	}
	return found.Help()
}

// useHelp makes the help of root and its subcommands fit the terminal.
func (p *program) useHelp(root *cobra.Command) {
	groupCommands(root)
	renameCobraParts(root)
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStdout(), usage(cmd, p.width()))
		return err
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		about := cmd.Long
		if about == "" {
			about = cmd.Short + "."
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", refilled(strings.TrimSpace(about), p.width()), usage(cmd, p.width()))
	})
}

// refilled breaks the lines of paragraphs that are wider than width. Indented lines are tables and commands: they stay.
func refilled(text string, width int) string {
	var out, paragraph []string
	flush := func() {
		if slices.ContainsFunc(paragraph, func(line string) bool { return runewidth.StringWidth(line) > width }) {
			paragraph = wrapped(strings.Join(paragraph, " "), width)
		}
		out, paragraph = append(out, paragraph...), nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && !strings.HasPrefix(line, " ") {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		out = append(out, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// width is the terminal's, clamped to what is easy to read.
func (p *program) width() int {
	if p.columns > 0 {
		return p.columns
	}
	if f, ok := p.stdout.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return min(max(width, minHelpWidth), maxHelpWidth)
		}
	}
	return helpWidth
}

// usage is a command's usage line, its subcommands, and its flags by subject.
func usage(cmd *cobra.Command, width int) string {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "show this help"
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAlso called: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(&b, cmd, width)
	writeFlags(&b, cmd, width)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help shows more.\n", cmd.CommandPath())
	}
	return b.String()
}

func writeCommands(b *strings.Builder, cmd *cobra.Command, width int) {
	group := func(title, id string) {
		for _, c := range cmd.Commands() {
			if c.GroupID != id || !c.IsAvailableCommand() && c.Name() != "help" {
				continue
			}
			if title != "" {
				fmt.Fprintf(b, "\n%s:\n", title)
				title = ""
			}
			entry(b, helpColumn, c.Name(), c.Short, width)
		}
	}
	for _, g := range cmd.Groups() {
		group(g.Title, g.ID)
	}
	rest := "Commands"
	if len(cmd.Groups()) > 0 {
		rest = "More"
	}
	group(rest, "")
}

// writeFlags writes the command's own flags first, then the settings by subject.
func writeFlags(b *strings.Builder, cmd *cobra.Command, width int) {
	const own = "Flags"
	by := map[string][]*pflag.Flag{}
	hidden := 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		subject := own
		if about := f.Annotations[subjectOf]; len(about) > 0 {
			subject = about[0]
		}
		switch {
		case !f.Hidden:
			by[subject] = append(by[subject], f)
		case subject != own:
			hidden++
		}
	})
	for _, subject := range append([]string{own}, config.Subjects()...) {
		if len(by[subject]) > 0 {
			fmt.Fprintf(b, "\n%s:\n", subject)
		}
		for _, f := range by[subject] {
			entry(b, helpColumn, flagName(f), flagText(f), width)
		}
	}
	also := "This command also takes 1 setting as a flag; async-worker run --help lists it."
	switch {
	case hidden == 0:
		return
	case hidden > 1:
		also = fmt.Sprintf("This command also takes %d settings as flags; async-worker run --help lists them.", hidden)
	}
	fmt.Fprintf(b, "\n%s\n", strings.Join(wrapped(also, width), "\n"))
}

// flagName is a flag as it is typed.
func flagName(f *pflag.Flag) string {
	name := "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	value := map[string]string{
		"bool": "", "int": "N", "int64": "N", "uint64": "N", "duration": "TIME", "format": "FORMAT", "age": "AGE",
		"rate": "RATE", "string": "TEXT", "stringSlice": "LIST", "stringArray": "TEXT",
	}[f.Value.Type()]
	if f.Annotations[subjectOf] != nil {
		value = "VALUE"
	}
	return strings.TrimRight(name+" "+value, " ")
}

// flagText is a flag's description, with its default unless that is a zero value.
func flagText(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "[]", "0s":
		return f.Usage
	}
	if strings.Contains(f.Usage, "default") {
		return f.Usage
	}
	return f.Usage + " (default " + f.DefValue + ")"
}

// entry writes a name, and its text from a column on; below a long name.
func entry(b *strings.Builder, column int, name, text string, width int) {
	name = "  " + name
	if runewidth.StringWidth(name) > column-2 {
		fmt.Fprintf(b, "%s\n", name)
		name = ""
	}
	for _, line := range wrapped(text, width-column) {
		fmt.Fprintf(b, "%-*s%s\n", column, name, line)
		name = ""
	}
}

// commandPattern matches commands, which stay on one line so that they can be copied. After chgrp the name is that of the
// group.
var commandPattern = regexp.MustCompile("`[^`]*`|(?:sudo |chgrp )?async-worker [^;,?()`]*")

const noBreak = "\x00" // stands for a space where no line is broken

// wrapped breaks a text into lines of at most width columns. A longer word or command has a line of its own.
func wrapped(text string, width int) (lines []string) {
	defer func() {
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], noBreak, " ")
		}
	}()
	text = commandPattern.ReplaceAllStringFunc(text, func(command string) string {
		return strings.ReplaceAll(strings.TrimRight(command, " "), " ", noBreak) +
			command[len(strings.TrimRight(command, " ")):]
	})
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && runewidth.StringWidth(strings.ReplaceAll(line+" "+word, noBreak, " ")) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}
