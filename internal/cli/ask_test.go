package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// prompt are rows whose jobs are done as soon as they are submitted.
type prompt struct {
	*rows
	results map[string]string // by the job's type
}

func (p *prompt) Submit(ctx context.Context, s store.Submission) (store.SubmitAnswer, error) {
	answer, err := p.rows.Submit(ctx, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs = append(p.jobs, store.Job{
		ID: s.JobID, Type: s.Type, Payload: s.Payload, Status: string(job.Succeeded),
		Result: json.RawMessage(p.results[s.Type]),
	})
	return answer, err
}

// The shortcuts queue the tasks that their words mean, and show what came of them.
func TestShortcuts(t *testing.T) {
	t.Parallel()
	local := filepath.Join(t.TempDir(), "tides.md")
	if err := os.WriteFile(local, []byte("# Tides"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct{ payload, shows string }{
		"ask|When are the|cranes parked?|--set|reports": {`{"document_set":"reports","prompt":"When are the cranes parked?"}`, "At force 9."},
		"summarize|2026/tides.md|--style|bullets": {
			`{"filename":"2026/tides.md","style":"bullets"}`,
			"High at noon.",
		},
		"summarize|--upload|" + local: {`{"blob":"uploads/ID/tides.md","filename":"tides.md"}`, "High at noon."},
	} {
		o, bucket := office(&rows{})
		bucket.blobs["tides.md"], bucket.blobs["2026/tides.md"] = "the tenant's own", "# Tides"
		s := &prompt{
			&rows{}, map[string]string{
				"agent": `{"answer":"At force 9."}`, "summarize": `{"summary":"High at noon.","model":"m"}`,
			},
		}
		o.Store = s
		invoke(t, o, testEnv(), "", strings.Split(args, "|")...).want(t, exitOK, want.shows)
		sent := delivered(t, o)
		if len(sent) != 1 {
			t.Fatalf("%s: sent %v", args, sent)
		}
		if payload := strings.ReplaceAll(want.payload, "ID", sent[0].ID); string(sent[0].Payload) != payload {
			t.Errorf("%s: sent %s, want %s", args, sent[0].Payload, payload)
		}
		if bucket.blobs["tides.md"] != "the tenant's own" ||
			strings.Contains(args, "--upload") != (bucket.blobs["uploads/"+sent[0].ID+"/tides.md"] == "# Tides") {
			t.Errorf("%s: uploaded %v", args, bucket.blobs)
		}
	}
	o, _ := office(&rows{})
	invoke(t, o, testEnv(), "", "ask").want(t, exitUsage, "needs a QUESTION")
	invoke(t, o, testEnv(), "", "summarize", "a.pdf", "--style", "poem").want(t, exitUsage,
		"payload.style is none of brief, detailed, bullets")
}

// A document that the container does not have is not sent; a container that can't be asked stops nothing.
func TestSummarizeLooksForTheDocument(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fail error
		sent int
	}{
		"missing": {nil, 0}, "denied": {errors.New("403"), 1}, "silent": {context.DeadlineExceeded, 1},
	} {
		o, bucket := office(&rows{})
		bucket.fail = tt.fail
		o.Store = &prompt{&rows{}, map[string]string{"summarize": `{"summary":"High at noon.","model":"m"}`}}
		r := invoke(t, o, testEnv(), "", "summarize", "tydes.md")
		if tt.sent == 0 {
			r.want(t, exitFailed, `look for "tydes.md": the container southhaven-documents has no such document`,
				"async-worker enqueue --type summarize --filename tydes.md")
		} else {
			r.want(t, exitOK, "High at noon.")
		}
		if n := len(delivered(t, o)); n != tt.sent {
			t.Errorf("%s: %d tasks were sent", name, n)
		}
	}
	// Without settings of a container the task is sent as before.
	o, _ := office(&rows{})
	o.Bucket = nil
	o.Store = &prompt{&rows{}, map[string]string{"summarize": `{"summary":"High at noon.","model":"m"}`}}
	invoke(t, o, testEnv("BLOB_BACKEND=dir"), "", "summarize", "a.md").want(t, exitOK, "High at noon.")
}

// The shortcuts open the container that the settings name: a long question goes through it.
func TestAskLongQuestion(t *testing.T) {
	t.Parallel()
	o, bucket := office(&rows{})
	o.Store = &prompt{&rows{}, map[string]string{"agent": `{"answer":"At force 9."}`}}
	backend := ""
	invokeSeeing(t, o, testEnv("BLOB_BACKEND=dir", "BLOB_DIR=/srv/documents"), "",
		func(c config.Config) { backend = c.BlobBackend }, "ask", strings.Repeat("why ", 16<<10)).want(t, exitOK, "At force 9.")
	if backend != config.BlobDir || len(bucket.blobs) != 1 {
		t.Errorf("the container is %q and has %d blobs", backend, len(bucket.blobs))
	}
}

func TestQueueDepths(t *testing.T) {
	t.Parallel()
	o, _ := office(&rows{})
	for _, q := range []queue.Queue{o.Queues.High, o.Queues.Normal, o.Queues.Low, o.Queues.DeadLetter} {
		if err := q.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := o.Queues.Low.Send(t.Context(), "{}", queue.SendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	invoke(t, o, testEnv(), "", "queue").want(t, exitOK, "southhaven-tasks-high ", "southhaven-tasks-low         3",
		"southhaven-tasks-deadletter")
	var depths []queueDepth
	r := invoke(t, o, testEnv(), "", "queue", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &depths); err != nil || len(depths) != 4 || depths[2].Messages != 3 {
		t.Errorf("%v: %s", err, r.out)
	}
	o.Queues.High = missing{nil, queue.ErrNotFound}
	invoke(t, o, testEnv(), "", "queue").want(t, exitOK, "does not exist yet", "southhaven-tasks-low         3")
	o.Queues.High = missing{nil, errors.New("no route")}
	invoke(t, o, testEnv(), "", "queue").want(t, exitFailed, "ask the queues at devstoreaccount1.queue.core.windows.net: no route", "AZURE_STORAGE")
}

// missing is a queue that can't be asked.
type missing struct {
	queue.Queue
	err error
}

func (missing) Name() string                         { return "gone" }
func (m missing) Depth(context.Context) (int, error) { return 0, m.err }
