package shown_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/shown"
)

// TestCommands: a command that a document, the catalog, a manual page or the program prints is one that there is, with
// flags and arguments that it takes. What an operator copies from the journal or a runbook also works on a machine with
// several tenants, whose files only root and operators may read.
func TestCommands(t *testing.T) {
	t.Parallel()
	parser := shown.NewParser()
	lines, err := parser.Find("../..")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, l := range lines {
		p, err := parser.Parse(l)
		if err == nil && l.Prose && len(p.Words) == 0 { // a sentence
			continue
		}
		place, _, _ := strings.Cut(l.Where, ":")
		place, _, _ = strings.Cut(place, "/")
		count[place]++
		if err != nil {
			t.Errorf("%s: %v (if it is no command, say it in other words, or not as code)", l, err)
			continue
		}
		if l.Short || !l.In(shown.Catalog) && !l.In(shown.Runbooks) || p.Command.Flags().Lookup("tenant") == nil ||
			slices.Contains(p.Flags, "all") {
			continue
		}
		if count["an operator's"]++; !slices.Contains(p.Flags, "tenant") {
			t.Errorf("%s: has no --tenant", l)
		}
		if !l.Sudo {
			t.Errorf("%s: has no sudo", l)
		}
	}
	for place, least := range map[string]int{
		"README.md": 10, "docs": 165, "packaging": 1, "systemd": 12, "internal": 170, "an operator's": 31,
	} {
		if count[place] < least {
			t.Errorf("found %d commands of %s, want %d or more: the search is broken", count[place], place, least)
		}
	}
}

// TestParse: what the program would refuse is refused, and sentences may go on behind a command.
func TestParse(t *testing.T) {
	t.Parallel()
	parser := shown.NewParser()
	for _, c := range []struct {
		text  string
		prose bool
		want  string // in the error; empty: none
	}{
		{"jobs get ID --tenant TENANT", false, ""},
		{"jobs get", false, "needs the ID of a job"},
		{"jobs get ID ID", false, "takes only"},
		{"jobs gett ID", false, "has no command"},
		{"frobnicate", false, "there is no command"},
		{"jobs get ID --tennant TENANT", false, "unknown flag: --tennant"},
		{"jobs get --help", false, ""},
		{"jobs get shows it", true, ""},
		{"jobs get ID --tenant TENANT; jobs", true, ""},
		{"jobs gett ID shows it", true, "has no command"},
		{"needs Linux", true, ""},
		{"and async-worker-operators", true, ""},
		{"jbos list", true, "there is no command"},
		{"frobnicate --tenant TENANT", true, "there is no command"},
		{"doctor --tennant TENANT tries it", true, "has no flag --tennant"},
	} {
		_, err := parser.Parse(shown.Line{Words: strings.Fields(c.text), Prose: c.prose})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
