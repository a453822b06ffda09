package shown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-7227ef26/async-worker/internal/cli"
)

// Parsed is a line as the program understands it.
type Parsed struct {
	Command *cobra.Command
	Flags   []string // the names of those that are given
	Words   []string // without what follows in the sentence
}

// Parser holds lines against the program's commands, without running them.
type Parser struct{ root *cobra.Command }

// NewParser returns one for the commands of this version.
func NewParser() Parser { return Parser{cli.Root()} }

// groups are the names of the commands that only group others.
func (r Parser) groups() (names []string) {
	for _, c := range r.root.Commands() {
		if c.HasSubCommands() {
			names = append(names, c.Name())
		}
	}
	return names
}

// Parse reads a line. The error says what the program would.
func (r Parser) Parse(l Line) (Parsed, error) {
	if l.Prose {
		return r.prose(l)
	}
	cmd, rest, err := r.root.Find(l.Words)
	if err != nil {
		return Parsed{}, err
	}
	p := Parsed{Command: cmd, Words: l.Words}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Changed = false }) // by the line before
	if err := cmd.ParseFlags(rest); err != nil {
		return p, err
	}
	for _, word := range rest {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			p.Flags = append(p.Flags, name)
		}
	}
	if slices.Contains(p.Flags, "help") || l.Span && len(rest) == 0 {
		return p, nil
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return p, err
	}
	return p, cmd.ValidateFlagGroups()
}

// isCommand reports whether words are meant as a command although there is none of that name: the name of the program is
// also that of its user and of a group, and begins sentences.
func (r Parser) isCommand(l Line) bool {
	if l.Sudo || len(l.Words) < 2 {
		return l.Sudo
	}
	return strings.HasPrefix(l.Words[1], "--") || slices.ContainsFunc(r.root.Commands(), func(group *cobra.Command) bool {
		return slices.ContainsFunc(group.Commands(), func(c *cobra.Command) bool { return c.Name() == l.Words[1] })
	})
}

// prose reads the beginning of a sentence's rest: a command, its flags, and arguments that are no words. Of a sentence
// without a command it returns no words.
func (r Parser) prose(l Line) (Parsed, error) {
	p := Parsed{Command: r.root}
	ended := false
	next := func() (word string, ok bool) {
		at := len(p.Words)
		if ended || at == len(l.Words) {
			return "", false
		}
		word = strings.TrimRight(l.Words[at], ".,;:)'\"`*")
		ended = word != l.Words[at]
		return word, true
	}
	for {
		word, ok := next()
		if !ok {
			break
		}
		at := slices.IndexFunc(p.Command.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
		switch {
		case at >= 0 && len(p.Flags) == 0:
			p.Command = p.Command.Commands()[at]
		case word == "--":
			return p, nil
		case strings.HasPrefix(word, "--"):
			name, _, valued := strings.Cut(word[2:], "=")
			p.Command.InitDefaultHelpFlag()
			flag := p.Command.Flags().Lookup(name)
			if flag == nil {
				return p, fmt.Errorf("%s has no flag --%s", p.Command.CommandPath(), name)
			}
			p.Flags = append(p.Flags, name)
			if flag.NoOptDefVal == "" && !valued {
				p.Words = append(p.Words, word)
				if word, ok = next(); !ok {
					return p, nil
				}
			}
		case p.Command.HasSubCommands() && p.Command.HasParent() && word == strings.ToLower(word) && word != "…":
			return p, fmt.Errorf("%s has no command %q", p.Command.CommandPath(), word)
		case !p.Command.HasParent() && len(p.Flags) == 0 && r.isCommand(l):
			return p, fmt.Errorf("there is no command %q", word)
		case word != strings.ToUpper(word): // the sentence goes on
			return p, nil
		}
		p.Words = append(p.Words, word)
	}
	return p, nil
}
