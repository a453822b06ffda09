package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
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
	if found, err := d.Store.Sweep(t.Context(), store.Overdue{StalledFor: time.Hour}, 10); err != nil ||
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
	again.want(t, exitOK, "1 copies were left behind or are not on the queue")
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
	all.want(t, exitFailed, malformed+" is not replayed", "is no task", foreign+" is not replayed", "another client's",
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

// A mended message keeps the line of its job: the parent, and the webhook unless it names one itself.
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

// Two operators at once: one replays, the other is told by whom and as what it was.
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
	const n, perSecond = 200, 100
	d := newDesk(t)
	for i := range n {
		d.fail(fmt.Sprintf("job-%03d", i), report)
	}
	started := time.Now()
	r := d.command("dlq", "replay", "--type", "ingest", "--older-than", "1ms", "--rate", fmt.Sprintf("%d/s", perSecond))
	r.want(t, exitOK, "[1/200]", "[200/200]", "200 of 200 replayed")
	// A limiter can be slower than asked for, never quicker.
	if took := time.Since(started); took < (n-1)*time.Second/perSecond {
		t.Errorf("%d replays at %d/s took only %v", n, perSecond, took)
	}
	if first, last := strings.Index(r.out, "job-000.r1"), strings.Index(r.out, "job-199.r1"); first < 0 ||
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

// Whoever interrupts learns how far it came, and nothing is half done.
func TestReplayInterrupted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 6 {
		d.fail(fmt.Sprintf("job-%d", i), report)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &onLine{line: 3, do: interrupt}
	var errOut bytes.Buffer
	code := Run(ctx, []string{"dlq", "replay", "--all", "--rate", "1000/s"}, d.env, strings.NewReader(""), out, &errOut)
	result{code, out.String(), errOut.String()}.want(t, exitInterrupted, "[3/6]", "3 of 6 replayed, 3 not reached",
		"interrupted")
	if sent := d.messages(d.Queues.Normal); len(sent) != 3 {
		t.Errorf("%d messages", len(sent))
	}
	d.command("dlq", "replay", "--all").want(t, exitOK, "3 of 3 replayed")
}

// onLine does something once so many lines were written.
type onLine struct {
	bytes.Buffer
	line int
	do   func()
}

func (w *onLine) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if strings.Count(w.String(), "\n") >= w.line {
		w.do()
	}
	return n, err
}

// crashed is a queue whose sender dies before it sends.
type crashed struct{ queue.Queue }

func (crashed) Send(context.Context, string, queue.SendOptions) (string, error) {
	return "", errors.New("the process died here")
}

// A replay and a retry that were recorded and never sent are sent by a worker's sweep, and done (I1).
func TestReplayCrash(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	replayed, retried := d.fail("replayed", report), d.fail("retried", report)
	if _, err := d.Bucket.Put(t.Context(), "report.md", strings.NewReader("# Report\n\nAll is well.\n"),
		"text/markdown"); err != nil {
		t.Fatal(err)
	}
	r := d.Replayer()
	whole := r.Queue
	r.Queue = func(p task.Priority) queue.Queue { return crashed{whole(p)} }
	o, err := r.Replay(t.Context(), replayed, replay.Options{By: "anna"})
	if err == nil || o.JobID != "replayed.r1" {
		t.Fatalf("replay: %+v, %v", o, err)
	}
	if _, letter, err := r.Retry(t.Context(), "retried", "anna", false); err == nil || letter != retried {
		t.Fatalf("retry: %q, %v", letter, err)
	}
	d.command("dlq", "replay", replayed).want(t, exitFailed, "was replayed")
	if d.depth(d.Queues.Normal) != 0 {
		t.Fatal("something was sent")
	}
	d.passTime()
	stop, ended := serve(t, d.env)
	d.command("jobs", "watch", "replayed.r1", "retried").want(t, exitOK, "succeeded")
	stop()
	<-ended
	if j := d.job("retried"); j.Attempts != 2 || j.Status != "succeeded" {
		t.Errorf("retried: %+v", j)
	}
}

// passTime makes what happened to the jobs ten minutes older, so that a sweep looks at them.
func (d *desk) passTime() {
	d.Helper()
	conn, err := pgx.Connect(d.Context(), d.url)
	if err != nil {
		d.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(d.Context()))
	if _, err := conn.Exec(d.Context(), `set session_replication_role = replica; -- the guard writes updated_at
		update jobs set updated_at = updated_at - interval '10 minutes'`); err != nil {
		d.Fatal(err)
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

	// Every attempt used: only with --force. The dead letter is gone by then: the row makes the message.
	d.fail("a", report)
	d.command("jobs", "retry", "a").want(t, exitOK, "2 of 3")
	id := d.fail("a", report)
	d.command("jobs", "retry", "a").want(t, exitFailed, "has used 3 of 3 attempts", "jobs retry --force")
	d.messages(d.Queues.Normal)
	d.command("dlq", "purge", id, "--yes").want(t, exitOK, "1 of 1 removed")
	var jobs []store.Job
	forced := d.command("jobs", "retry", "a", "--force", "-o", "json")
	if err := json.Unmarshal([]byte(forced.out), &jobs); err != nil || len(jobs) != 1 || jobs[0].Attempts != 0 ||
		jobs[0].Status != "pending" {
		t.Errorf("%v: %+v", err, forced)
	}
	if sent := d.messages(d.Queues.Normal); len(sent) != 1 || sent[0].ID != "a" ||
		sent[0].WebhookURL != "https://hook.example/a" {
		t.Errorf("sent: %+v", sent)
	}
}

func TestPurge(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first, second := d.fail("a", report), d.fail("b", report)
	third := d.fail("c", report, func(t *task.Task) { t.Type = task.Summarize })
	d.command("dlq", "purge", "--all").want(t, exitUsage, "standard input is not a terminal", "--dry-run")
	d.command("dlq", "purge").want(t, exitUsage, "no dead letters are selected")
	d.command("dlq", "purge", "--type", "ingest", "--dry-run").want(t, exitOK, first, second, "2 would be removed")
	if d.depth(d.Queues.DeadLetter) != 3 {
		t.Error("a dry run removed a copy")
	}
	var r purgeReport
	purged := d.command("dlq", "purge", "--type", "ingest", "--limit", "1", "--yes", "-o", "json")
	if err := json.Unmarshal([]byte(purged.out), &r); err != nil || len(r.Purged) != 1 || r.Purged[0] != first ||
		r.Copies.Removed != 1 {
		t.Errorf("%v: %+v", err, purged)
	}
	d.command("dlq", "purge", second, "--yes", "--rows-only").want(t, exitOK, second, "1 of 1 removed")
	d.command("dlq", "show", second).want(t, exitFailed, "not found")
	if n := d.depth(d.Queues.DeadLetter); n != 2 {
		t.Errorf("%d copies", n)
	}
	d.command("dlq", "purge", "--newer-than", "1h", "--older-than", "30m", "--yes").want(t, exitOK, "0 of 0 removed")
	d.command("dlq", "show", third).want(t, exitOK, "summarize")
	d.command("jobs", "get", "a").want(t, exitOK, "failed") // the jobs stay
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for answer, ok := range map[string]bool{"purge 12\n": true, " purge 12 ": true, "purge 1\n": false, "y\n": false,
		"": false, "\n": false} {
		if err := confirm(strings.NewReader(answer), io.Discard, "12 dead letters go.", "purge 12",
			"nothing was removed"); (err == nil) != ok {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"10/s": 10, "30/m": 0.5, "3600/h": 1, "2.5": 2.5, "x": 0, "10/": 0,
		"/s": 0, "NaN/s": 0, "-1/s": 0, "1/d": 0, "Inf/s": 0} {
		var r rateFlag
		if err := r.Set(text); r.perSecond != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v; want %v", text, r.perSecond, err, want)
		}
	}
}
