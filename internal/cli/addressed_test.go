package cli

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// A printed command names the tenant of the command that prints it: copied without, it ends with 2 where there are many.
func TestAddressed(t *testing.T) {
	t.Parallel()
	long := submission{task: task.Task{Payload: json.RawMessage(strings.Repeat("x", 600))}}.repeatable()
	for text, want := range map[string]string{
		"async-worker jobs list shows the jobs":      "async-worker jobs list --tenant east-bay shows the jobs",
		"look: async-worker jobs get, and jobs list": "look: async-worker jobs get --tenant east-bay, and jobs list",
		"async-worker doctor":                        "async-worker doctor --tenant east-bay",
		"async-worker jobs retry --force":            "async-worker jobs retry --tenant east-bay --force",
		"a\nasync-worker jobs watch x\nasync-worker jobs cancel x": "a\nasync-worker jobs watch --tenant east-bay x\n" +
			"async-worker jobs cancel --tenant east-bay x",
		"sudo systemctl restart async-worker@TENANT":                         "sudo systemctl restart async-worker@east-bay",
		submission{}.again():                                                 "async-worker enqueue --tenant east-bay --id  …",
		submission{file: "m.json"}.again():                                   "async-worker enqueue --tenant east-bay m.json",
		"async-worker token remove x --tenant south; async-worker doctor":    "async-worker token remove x --tenant south; async-worker doctor --tenant east-bay",
		submission{file: "how async-worker doctor works.json"}.again():       "async-worker enqueue --tenant east-bay 'how async-worker doctor works.json'",
		submission{file: "a's --tenant; async-worker doctor x.json"}.again(): `async-worker enqueue --tenant east-bay 'a'\''s --tenant; async-worker doctor x.json'`,
		"async-worker enqueue --help has examples":                           "async-worker enqueue --help has examples",
		"sudo async-worker tenant add NAME, sudo async-worker front":         "sudo async-worker tenant add NAME, sudo async-worker front",
		"async-worker --help lists the commands of /etc/async-worker and x":  "async-worker --help lists the commands of /etc/async-worker and x",
		long.again(): strings.Replace(long.again(), "jobs get", "jobs get --tenant east-bay", 1),
	} {
		if got := (&program{tenant: "east-bay"}).addressed(text); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", text, got, want)
		}
		if got := (&program{}).addressed(text); got != text {
			t.Errorf("without a tenant %s became %s", text, got)
		}
	}
}

// So does a hint in the journal of a unit: the worker has no --tenant, and its tenant is one of many of the machine.
func TestJournalNamesTheTenant(t *testing.T) {
	t.Parallel()
	for manager, want := range map[string]string{
		"systemd":    "look: async-worker doctor --tenant east-bay",
		"kubernetes": "look: async-worker doctor",
	} {
		var out strings.Builder
		p := &program{env: []string{"CREDENTIALS_DIRECTORY=" + t.TempDir()}}
		if manager == "systemd" {
			p.env = append(p.env, "INVOCATION_ID=1")
		}
		log := p.ofUnit(slog.New(slog.NewTextHandler(&out, nil)), "east-bay").With("a", 1)
		log.Warn("broken", "hint", "look: async-worker doctor", "name", "async-worker doctor")
		if text := out.String(); !strings.Contains(text, want+`"`) || !strings.Contains(text, `name="async-worker doctor"`) {
			t.Errorf("%s: %s", manager, text)
		}
	}
}

// A daemon logs hints for months. The tree of all commands, of which cobra keeps a part for ever, is made for the first.
func TestAddressingMakesOneTree(t *testing.T) { //nolint:paralleltest // it counts allocations
	p := &program{unit: "east-bay"}
	const hint = "the job's result has them: async-worker jobs get x"
	p.addressed(hint)
	if n := testing.AllocsPerRun(100, func() { p.addressed(hint) }); n > 200 {
		t.Errorf("a hint costs %v allocations", n)
	}
}

// What a command prints about the next one names the tenant that was chosen.
func TestNextCommandsNameTheTenant(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"south", "east-bay"} {
		putTenant(t, root, name, "127.0.0.1:1")
	}
	for command, code := range map[string]int{
		"jobs cancel busy":            exitOK,
		"jobs get missing":            exitFailed,
		"jobs list --type convert":    exitOK,
		"documents list":              exitOK,
		"documents delete x --set s":  exitFailed,
		"dlq show missing":            exitFailed,
		"search tides":                exitOK,
		"documents list --filename x": exitOK,
	} {
		r := someRows()
		if strings.Contains(command, " list") || strings.HasPrefix(command, "search") {
			r = &rows{} // what is said when nothing is found
		}
		args := append(strings.Fields(command), "--root", root, "--tenant", "east-bay")
		got := invoke(t, app.Tenant{Store: r, Embedder: oneVector{}}, nil, "", args...)
		text := strings.Join(strings.Fields(got.out+got.errOut), " ")
		if got.code != code || !strings.Contains(text, "async-worker ") {
			t.Errorf("%s: %+v", command, got)
		}
		if bare := (&program{tenant: "east-bay"}).addressed(text); bare != text {
			t.Errorf("%s: %s", command, text)
		}
	}
}

// So does the remedy of each known error.
func TestKnownRemediesNameTheTenant(t *testing.T) {
	t.Parallel()
	for _, known := range knownErrors() {
		p := &program{tenant: "east-bay"}
		var out strings.Builder
		p.stderr = &out
		p.report(&failure{"look", nextStore, known.target})
		if words := strings.Join(strings.Fields(out.String()), " "); p.addressed(words) != words ||
			strings.Contains(known.next, "async-worker jobs get") && !strings.Contains(words, "--tenant east-bay") {
			t.Errorf("%v: %s", known.target, out.String())
		}
	}
}
