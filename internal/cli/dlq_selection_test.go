package cli

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// A flag that selects with nothing in it, as of a shell's variable that is not set, would select every dead letter.
func TestEmptySelectionIsRefused(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"purge", "replay"} {
		for _, flag := range []string{"--job", "--type", "--class", "--reason", "--replayed", "--before"} {
			for _, also := range [][]string{nil, {"--type", "ingest"}, {"--all"}} {
				if flag == "--type" && len(also) == 2 {
					continue // the last one counts
				}
				args := append([]string{"dlq", command, flag, "", "--dry-run"}, also...)
				invoke(t, app.Tenant{Store: &rows{}}, testEnv(), "", args...).want(t, exitUsage, flag+" is empty", "leave it out")
			}
		}
	}
}

// A reason or a class that there is not would give an empty list, as if there were no such dead letters.
func TestUnknownReasonIsRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"list --reason exhaustd":            `--reason "exhaustd" is not a reason of dead letters|did you mean exhausted?`,
		"purge --reason exhaustd --dry-run": "did you mean exhausted?",
		"replay --reason nothing --dry-run": "give one of permanent, exhausted, timeout",
		"list --class validation_eror":      "did you mean validation_error?",
	} {
		invoke(t, app.Tenant{Store: &rows{}}, testEnv(), "", append([]string{"dlq"}, strings.Fields(args)...)...).
			want(t, exitUsage, strings.Split(want, "|")...)
	}
	for _, args := range []string{"--reason permanent", "--reason content_missing", "--class content_missing", "--type zzz"} {
		invoke(t, app.Tenant{Store: &rows{}}, testEnv(), "", append([]string{"dlq", "list"}, strings.Fields(args)...)...).
			want(t, exitOK)
	}
}
