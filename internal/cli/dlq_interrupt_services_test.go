package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// An interrupted replay reports its progress and leaves no dead letter half replayed.
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

// onLine calls do after a number of lines.
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
	if _, letter, err := r.Retry(t.Context(), "retried", "anna", replay.Retrying{}); err == nil || letter != retried {
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
