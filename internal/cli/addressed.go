package cli

import (
	"cmp"
	"context"
	"log/slog"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// commandWords are a command of this program within a sentence, and the words after it that may be subcommands.
var commandWords = regexp.MustCompile(`\basync-worker(?: [a-z][a-z-]*)+`)

// addressed adds --tenant to each command in a text that takes the flag and lacks it, so that a copied command reaches the
// tenant of this one. What is quoted for a shell stays as it is. Without a tenant of the machine it changes nothing.
func (p *program) addressed(text string) string {
	tenant := cmp.Or(p.tenant, p.unit)
	if tenant == "" || !strings.Contains(text, "async-worker") {
		return text
	}
	text = strings.ReplaceAll(text, "async-worker@TENANT", "async-worker@"+tenant) // the unit
	var out strings.Builder
	for {
		bare := quotedWords.ReplaceAllStringFunc(text, func(quoted string) string { return strings.Repeat("'", len(quoted)) })
		at := commandWords.FindStringIndex(bare)
		if at == nil {
			return out.String() + text
		}
		path, takesTenant := p.longestCommand(text[at[0]:at[1]])
		out.WriteString(text[:at[0]] + path)
		text, bare = text[at[0]+len(path):], bare[at[0]+len(path):]
		if takesTenant && !addressedAlready(bare) {
			out.WriteString(" --tenant " + tenant)
		}
	}
}

// quotedWords are what shellQuoted quotes; an apostrophe within a word is none.
var quotedWords = regexp.MustCompile(`(^|\s)'[^']*'(\\''[^']*')*`)

// longestCommand returns the words of the command that words begin with, and whether it takes --tenant.
func (p *program) longestCommand(words string) (path string, takesTenant bool) {
	// Once: what a tree registers for completion stays in memory, and the daemon logs hints for months.
	p.pathsOnce.Do(func() {
		p.paths = map[string]bool{}
		p.addPaths(p.newRootCommand(""))
	})
	all := strings.Split(words, " ")
	for n := len(all); n > 1; n-- {
		path = strings.Join(all[:n], " ")
		if takesTenant, known := p.paths[path]; known {
			return path, takesTenant
		}
	}
	return all[0], false
}

// addPaths adds a command and those below it to the paths.
func (p *program) addPaths(cmd *cobra.Command) {
	p.paths[cmd.CommandPath()] = cmd.Flags().Lookup("tenant") != nil
	for _, sub := range cmd.Commands() {
		p.addPaths(sub)
	}
}

// addressedAlready reports whether what follows a command names a tenant, or asks for help.
func addressedAlready(rest string) bool {
	if end := strings.IndexAny(rest, ";\n"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Contains(rest, "--tenant") || strings.HasPrefix(rest, " --help")
}

// ofUnit makes the tenant that of printed commands, and returns a log that addresses them, if a unit of systemd runs this.
func (p *program) ofUnit(log *slog.Logger, tenant string) *slog.Logger {
	if p.getenv("INVOCATION_ID") == "" || p.getenv("CREDENTIALS_DIRECTORY") == "" { // containers have the latter alone
		return log
	}
	p.unit = tenant
	return slog.New(addressedLog{log.Handler(), p.addressed})
}

// addressedLog is a log whose hints and remedies are addressed: commands in a unit's journal reach its tenant.
type addressedLog struct {
	slog.Handler
	addressed func(string) string
}

func (l addressedLog) Handle(ctx context.Context, r slog.Record) error {
	record := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if (a.Key == "hint" || a.Key == "remedy") && a.Value.Kind() == slog.KindString {
			a.Value = slog.StringValue(l.addressed(a.Value.String()))
		}
		record.AddAttrs(a)
		return true
	})
	return l.Handler.Handle(ctx, record)
}

func (l addressedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return addressedLog{l.Handler.WithAttrs(attrs), l.addressed}
}

func (l addressedLog) WithGroup(name string) slog.Handler {
	return addressedLog{l.Handler.WithGroup(name), l.addressed}
}
