package job_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The contract, as its tables say it: a change of internal/job that others would notice has to be made here, too.
const (
	contractClasses = `
validation_error       no   validation
unsupported_format     no   validation
content_missing        no   validation
corruption_detected    no   permanent
quota_exceeded         no   permanent
internal_bug           no   permanent
timeout                no   timeout
transient_storage      yes  transient
network_timeout        yes  transient
ai_rate_limit          yes  transient
model_overloaded       yes  transient
dependency_unavailable yes  transient
worker_lost            yes  transient`

	contractPolicies = `
ingest    3 2s 30s full
summarize 3 2s 30s full
convert   3 2s 30s full
export    3 2s 30s full
ocr       4 1s 8s  full
agent     2 1s 10s decorrelated
ai        2 1s 10s decorrelated
xml       3 5s 20s decorrelated`

	contractStages = `
ingest: validating_input 0, fetching_source 2, detecting 10, parsing 12, enriching 45, chunking 50, embedding 55, indexing 90, finalizing 98
summarize: validating_input 0, fetching_source 2, parsing 10, preparing_context 40, summarizing 45, finalizing 95
agent: preparing_context 0, sending_prompt 10, streaming_response 20, finalizing 95
ai: preparing_context 0, sending_prompt 10, streaming_response 20, finalizing 95
ocr: validating_input 0, fetching_source 2, rendering 10, recognizing 15, uploading_artifact 90, finalizing 98
convert: validating_input 0, fetching_source 5, extracting 15, normalizing 55, generating_preview 80, finalizing 90
xml: validating_input 0, fetching_source 2, converting 10, checking 50, uploading_artifact 90, finalizing 98
export: preparing 0, rendering_slides 10, packaging 70, uploading_artifact 90, finalizing 98`
)

func TestContract(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(contractClasses[1:]) {
		f := strings.Fields(line)
		if i, ok := taskerr.Classes[taskerr.Class(f[0])]; !ok || yes(i.Retryable) != f[1] || i.Coarse != f[2] {
			t.Errorf("class %s is %+v, want retry %s, %s", f[0], i, f[1], f[2])
		}
	}
	for line := range strings.Lines(contractPolicies[1:]) {
		f := strings.Fields(line)
		p := job.Policies[task.Type(f[0])]
		if got := fmt.Sprintf("%d %s %s %s", p.MaxAttempts, p.Base, p.Cap, p.Jitter); got != strings.Join(f[1:], " ") {
			t.Errorf("policy of %s is %s, want %s", f[0], got, f[1:])
		}
	}
	for line := range strings.Lines(contractStages[1:]) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
		var got []string
		for _, s := range job.Stages[task.Type(name)] {
			got = append(got, fmt.Sprintf("%s %d", s.Name, s.Start))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("stages of %s are %v, want %s", name, got, want)
		}
	}
	if job.MaxRetryAfter != 10*time.Minute {
		t.Errorf("a server's Retry-After is capped at %s", job.MaxRetryAfter)
	}
}

// TestBackoffGrows: decorrelated jitter goes on from its own last wait, to its cap: not 1 to 3 s for ever.
func TestBackoffGrows(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	p := job.Policies[task.Agent]
	const runs = 2000
	var third, atCap int
	for range runs {
		var wait time.Duration
		for attempt := 1; attempt <= 6; attempt++ {
			next := p.Wait(attempt, wait, 0, rnd)
			if high := min(p.Cap, 3*max(wait, p.Base)); next < p.Base || next > high {
				t.Fatalf("after %s: %s, want %s to %s", wait, next, p.Base, high)
			}
			wait = next
			if attempt == 3 && wait > 3*p.Base {
				third++
			}
		}
		if wait == p.Cap {
			atCap++
		}
	}
	if third < runs/4 || atCap < runs/20 { // min(cap, …) puts what is beyond it at it
		t.Errorf("of %d, %d waits were longer than 3 s before the fourth attempt, and %d at the cap before the seventh",
			runs, third, atCap)
	}
}

// Every type of the contract is in the tables.
func TestTypes(t *testing.T) {
	t.Parallel()
	for _, typ := range []task.Type{
		task.Ingest, task.Summarize, task.Agent, task.OCR, task.Convert, task.Export,
		task.AI, task.XML,
	} {
		if len(job.Stages[typ]) == 0 {
			t.Errorf("%s has no stages", typ)
		}
		if job.Policies[typ].MaxAttempts == 0 {
			t.Errorf("%s has no policy", typ)
		}
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
