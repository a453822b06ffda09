package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// commandWords are a command of this program within a sentence, and the words after it that may be subcommands.
var commandWords = regexp.MustCompile(`\basync-worker(?: [a-z][a-z-]*)+`)

// addressed adds --tenant to each command in a text that takes the flag and lacks it, so that a copied command reaches the
// tenant of this one. What is quoted for a shell stays as it is. Without a tenant of the machine it changes nothing.
func (p *program) addressed(text string) string {
	if p.tenant == "" || !strings.Contains(text, "async-worker") {
		return text
	}
	text = strings.ReplaceAll(text, "async-worker@TENANT", "async-worker@"+p.tenant) // the unit
	root := p.newRootCommand("")
	var out strings.Builder
	for {
		bare := quotedWords.ReplaceAllStringFunc(text, func(quoted string) string { return strings.Repeat("'", len(quoted)) })
		at := commandWords.FindStringIndex(bare)
		if at == nil {
			return out.String() + text
		}
		cmd, path := longestCommand(root, text[at[0]:at[1]])
		out.WriteString(text[:at[0]] + path)
		text, bare = text[at[0]+len(path):], bare[at[0]+len(path):]
		if cmd.Flags().Lookup("tenant") != nil && !addressedAlready(bare) {
			out.WriteString(" --tenant " + p.tenant)
		}
	}
}

// quotedWords are what shellQuoted quotes; an apostrophe within a word is none.
var quotedWords = regexp.MustCompile(`(^|\s)'[^']*'(\\''[^']*')*`)

// longestCommand returns the command that words begin with, and its words.
func longestCommand(cmd *cobra.Command, words string) (*cobra.Command, string) {
	all := strings.Split(words, " ")
	path := all[0]
next:
	for _, word := range all[1:] {
		for _, sub := range cmd.Commands() {
			if sub.Name() == word {
				cmd, path = sub, path+" "+word
				continue next
			}
		}
		break
	}
	return cmd, path
}

// addressedAlready reports whether what follows a command names a tenant, or asks for help.
func addressedAlready(rest string) bool {
	if end := strings.IndexAny(rest, ";\n"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Contains(rest, "--tenant") || strings.HasPrefix(rest, " --help")
}
