package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.fail("a", report, func(t *task.Task) { t.Priority, t.RequestedBy = task.PriorityHigh, "user-17" })
	other := d.fail("b", report)

	d.command("dlq", "replay", id, "--dry-run").want(t, exitOK, id+" would be replayed as a.r1",
		"1 of 1 would be replayed")
	if d.depth(d.Queues.High) != 0 || d.depth(d.Queues.DeadLetter) != 2 {
		t.Error("a dry run did something")
	}
	d.command("dlq", "replay", id, "--force").want(t, exitOK, id+" is replayed as a.r1")
	sent := d.messages(d.Queues.High)
	if len(sent) != 1 || sent[0].ID != "a.r1" || sent[0].WebhookURL != "https://hook.example/a" ||
		!sent[0].Hints.Force || sent[0].RequestedBy != "user-17" {
		t.Errorf("sent: %+v", sent)
	}
	if j := d.job("a.r1"); j.ParentJobID != "a" || j.Replay != 1 || j.Status != "pending" ||
		!strings.Contains(string(j.Hints), `"force": true`) {
		t.Errorf("row: %+v", j)
	}
	if found, err := d.Store.Sweep(t.Context(), store.SweepAges{StalledFor: time.Hour}, 10); err != nil ||
		len(found.Unsent) != 0 {
		t.Errorf("unsent: %+v, %v", found.Unsent, err)
	}
	// The other letter's copy is there for everybody.
	copies, err := d.Queues.DeadLetter.Peek(t.Context(), 32)
	if err != nil || len(copies) != 1 || !strings.Contains(copies[0].Text, other) {
		t.Errorf("copies: %+v, %v", copies, err)
	}

	d.command("dlq", "replay", id).want(t, exitFailed, "was replayed at", "as job a.r1, which is pending", "--again",
		"1 refused")
	d.command("dlq", "replay", "--all", "--rows-only").want(t, exitOK, other+" is replayed as b.r1", "1 of 1 replayed")
	if d.depth(d.Queues.DeadLetter) != 1 {
		t.Error("--rows-only removed a copy")
	}
	d.command("dlq", "replay", "--all").want(t, exitOK, "0 of 0 replayed")
	d.command("dlq", "list", "--replayed", "yes", "--class", "content_missing").want(t, exitOK, "a.r1", "b.r1")
	d.command("jobs", "retry", "a").want(t, exitFailed, "was replayed", "--force")

	var r replayReport
	again := d.command("dlq", "replay", "--again", id, "-o", "json")
	if err := json.Unmarshal([]byte(again.out), &r); err != nil || len(r.Replayed) != 1 ||
		r.Replayed[0].JobID != "a.r2" || r.Replayed[0].Number != 2 {
		t.Errorf("%v: %+v", err, again)
	}
	again.want(t, exitOK, "1 of 1 copies were not found on the queue")
	d.command("dlq", "show", id).want(t, exitOK, "replayed as  a.r2", "replays      2", "replayed by")
	d.command("jobs", "get", "a.r2").want(t, exitOK, "parent", "replay", "replayed by")
}

func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	malformed := d.refuse("malformed", `{"task_id": "m1", "task_type"`)
	foreign := d.refuse("wrong_client", `{"task_id":"w1","task_type":"ingest","payload":{},"client_id":"somebody-else"}`)
	gone := d.refuse("content_missing", `{"claim_check":{"blob":"tasks/gone.json"}}`)
	all := d.command("dlq", "replay", "--all")
	all.want(t, exitFailed, malformed+" is not replayed", "is not a task", foreign+" is not replayed", "another client's",
		gone+" is not replayed", "claim check", "3 refused")
	if d.depth(d.Queues.Normal) != 0 || d.depth(d.Queues.DeadLetter) != 3 {
		t.Error("a refused replay did something")
	}

	mended := filepath.Join(t.TempDir(), "mended.json")
	if err := os.WriteFile(mended, []byte(`{"task_id":"m1","task_type":"ingest","payload":`+report+`}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	d.command("dlq", "replay", malformed, "--message", mended).want(t, exitOK, "is replayed as m1")
	if sent := d.messages(d.Queues.Normal); len(sent) != 1 || sent[0].ID != "m1" {
		t.Errorf("sent: %+v", sent)
	}
	d.command("dlq", "replay", foreign, "--message", mended).want(t, exitFailed, "another client's", "what to do")
	d.command("dlq", "replay", malformed, "--message", mended).want(t, exitFailed, "as job m1, which is pending")
	d.command("dlq", "replay", uuid.NewString()).want(t, exitFailed, "not found")

	for args, text := range map[string]string{
		"":                             "no dead letters are selected",
		malformed + " --all":           "can't be combined",
		"--all --message " + mended:    "takes one ID",
		"--all --rate fast":            "is not a rate",
		"--all --rate 0/s":             "is not a rate",
		"--older-than yesterday":       "is not an age",
		"--replayed maybe":             "yes or no",
		"--all --limit -1":             "0 or more",
		malformed + " --type ingest":   "can't be combined",
		"--all --before in-the-past":   "is not a time",
		"--all --rate 10/d --dry-run":  "is not a rate",
		"--older-than 0s --dry-run":    "is not an age",
		"--newer-than -5m --rows-only": "is not an age",
	} {
		d.command(append([]string{"dlq", "replay"}, strings.Fields(args)...)...).want(t, exitUsage, text)
	}
}

// A fixed message keeps the parent job, and its webhook unless it names another.
func TestReplayMended(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.fail("a", report)
	mended := filepath.Join(t.TempDir(), "mended.json")
	if err := os.WriteFile(mended, []byte(
		`{"task_id":"whatever","task_type":"ingest","payload":{"filename":"other.md","document_set":"s"}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	d.command("dlq", "replay", id, "--message", mended).want(t, exitOK, "is replayed as a.r1")
	sent := d.messages(d.Queues.Normal)
	if len(sent) != 1 || sent[0].WebhookURL != "https://hook.example/a" ||
		!strings.Contains(string(sent[0].Payload), "other.md") {
		t.Errorf("sent: %+v", sent)
	}
}

// Of two concurrent replays one succeeds; the other reports by whom and as which job it was replayed.
func TestReplayByTwo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for round := range 5 {
		id := d.fail(fmt.Sprintf("job-%d", round), report)
		var results [2]result
		var both sync.WaitGroup
		for i := range results {
			both.Go(func() { results[i] = d.command("dlq", "replay", id) })
		}
		both.Wait()
		if results[0].code != exitOK {
			results[0], results[1] = results[1], results[0]
		}
		results[0].want(t, exitOK, "1 of 1 replayed")
		results[1].want(t, exitFailed, "was replayed at", fmt.Sprintf("as job job-%d.r1", round))
	}
	if sent := d.messages(d.Queues.Normal); len(sent) != 5 {
		t.Errorf("I2: %d messages for 5 dead letters", len(sent))
	}
}

func TestReplayMany(t *testing.T) {
	t.Parallel()
	const n, perSecond = 120, 100 // more than a page of 100
	d := newDesk(t)
	for i := range n {
		d.fail(fmt.Sprintf("job-%03d", i), report)
	}
	started := time.Now()
	r := d.command("dlq", "replay", "--type", "ingest", "--older-than", "1ms", "--rate", fmt.Sprintf("%d/s", perSecond))
	r.want(t, exitOK, "[1/120]", "[120/120]", "120 of 120 replayed")
	// A limiter may be slower than its rate, never faster.
	if took := time.Since(started); took < (n-1)*time.Second/perSecond {
		t.Errorf("%d replays at %d/s took only %v", n, perSecond, took)
	}
	if first, last := strings.Index(r.out, "job-000.r1"), strings.Index(r.out, "job-119.r1"); first < 0 ||
		last < first {
		t.Error("they are not replayed in the order in which they came")
	}
	sent := map[string]bool{}
	for _, one := range d.messages(d.Queues.Normal) {
		sent[one.ID] = true
	}
	if len(sent) != n {
		t.Errorf("I1: %d of %d were sent", len(sent), n)
	}
	if left := d.depth(d.Queues.DeadLetter); left != 0 {
		t.Errorf("%d copies were left behind", left)
	}
}

func TestJobsRetry(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fail("a", report)
	d.command("jobs", "retry", "a").want(t, exitOK, "a is queued again, with 1 of 3 attempts used")
	if sent := d.messages(d.Queues.Normal); len(sent) != 1 || sent[0].ID != "a" || d.depth(d.Queues.DeadLetter) != 0 {
		t.Errorf("sent: %+v", sent)
	}
	d.command("jobs", "retry", "a").want(t, exitFailed, "job a is pending", "jobs get")
	d.command("jobs", "retry", "nobody").want(t, exitFailed, "not found")
	d.command("dlq", "replay", "--job", "a", "--replayed", "yes").want(t, exitFailed, "was replayed at",
		"as job a, which is pending")

	// Every attempt used: only with --reset-attempts. The dead letter is gone by then: the row makes the message.
	d.fail("a", report)
	d.command("jobs", "retry", "a").want(t, exitOK, "2 of 3")
	id := d.fail("a", report)
	d.command("jobs", "retry", "a").want(t, exitFailed, "has used 3 of 3 attempts", "jobs retry --reset-attempts")
	d.messages(d.Queues.Normal)
	d.command("dlq", "purge", id, "--yes").want(t, exitOK, "1 of 1 removed")
	var jobs []store.Job
	reset := d.command("jobs", "retry", "a", "--reset-attempts", "-o", "json")
	if err := json.Unmarshal([]byte(reset.out), &jobs); err != nil || len(jobs) != 1 || jobs[0].Attempts != 0 ||
		jobs[0].Status != "pending" {
		t.Errorf("%v: %+v", err, reset)
	}
	if sent := d.messages(d.Queues.Normal); len(sent) != 1 || sent[0].ID != "a" ||
		sent[0].WebhookURL != "https://hook.example/a" {
		t.Errorf("sent: %+v", sent)
	}
}
