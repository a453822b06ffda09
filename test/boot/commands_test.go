package boot

import (
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/test/shown"
)

// commands runs the commands of the runbooks and the journal's catalog on the installed package.
func commands(b *bed) {
	const done = "succeeded"
	for _, c := range []struct{ line, want string }{
		{"async-worker status --tenant southhaven", "southhaven  ready"},
		{"async-worker check-config --tenant southhaven", "The settings are fine."},
		{"async-worker jobs list --tenant southhaven", done},
		{"async-worker jobs get first-southhaven --tenant southhaven", done},
		{"async-worker dlq list --tenant southhaven", "TRIES"},
		{"async-worker documents list --tenant southhaven", "handbook.pdf"},
		{"async-worker webhooks list --state delivered --tenant southhaven", "first-southhaven"},
		{"async-worker search harbour --tenant southhaven", "handbook.pdf"},
		{"async-worker queue --tenant southhaven", "southhaven-tasks-deadletter"},
		{"async-worker enqueue --tenant east-bay --type ingest --filename first-east-bay.txt --document-set boot " +
			"--force --id again", "again"},
		{"async-worker jobs watch again --tenant east-bay", done},
		{"async-worker tenant list", "east-bay"},
	} {
		b.contains(c.line, b.m.run("/bin/sh", "-c", c.line+" 2>&1"), c.want)
	}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"async-worker jobs list", 2, "--tenant: east-bay, southhaven"},
		{"async-worker jobs list --tenant nowhere", 78, "tenant add nowhere"},
		{"runuser -u nobody -- async-worker jobs list --tenant southhaven", 77, "run it as root"},
		{"runuser -u nobody -- async-worker jobs list", 77, "run it as root"},
	} {
		output := b.m.run("/bin/sh", "-c", c.line+` 2>&1; echo "exit $?"`)
		b.contains(c.line, output, c.want)
		b.contains(c.line, output, "exit "+strconv.Itoa(c.code))
	}
	b.figure("%d commands of runbooks and catalog: all of them reach their tenant", printed(b))
}

// notRun are the commands of runbooks and catalog that don't work here as they are printed, with the reason.
func notRun() map[string]string {
	return map[string]string{
		"async-worker migrate": "it needs the login of the database's owner, which no tenant has",
		"async-worker enqueue": "the task's flags are left to the reader",
	}
}

// printed runs the commands that the catalog and the runbooks print, with names of this machine. That there is no such
// job or dead letter is an answer; a wrong command line (2), a denied file (77) and a wrong setting (78) are none.
func printed(b *bed) int {
	root, err := stack.Root()
	if err != nil {
		b.Fatal(err)
	}
	parser := shown.NewParser()
	lines, err := parser.Find(root)
	if err != nil {
		b.Fatal(err)
	}
	names := strings.NewReplacer("@CLIENT_ID@", south, "TENANT", south, "@TASK_ID@", "first-"+south, "TASK_ID", "first-"+south)
	ran := map[string]bool{}
	for _, l := range lines {
		p, err := parser.Parse(l)
		if err != nil || l.Short || !l.In(shown.Catalog) && !l.In(shown.Runbooks) || notRun()[p.Command.CommandPath()] != "" {
			continue
		}
		line := "async-worker '" + names.Replace(strings.Join(p.Words, "' '")) + "'"
		if ran[line] {
			continue
		}
		ran[line] = true
		output := b.m.run("/bin/sh", "-c", line+` 2>&1; echo "exit $?"`)
		for _, code := range []string{"2", "77", "78", "127"} {
			if strings.HasSuffix(strings.TrimSpace(output), "exit "+code) {
				b.Errorf("%s: %s\n%s", l, line, output)
			}
		}
	}
	return len(ran)
}
