package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/generated"
)

const nobody = 65534

// arguments are what the commands of the table get, to do something.
func arguments() map[string]string {
	return map[string]string{
		"ask": "why", "check-config": "", "cognee off": "", "cognee reconcile": "", "cognee retry": "", "cognee status": "",
		"dlq list": "", "dlq purge": "d1 --yes", "dlq replay": "d1", "dlq show": "d1", "doctor": "",
		"documents delete": "a.pdf --set s --yes", "documents list": "",
		"enqueue": "--filename a.pdf --document-set s", "extract": "a.md", "jobs cancel": "t1", "jobs get": "t1",
		"jobs list": "", "jobs retry": "t1", "jobs watch": "t1", "mcp": "", "migrate": "", "queue": "", "reload": "",
		"schedules add":  "weekly --cron @weekly --type agent --payload '{\"prompt\":\"why\"}'",
		"schedules list": "", "schedules pause": "nightly", "schedules remove": "nightly", "schedules resume": "nightly",
		"search": "cranes", "status": "", "summarize": "a.md",
		"tenant add": "harbour --env-file harbour.env", "tenant edit": "southhaven", "tenant list": "",
		"tenant remove": "southhaven --yes", "token add": "web --scope read", "token list": "", "token remove": "web",
		"token sign": "--role reader", "version": "", "webhooks list": "", "webhooks resend": "m1",
	}
}

// endless are commands that are not in the table.
func endless() map[string]string {
	return map[string]string{
		"run":             "it ends when it is stopped",
		"front":           "it ends when it is stopped",
		"webhooks listen": "it ends when it is stopped",
	}
}

// indifferent are commands that do the same in all circumstances, with the reason.
func indifferent() map[string]string {
	return map[string]string{
		"extract": "it reads a file of this machine, and needs no tenant and no service",
		"version": "it needs nothing",
	}
}

// tableCommands are all commands with their arguments, in the order of help.
func tableCommands(t *testing.T) (lines []string) {
	t.Helper()
	known, without := arguments(), endless()
	for _, c := range leaves((&program{}).newRootCommand("")) {
		name := nameOf(c)
		more, ok := known[name]
		switch {
		case ok:
			lines = append(lines, strings.TrimSpace(name+" "+more))
		case without[name] == "":
			t.Errorf("%s is not in the table: give its arguments, or say why it can't be there", name)
		}
		delete(known, name)
		delete(without, name)
	}
	for name := range known {
		t.Errorf("there is no command %s", name)
	}
	for name := range without {
		t.Errorf("there is no command %s", name)
	}
	return lines
}

// TestCommandTable: what each command says in each circumstance is in docs/commands.md. Each says what is wrong and
// what to do about it, in lines that fit a page, and no secret.
func TestCommandTable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be a user who may not read a tenant's files")
	}
	here := openBench(t)
	commands := tableCommands(t)
	table := map[string][]outcome{} // by command, in the order of circumstances
	for _, command := range commands {
		table[command] = make([]outcome, len(circumstances()))
	}
	var all sync.WaitGroup
	// those of the first kind calculate; the others wait for what does not answer
	working, waiting := make(chan struct{}, 6), make(chan struct{}, 12)
	for n, c := range circumstances() {
		at, few := c.services(t, here), working
		if c.waits {
			few = waiting
		}
		for m, command := range commands {
			// a machine of its own, as some change it; the paths have the same length
			r := trial{bench: here, circumstance: c, at: at, command: command}
			r.root = putMachine(t, filepath.Join(here.folder, fmt.Sprintf("%d-%02d", n, m)), c.tenants, at)
			got := &table[command][n]
			all.Go(func() {
				few <- struct{}{}
				defer func() { <-few }()
				*got = r.outcome(t)
			})
		}
	}
	all.Wait()
	for _, problem := range unexplained(table) {
		t.Error(problem)
	}
	text := document(commands, table)
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > maxHelpWidth && !strings.HasPrefix(line, "|") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	generated.RootFile(t, filepath.Join("..", "..", "docs", "commands.md"), text)
}

// sameEverywhere says which commands do the same in all circumstances, and why.
func sameEverywhere() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(indifferent())) {
		fmt.Fprintf(&b, "`%s` does the same everywhere: %s.\n", name, indifferent()[name])
	}
	return b.String()
}

// unexplained are the commands that do the same in all circumstances and should not, and the reverse.
func unexplained(table map[string][]outcome) (problems []string) {
	reasons := indifferent()
	for command, outcomes := range table {
		name, _, _ := strings.Cut(command, " ")
		same := len(slices.Compact(slices.Clone(outcomes))) == 1
		if same && reasons[name] == "" {
			problems = append(problems, command+" does the same everywhere, and so shows nothing: give arguments that work, or a reason")
		}
		if !same && reasons[name] != "" {
			problems = append(problems, command+" does not do the same everywhere: leave out the reason")
		}
	}
	return problems
}

// TestUnexplained: a row that is equal in all columns needs a reason, and another must not have one.
func TestUnexplained(t *testing.T) {
	t.Parallel()
	same, differs := []outcome{{2, "no"}, {2, "no"}}, []outcome{{2, "no"}, {2, "never"}}
	for _, c := range []struct {
		command  string
		outcomes []outcome
		problems int
	}{{"jobs list", same, 1}, {"jobs list", differs, 0}, {"extract a.md", same, 0}, {"extract a.md", differs, 1}} {
		if got := unexplained(map[string][]outcome{c.command: c.outcomes}); len(got) != c.problems {
			t.Errorf("%s, %v: %q", c.command, c.outcomes, got)
		}
	}
}

// document is a table of exit codes, and below it what was said, each once.
func document(commands []string, table map[string][]outcome) string {
	var b, texts strings.Builder
	b.WriteString("# Commands\n\n" +
		"<!-- made by: make docs (TestCommandTable of internal/cli) -->\n\n" +
		"`async-worker COMMAND --help` and the manual pages say more. On a machine with tenants, commands take " +
		"`--tenant NAME`.\n\n" +
		commandList() +
		"\n## What each says when something is missing\n\n" +
		"Exit codes: 0 fine, 1 failed, 2 usage, 69 a service is down, 75 try again, 77 permission, 78 " +
		"configuration, 130\n" +
		"interrupted. The number behind a code is that of what the command says, below; `check-config` and `doctor` " +
		"say more.\n\n" +
		"Not in the table are `run`, `front` and `webhooks listen`, which end when they are stopped. `migrate` has no " +
		"tenant:\nit gets the services' DATABASE_URL from the environment. `reload` gets the worker's process\nfrom " +
		"systemd, where one runs. `mcp` starts whatever is down, and answers each call with the error.\n\n" + sameEverywhere() + "\n")
	head, line := "| command |", "|---|"
	for _, c := range circumstances() {
		fmt.Fprintf(&b, "- **%s**: %s.\n", c.name, c.about)
		head += " " + c.name + " |"
		line += "---|"
	}
	b.WriteString("\n" + head + "\n" + line + "\n")
	numbers := map[string]int{}
	for _, command := range commands {
		fmt.Fprintf(&b, "| `%s` |", command)
		for _, o := range table[command] {
			if o.text == "" {
				fmt.Fprintf(&b, " %d |", o.code)
				continue
			}
			if numbers[o.text] == 0 {
				numbers[o.text] = len(numbers) + 1
				fmt.Fprintf(&texts, "\n%d.\n\n```\n%s```\n", numbers[o.text], o.text)
			}
			fmt.Fprintf(&b, " %d (%d) |", o.code, numbers[o.text])
		}
		b.WriteString("\n")
	}
	return b.String() + texts.String()
}
