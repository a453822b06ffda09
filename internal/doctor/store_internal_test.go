package doctor

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestReadOnlyDatabase: migrating mends no database that takes no writes.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	for problem, want := range map[string]string{
		"a row of this client can't be written (25006)": "the primary",
		"a row of this client can't be written (42804)": "async-worker migrate",
	} {
		r := lacking("store tables", store.Examination{
			Findings: []store.Finding{{About: store.AboutWrite, Subject: "jobs", Problem: problem}},
		}, "", store.AboutWrite)
		if !strings.Contains(r.Remedy, want) {
			t.Errorf("%s: %q", problem, r.Remedy)
		}
	}
}
