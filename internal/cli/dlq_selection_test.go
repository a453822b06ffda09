package cli

import (
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
