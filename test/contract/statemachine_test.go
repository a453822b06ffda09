package contract_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/test/generated"
)

// TestStateMachine: the document is made from the tables of internal/job and the registered task types.
func TestStateMachine(t *testing.T) {
	t.Parallel()
	specs, err := app.Specs()
	if err != nil {
		t.Fatal(err)
	}
	generated.File(t, "../../docs/state_machine.md", stateMachine(specs))
}

// TestStateMachineHasNewTypes: a type that is registered with stages and a policy of its own is in the document.
func TestStateMachineHasNewTypes(t *testing.T) {
	t.Parallel()
	text := stateMachine([]handlers.Spec{{
		Type: "translate", Stages: []job.Stage{{Name: "reading", Start: 0}, {Name: "writing", Start: 40}},
		Policy: job.Policy{MaxAttempts: 4, Base: time.Second, Cap: time.Minute, Jitter: job.FullJitter},
	}})
	for _, row := range []string{"| translate | reading 0, writing 40 |\n", "| translate | 4 | 1s | 1m0s |", "| ingest | 3 |"} {
		if !strings.Contains(text, row) {
			t.Errorf("the document lacks %q", row)
		}
	}
}

func stateMachine(specs []handlers.Spec) string {
	stages, policies := maps.Clone(job.Stages), maps.Clone(job.Policies) // of the contract
	for _, s := range specs {
		stages[s.Type], policies[s.Type] = s.Stages, s.Policy
	}
	var b strings.Builder
	b.WriteString("# Life of a job\n\n" +
		"Made from the tables in `internal/job` and the registered task types; don't edit it here. To renew it:\n" +
		"`go test ./test/contract -run TestStateMachine -update`\n\n## States\n\n```mermaid\nstateDiagram-v2\n    [*] " +
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
		"the work was begun, not that somebody holds it.\n\n" +
		"If other jobs were lost with the same worker, the attempt is not counted at first. Jobs that were lost together\n" +
		"twice are begun one at a time, so the job that ends the process is soon lost alone.\n\n" +
		"Only a new series of attempts, forced by a message or " +
		"requeued by\n" +
		"a person, leaves a terminal state (I3). An id that was canceled before its message came stays\n" +
		"canceled. On the wire (webhooks, lifecycle events) a state reads:\n\n" +
		"| state | on the wire | terminal |\n|---|---|---|\n")
	for _, s := range states {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s, s.Wire(), yes(s.Terminal()))
	}
	renderStages(&b, stages)
	renderClasses(&b)
	renderPolicies(&b, policies)
	return b.String()
}

func renderStages(b *strings.Builder, stages map[task.Type][]job.Stage) {
	b.WriteString("\n## Stages\n\nThe percent at which each begins; progress never falls (I8).\n\n| type | stages " +
		"|\n|---|---|\n")
	for _, t := range slices.Sorted(maps.Keys(stages)) {
		var list []string
		for _, s := range stages[t] {
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

func renderPolicies(b *strings.Builder, policies map[task.Type]job.Policy) {
	fmt.Fprintf(b, "\n## Retry policy\n\n"+
		"Attempts include the first. A server's Retry-After wins when it is longer, up to %s.\n"+
		"`RETRY_MAX_ATTEMPTS` and `RETRY_BACKOFF_MS` override.\n\n"+
		"| type | attempts | base | cap | jitter |\n|---|---|---|---|---|\n", job.MaxRetryAfter)
	row := func(name string, p job.Policy) {
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s |\n", name, p.MaxAttempts, p.Base, p.Cap, p.Jitter)
	}
	for _, t := range slices.Sorted(maps.Keys(policies)) {
		row(string(t), policies[t])
	}
	row("any other", job.DefaultPolicy)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
