package dashboard

import (
	"encoding/json"
	"time"

	jobs "github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// batch is jobs that were made together, as a page follows them.
type batch struct {
	Jobs   []store.Job
	States []stateCount
	Ended  int
	Next   *time.Time // when the next one starts that waits for its time; nil: none does
}

type stateCount struct {
	Status string
	Jobs   int
}

func batchOf(all []store.Job) batch {
	b := batch{Jobs: all}
	counts := map[string]int{}
	for _, j := range all {
		counts[j.Status]++
		if jobs.State(j.Status).Terminal() {
			b.Ended++
		}
		if j.Status == "pending" && j.RunAt != nil && j.RunAt.After(time.Now()) && (b.Next == nil || j.RunAt.Before(*b.Next)) {
			b.Next = j.RunAt
		}
	}
	for _, s := range []string{"running", "pending", "succeeded", "failed", "canceled"} {
		if counts[s] > 0 {
			b.States = append(b.States, stateCount{s, counts[s]})
		}
	}
	return b
}

// Share is how many of the jobs have ended, in percent.
func (b batch) Share() int { return 100 * b.Ended / max(len(b.Jobs), 1) }

// outcome is what a job has made, in short.
type outcome struct {
	Document string // its id; empty: none
	Text     string
}

// outcomeOf is nil if there is nothing to say in short.
func outcomeOf(j store.Job) *outcome {
	var made struct {
		Document  string `json:"document_id"`
		Version   int    `json:"version"`
		Pages     int    `json:"pages"`
		Chunks    int    `json:"chunks"`
		Unchanged bool   `json:"unchanged"`
	}
	if json.Unmarshal(j.Result, &made) != nil || made.Document == "" {
		return nil
	}
	text := "version " + number(made.Version) + ", " + number(made.Chunks) + " chunks"
	switch {
	case made.Unchanged:
		text = "nothing has changed since version " + number(made.Version)
	case made.Pages == 1:
		text += " of one page"
	case made.Pages > 1:
		text += " of " + number(made.Pages) + " pages"
	}
	return &outcome{made.Document, text}
}
