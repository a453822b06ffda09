package dashboard_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// panels are what shows a payload or a message as it is.
var panels = regexp.MustCompile(`(?s)<pre tabindex="0" aria-label(?:ledby="h-pay"|ledby="h-msg"|="Message")>.*?</pre>`)

// The query and the login of a source_uri may be secrets: they are in the panels of a job's and a dead letter's own page,
// in no list, heading, title or name of a field.
func TestSourceIsRedacted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const payload = `{"source_uri":"https://me:SECRET@files.example/a.pdf?token=SECRET#SECRET","document_set":"s"}`
	b.begin("running", "ingest", payload)
	letter := b.fail(b.begin("failed", "ingest", payload), taskerr.ContentMissing, "it is gone")
	v := b.visit("operate")
	for path, shown := range map[string]int{
		"": 0, "jobs": 0, "jobs/running": 1, "jobs/failed": 2, "jobs/running/events": 0, "jobs/running/children": 0,
		"jobs/running/cancel": 0, "change-jobs?action=cancel&all=yes": 0, "change-jobs?action=retry&id=failed&id=running": 0,
		"dead-letters": 0, "dead-letters/" + letter: 1, "dead-letters/" + letter + "/replay": 0, "dead-letters/replay": 0,
	} {
		a := v.want(v.get(path), http.StatusOK)
		if !strings.HasPrefix(path, "dead-letters") || path == "dead-letters/"+letter {
			v.want(a, http.StatusOK, "https://files.example/a.pdf")
		}
		found := panels.FindAllString(a.text, -1)
		if len(found) != shown || strings.Count(strings.Join(found, ""), "SECRET") != 3*shown {
			t.Errorf("%s has the panels %q", path, found)
		}
		if rest := panels.ReplaceAllString(a.text, ""); strings.Contains(rest, "SECRET") {
			t.Errorf("%s has the secret outside of them: %s", path, rest)
		}
	}
}
