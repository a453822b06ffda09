package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (p *program) newJobsListCommand() *cobra.Command {
	var out format
	var f store.JobFilter
	var before string
	watch := false
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List jobs, the newest first",
		Long: `list shows the newest jobs. With --watch it continues until Ctrl-C: on a terminal it redraws the list on
each change; otherwise it prints a line for each new or changed job (with -o json from the first job on, the
oldest first). A job that no longer matches --status is shown once more, with its new state. --watch polls the
database every two seconds and misses shorter changes; jobs watch shows every event of a job.`,
		Example: `  async-worker jobs list --status failed
  async-worker jobs list --type ingest -n 10 -o json
  async-worker jobs list --status running --watch
  async-worker jobs list --parent nightly-import --status failed`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			if f.Status != "" && !slices.Contains(states(), f.Status) {
				return badUsage("the states are "+strings.Join(states(), ", "), "--status %q is not a state", f.Status)
			}
			var err error
			if f.Before, err = parseTime("before", before); err != nil {
				return err
			}
			if err := checkLimit(f.Limit, 1000); err != nil {
				return err
			}
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				if watch {
					return newListWatch(t.Store, f).run(ctx, p.newListDisplay(out))
				}
				jobs, err := t.Store.Jobs(ctx, f)
				if err != nil {
					return &failure{"list jobs", nextStore, err}
				}
				if len(jobs) == 0 && out != asJSON {
					printWrapped(p.stderr, "", p.addressed(noJobs(f, t.Config.ClientID)))
				}
				return p.printJobs(out, jobs)
			})
		}),
	}
	addOutput(cmd, &out)
	cmd.Flags().StringVar(&f.Status, "status", "",
		"only jobs in this state: pending, running, succeeded, failed, canceled")
	cmd.Flags().StringVar(&f.Type, "type", "", "only jobs of this type, e.g. ingest")
	cmd.Flags().StringVar(&f.Parent, "parent", "", "only jobs that this job submitted, or that replay it")
	cmd.Flags().StringVar(&before, "before", "",
		"only jobs created before this time, e.g. 2026-03-01T12:00:00Z; for the next page")
	cmd.Flags().IntVarP(&f.Limit, "limit", "n", 50, "the maximum number, 1 to 1000")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show changes until Ctrl-C")
	addSettings(cmd, storeOnly)
	return cmd
}

// noJobs says why a listing is empty. A job of an unknown type may exist, because any message can name one.
func noJobs(f store.JobFilter, client string) string {
	types := flagValues()["type"]
	switch {
	case f.Type != "" && !slices.Contains(types, f.Type):
		return fmt.Sprintf("No job is of the type %s; the types are %s.", printable(f.Type), strings.Join(types, ", "))
	case f.Status != "" || f.Type != "" || f.Parent != "" || !f.Before.IsZero():
		return "No job matches; without its flags, async-worker jobs list shows all."
	}
	return "There are no jobs of " + client + " yet; async-worker enqueue adds one."
}

func (p *program) printJobs(out format, jobs []store.Job) error {
	if out == asJSON {
		return printJSON(p.stdout, orEmpty(jobs))
	}
	return jobTable(p.stdout, jobs)
}

func jobTable(w io.Writer, jobs []store.Job) error {
	items := make([]item, 0, len(jobs))
	for _, j := range jobs {
		items = append(items, item{[]string{
			j.ID, j.Type, stateOrStage(j), strconv.Itoa(j.Progress) + "%",
			fmt.Sprintf("%d/%d", j.Attempts, j.MaxAttempts),
			formatTime(j.CreatedAt), documentOf(j),
		}, problemOf(j)})
	}
	return listing(w, []string{"ID", "TYPE", "STATE", "DONE", "TRIES", "CREATED", "DOCUMENT"}, items)
}

// stateOrStage is a running job's stage, or a job's state.
func stateOrStage(j store.Job) string {
	if job.State(j.Status) == job.Running && j.Stage != "" {
		return j.Stage
	}
	return j.Status
}

// warnings are the warnings in a job's result.
func warnings(j store.Job) []string {
	var result struct {
		Warnings []string `json:"warnings"`
	}
	if len(j.Result) == 0 || json.Unmarshal(j.Result, &result) != nil {
		return nil
	}
	return result.Warnings
}

// problemOf is a job's error, or the warnings in its result.
func problemOf(j store.Job) string {
	if w := warnings(j); len(w) > 0 && j.ErrorMessage == "" {
		return "! " + strings.Join(w, "; ")
	}
	return j.ErrorMessage
}

// parseTime is the time that a flag names; zero: it names none.
func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, badUsage("write it like 2026-03-01T12:00:00Z or 2026-03-01", "--%s %q is not a time", flag, text)
}

func checkLimit(n, most int) error {
	if n < 1 || n > most {
		return badUsage(fmt.Sprintf("give 1 to %d", most), "--limit %d is out of range", n)
	}
	return nil
}
