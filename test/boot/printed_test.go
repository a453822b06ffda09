package boot

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/test/shown"
)

// omission is a pattern of printed commands that are not run, with the reason.
type omission struct{ pattern, reason string }

// notRun are the commands of documents, manual pages and catalog that don't work here as they are printed.
func notRun() []omission {
	return []omission{
		{`^migrate\b`, "it needs the login of the database's owner, which no tenant has"},
		{`^enqueue\b`, "the task's flags are left to the reader"},
		{`^(run|front|webhooks listen)\b`, "it ends when it is stopped"},
		{`^(tenant (add|edit|remove)|token (add|remove))\b`, "it changes a tenant of this machine, and later steps need it as it is"},
		{`^token sign\b`, "it needs the project's secret"},
		{`^schedules add\b`, "its schedule would fire in later steps"},
		{`^cognee reconcile\b`, "no tenant of this machine has a Cognee"},
		{`^dlq purge\b`, "it removes dead letters for good"},
		{`^dlq replay$`, "a sentence names it without a selection"},
	}
}

// incomplete is the reason not to run what a sentence names without its arguments.
const incomplete = "its arguments are not printed with it"

// chosen is a printed command, as it is run.
type chosen struct {
	shown.Line

	command string // of a shell
}

// choose returns what to run of the printed commands, each once, with names of this machine, and the others with the
// reason.
func choose(parser shown.Parser, lines []shown.Line) (run []chosen, left map[string]string) {
	names := strings.NewReplacer("@CLIENT_ID@", south, "TENANT", south, "@TASK_ID@", "first-"+south, "TASK_ID", "first-"+south)
	left, seen := map[string]string{}, map[string]bool{}
	for _, l := range lines {
		p, err := parser.Parse(l)
		if err != nil || l.Short || len(p.Words) == 0 || !forInstalled(l) {
			continue
		}
		words := slices.Clone(p.Words)
		if why := omitted(parser, words); why != "" {
			left[strings.Join(words, " ")] = why
			continue
		}
		if p.Command.Flags().Lookup("tenant") != nil && !slices.Contains(p.Flags, "tenant") && !slices.Contains(p.Flags, "all") {
			words = append(words, "--tenant", south) // there are two here
		}
		command := "async-worker '" + names.Replace(strings.Join(words, "' '")) + "'"
		if !seen[command] {
			seen[command] = true
			run = append(run, chosen{l, command})
		}
	}
	return run, left
}

// forInstalled reports whether a file that users of an installed package read prints the line. What the program prints
// itself, and so its list of errors, is for the moment in which it does.
func forInstalled(l shown.Line) bool {
	return l.In(shown.Catalog) || l.In("README.md") || strings.HasPrefix(l.Where, "packaging/man/") ||
		strings.HasPrefix(l.Where, "docs/") && !l.In("docs/errors.md")
}

// omitted is the reason why a command is not run; empty: it is.
func omitted(parser shown.Parser, words []string) string {
	for _, o := range notRun() {
		if regexp.MustCompile(o.pattern).MatchString(strings.Join(words, " ")) {
			return o.reason
		}
	}
	if p, err := parser.Parse(shown.Line{Words: words}); err != nil || p.Command.HasSubCommands() {
		return incomplete
	}
	return ""
}

// printed runs the commands that documents, manual pages and the catalog print. That there is no such job or dead letter
// is an answer; a wrong command line (2), a denied file (77) and a wrong setting (78) are none.
func printed(b *bed) int {
	parser, lines := printedLines(b)
	run, _ := choose(parser, lines)
	for _, c := range run {
		output := b.m.run("/bin/sh", "-c", c.command+` 2>&1; echo "exit $?"`)
		for _, code := range []string{"2", "77", "78", "127"} {
			if strings.HasSuffix(strings.TrimSpace(output), "exit "+code) {
				b.Errorf("%s: %s\n%s", c.Line, c.command, output)
			}
		}
	}
	return len(run)
}

func printedLines(t testing.TB) (shown.Parser, []shown.Line) {
	t.Helper()
	parser := shown.NewParser()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := parser.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	return parser, lines
}

// TestChoose: of what is printed, the commands that can work on this machine are run for one of its tenants.
func TestChoose(t *testing.T) {
	t.Parallel()
	parser := shown.NewParser()
	for _, c := range []struct {
		where, text string
		form        shown.Line
		want        string // the command, or the reason; empty: it is not looked at
	}{
		{"README.md:1", "jobs list", shown.Line{}, "async-worker 'jobs' 'list' '--tenant' 'southhaven'"},
		{"docs/api.md:1", "doctor", shown.Line{Span: true}, "async-worker 'doctor' '--tenant' 'southhaven'"},
		{
			"docs/runbooks.md:1", "jobs get TASK_ID --tenant TENANT",
			shown.Line{},
			"async-worker 'jobs' 'get' 'first-southhaven' '--tenant' 'southhaven'",
		},
		{
			"packaging/man/x.8:1", "status --all, and goes on", shown.Line{Prose: true}, "async-worker 'status' '--all'",
		},
		{shown.Catalog + ":1", "queue --tenant @CLIENT_ID@", shown.Line{}, "async-worker 'queue' '--tenant' 'southhaven'"},
		{"docs/api.md:1", "version", shown.Line{}, "async-worker 'version'"},
		{"docs/api.md:1", "jobs retry", shown.Line{Span: true}, incomplete},
		{"docs/api.md:1", "jobs", shown.Line{Span: true}, incomplete},
		{"docs/api.md:1", "token add web --scope read", shown.Line{}, "it changes a tenant"},
		{"docs/api.md:1", "dlq replay", shown.Line{Span: true}, "without a selection"},
		{"docs/errors.md:1", "jobs list", shown.Line{}, ""},
		{"internal/cli/jobs.go:1", "jobs list", shown.Line{}, ""},
		{"docs/api.md:1", "jobs list", shown.Line{Short: true}, ""},
	} {
		l := c.form
		l.Where, l.Words = c.where, strings.Fields(c.text)
		run, left := choose(parser, []shown.Line{l, l})
		got := strings.Join(slices.Collect(maps.Values(left)), "") // one line has one answer
		if len(run) > 0 {
			got = run[0].command
		}
		if len(run)+len(left) > 1 || got != c.want && (c.want == "" || len(left) == 0 || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s: %q, want %q", c.where, c.text, got, c.want)
		}
	}
}

// TestNotRun: each reason not to run a command is needed, and enough commands are left of each kind of document.
func TestNotRun(t *testing.T) {
	t.Parallel()
	run, left := choose(printedLines(t))
	count := map[string]int{}
	for _, c := range run {
		place, _, _ := strings.Cut(c.Where, "/")
		place, _, _ = strings.Cut(place, ":")
		count[place]++
	}
	for place, least := range map[string]int{"README.md": 2, "docs": 20, "systemd": 3} {
		if count[place] < least {
			t.Errorf("%d commands of %s are run, want %d or more", count[place], place, least)
		}
	}
	for _, o := range notRun() {
		if !slices.Contains(slices.Collect(maps.Values(left)), o.reason) {
			t.Errorf("nothing is printed that matches %s", o.pattern)
		}
	}
}
