package job_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/test/generated"
)

// The document is made from the tables; this fails when one was changed without the other.
func TestDocument(t *testing.T) {
	t.Parallel()
	generated.File(t, "../../docs/state_machine.md", render())
}

func render() string {
	var b strings.Builder
	b.WriteString("# Life of a job\n\n" +
		"Made from the tables in `internal/job`; don't edit it here. To renew it:\n" +
		"`go test ./internal/job -run TestDocument -update`\n\n## States\n\n```mermaid\nstateDiagram-v2\n    [*] " +
		"--> pending\n")
	for _, m := range job.Transitions {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", m.From, m.To, m.Signal)
	}
	states := []job.State{job.Pending, job.Running, job.Succeeded, job.Failed, job.Canceled}
	for _, s := range states {
		if s.Terminal() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	b.WriteString("```\n\nA job whose worker is lost stays running until another worker begins the next attempt: " +
		"the state says that\n" +
		"the work was begun, not that somebody holds it. Only a new series of attempts, forced by a message or " +
		"requeued by\n" +
		"a person, leaves a terminal state (I3). On the wire (webhooks, lifecycle events) a state reads:\n\n" +
		"| state | on the wire | terminal |\n|---|---|---|\n")
	for _, s := range states {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s, s.Wire(), yes(s.Terminal()))
	}
	renderStages(&b)
	renderClasses(&b)
	renderPolicies(&b)
	return b.String()
}

func renderStages(b *strings.Builder) {
	b.WriteString("\n## Stages\n\nThe percent at which each begins; progress never falls (I8).\n\n| type | stages " +
		"|\n|---|---|\n")
	for _, t := range slices.Sorted(maps.Keys(job.Stages)) {
		var list []string
		for _, s := range job.Stages[t] {
			list = append(list, fmt.Sprintf("%s %d", s.Name, s.Start))
		}
		fmt.Fprintf(b, "| %s | %s |\n", t, strings.Join(list, ", "))
	}
}

func renderClasses(b *strings.Builder) {
	b.WriteString("\n## Error classes\n\n`code` is the default: the task type goes before it, as in " +
		"`INGEST_UNSUPPORTED_FORMAT`.\n\n" +
		"| class | retried | coarse | `error.type` | `code` |\n|---|---|---|---|---|\n")
	for _, c := range slices.SortedFunc(maps.Keys(taskerr.Classes), byRetry) {
		i := taskerr.Classes[c]
		fmt.Fprintf(b, "| %s | %s | %s | %s | …_%s |\n", c, yes(i.Retryable), i.Coarse, i.TypeName, i.Code)
	}
}

func byRetry(a, b taskerr.Class) int {
	if x, y := taskerr.Classes[a].Retryable, taskerr.Classes[b].Retryable; x != y {
		return strings.Compare(yes(x), yes(y))
	}
	return strings.Compare(string(a), string(b))
}

func renderPolicies(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Retry policy\n\n"+
		"Attempts include the first. A server's Retry-After wins when it is longer, up to %s.\n"+
		"`RETRY_MAX_ATTEMPTS` and `RETRY_BACKOFF_MS` override.\n\n"+
		"| type | attempts | base | cap | jitter |\n|---|---|---|---|---|\n", job.MaxRetryAfter)
	row := func(name string, p job.Policy) {
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s |\n", name, p.MaxAttempts, p.Base, p.Cap, p.Jitter)
	}
	for _, t := range slices.Sorted(maps.Keys(job.Policies)) {
		row(string(t), job.Policies[t])
	}
	row("any other", job.DefaultPolicy)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Every type of the contract is in the tables.
func TestTypes(t *testing.T) {
	t.Parallel()
	for _, typ := range []task.Type{
		task.Ingest, task.Summarize, task.Agent, task.OCR, task.Convert, task.Export,
		task.AI,
	} {
		if len(job.Stages[typ]) == 0 {
			t.Errorf("%s has no stages", typ)
		}
		if job.Policies[typ].MaxAttempts == 0 {
			t.Errorf("%s has no policy", typ)
		}
	}
}
