package rpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestFindingHasARemedy: migrating mends no database that takes no writes.
func TestFindingHasARemedy(t *testing.T) {
	t.Parallel()
	r := &recorder{answer: `{"findings": [{"about": "write", "subject": "jobs",
		"problem": "a row of this client can't be written (25006)"}]}`}
	e, err := rpc.New(r, "a", rpc.Options{}).Examine(t.Context())
	if err != nil || len(e.Findings) != 1 || e.Findings[0].Mend != rpc.Remedy(rpc.ReadOnly) {
		t.Errorf("got %+v, %v", e, err)
	}
}

// TestRemedy: a database that is up and can't run a call is no outage, and no fault of the task's: the error says what to
// mend.
func TestRemedy(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		"25006": "the primary",
		"42P05": "default_query_exec_mode=exec",
		"26000": "default_query_exec_mode=exec",
		"53100": "disk",
		"53200": "memory",
		"53300": "max_connections",
		"3D000": "no database of that name",
		"57014": "statement_timeout",
		"57P01": "",
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			_, err := rpc.New(&recorder{err: &rpc.SQLError{State: state}}, "a", rpc.Options{}).Job(t.Context(), "x")
			e, ok := errors.AsType[*taskerr.Error](err)
			if !ok || e.Class != taskerr.TransientStorage || (e.Hint == "") != (want == "") || !strings.Contains(e.Hint, want) {
				t.Errorf("got %v, hint %q", err, e.Hint)
			}
			if got := rpc.RemedyOf(err); got != e.Hint {
				t.Errorf("RemedyOf says %q", got)
			}
		})
	}
}
