package blob

import (
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// CheckName rejects a name that leaves the container or that storage can't tell from another. Its error is a
// validation_error for the sender of the task. See task.BlobNameProblem.
func CheckName(name string) error {
	problem := task.BlobNameProblem(name)
	if problem == "" {
		return nil
	}
	return taskerr.Errorf(taskerr.ValidationError, "the blob name %s %s", shown(name), problem)
}

// shown quotes a name for messages, shortened if it is long.
func shown(name string) string {
	const most = 80
	runes := []rune(name)
	if len(runes) > most {
		return quote(string(runes[:most])) + "…"
	}
	return quote(name)
}

func quote(s string) string {
	return `"` + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s) + `"`
}

// MessageFolder is where messages are that were too large for a queue.
const MessageFolder = "tasks/"

// WorkerFolders returns the folders that workers write to. What is there is trusted: nobody else writes to them through the
// API.
func WorkerFolders() []string {
	return []string{MessageFolder, "derived/", "decks/", "exports/", "results/"}
}
