package replay_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

// bench is a replayer on a real Postgres, with a queue in memory and a folder of blobs.
type bench struct {
	*testing.T
	replay.Replayer
	queues *memory.Service
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s, err := postgres.Open(t.Context(), stacktest.PostgresWith(t, schema.Options{}), postgres.Options{ClientID: "c"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	b := &bench{T: t, queues: memory.New(memory.Options{})}
	names := task.QueueNames("c")
	bucket := dir.New(t.TempDir())
	if err := bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Replayer = replay.Replayer{
		Store: s, Bucket: bucket, ClientID: "c", MaxAttempts: func(task.Type) int { return 3 },
		Queue: func(p task.Priority) queue.Queue { return b.queues.Queue(names.For(p)) },
	}
	return b
}

// reject records a refused message and returns its dead letter.
func (b *bench) reject(original string, edit func(*store.Rejection)) string {
	b.Helper()
	r := store.Rejection{
		Reason: "content_missing", Original: original, Error: store.ErrorInfo{
			Class: "content_missing", Message: "m", Code: "C", Type: "T",
		},
	}
	if edit != nil {
		edit(&r)
	}
	s, err := b.Store.Reject(b.Context(), r)
	if err != nil {
		b.Fatal(err)
	}
	return s.DeadLetter.ID
}

// sent takes the one message off the queue of normal tasks.
func (b *bench) sent() string {
	b.Helper()
	batch, err := b.Queue(task.PriorityNormal).Receive(b.Context(), 2, time.Hour)
	if err != nil || len(batch) != 1 {
		b.Fatalf("%d messages, %v", len(batch), err)
	}
	return batch[0].Text
}

// A claim check is read; what is too large for the queue goes as one, in a blob of its own.
func TestClaimChecks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	large := fmt.Sprintf(`{"task_id":"big","task_type":"agent","payload":{"prompt":%q},"webhook_url":"https://hook.example/h"}`, strings.Repeat("x", 60<<10))
	id := b.reject(`{"claim_check":{"blob":"tasks/big.json"}}`, nil)

	_, err := b.Replay(t.Context(), id, replay.Options{})
	if refusal, ok := errors.AsType[*replay.Refusal](err); !ok || refusal.Next == "" {
		t.Fatalf("without its blob: %v", err)
	}
	if _, err := b.Bucket.Put(t.Context(), "tasks/big.json", strings.NewReader(large), "application/json"); err != nil {
		t.Fatal(err)
	}
	o, err := b.Replay(t.Context(), id, replay.Options{By: "anna"}) // the queue is made on the way
	if err != nil || o.JobID != "big" {
		t.Fatalf("%+v, %v", o, err)
	}
	decoded, err := task.Decode(b.sent(), task.Options{ClientID: "c"})
	if err != nil || decoded.ClaimCheck == "" || decoded.ClaimCheck == "tasks/big.json" ||
		decoded.Known.TaskID != "big" {
		t.Fatalf("sent: %+v, %v", decoded, err)
	}
	if _, err := b.Bucket.Stat(t.Context(), decoded.ClaimCheck); err != nil {
		t.Errorf("the blob %s: %v", decoded.ClaimCheck, err)
	}
	if j, err := b.Store.Job(t.Context(), "big"); err != nil || len(j.Payload) < 60<<10 || j.Status != "pending" {
		t.Errorf("row: %d bytes of payload, %s, %v", len(j.Payload), j.Status, err)
	}
}

func TestAnotherClients(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	theirs := `{"task_id":"x","task_type":"ingest","payload":{},"client_id":"other"}`
	if _, err := b.Bucket.Put(t.Context(), "tasks/x.json", strings.NewReader(theirs), "application/json"); err != nil {
		t.Fatal(err)
	}
	mended := task.Task{ID: "x", Type: task.Ingest, Payload: json.RawMessage(`{}`), Priority: task.PriorityNormal}
	for name, c := range map[string]struct {
		original string
		edit     func(*store.Rejection)
		o        replay.Options
	}{
		"by its reason": {`{}`, func(r *store.Rejection) { r.Reason = "wrong_client" }, replay.Options{}},
		"by its reason, again": {
			`{}`, func(r *store.Rejection) { r.Reason = "wrong_client" },
			replay.Options{Message: &mended, Again: true, Force: true},
		},
		"by its text":        {theirs, nil, replay.Options{}},
		"in its claim check": {`{"claim_check":{"blob":"tasks/x.json"}}`, nil, replay.Options{}},
	} {
		_, err := b.Replay(t.Context(), b.reject(c.original, c.edit), c.o)
		if refusal, ok := errors.AsType[*replay.Refusal](err); !ok ||
			!strings.Contains(refusal.Why, "another client's") {
			t.Errorf("I10: %s: %v", name, err)
		}
	}
	if jobs, err := b.Store.Jobs(t.Context(), store.JobFilter{Limit: 10}); err != nil || len(jobs) != 0 {
		t.Errorf("jobs: %+v, %v", jobs, err)
	}
}

// Dead letters of one task id, replayed at once, become a job each.
func TestOneLineAtOnce(t *testing.T) {
	t.Parallel()
	const n = 5
	b := newBench(t)
	ids := make([]string, n)
	for i := range ids {
		ids[i] = b.reject(fmt.Sprintf(`{"task_id":"a","task_type":"ingest","payload":{"filename":"%d"}}`, i),
			func(r *store.Rejection) { r.Reason, r.JobID = "conflict", "a" })
	}
	outcomes := make([]replay.Outcome, n)
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			var err error
			if outcomes[i], err = b.Replay(t.Context(), id, replay.Options{By: "anna"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for i, o := range outcomes {
		j, err := b.Store.Job(t.Context(), o.JobID)
		if err != nil || seen[o.JobID] || !strings.Contains(string(j.Payload), fmt.Sprintf("%q", fmt.Sprint(i))) {
			t.Errorf("dead letter %d became %+v (%s), %v", i, o, j.Payload, err)
		}
		seen[o.JobID] = true
	}
}

// A retry sends the original message as it was; one that was refused can't be sent again.
func TestRetryOfARefusedJob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := `{"task_id":"late","task_type":"convert","payload":{"filename":"a"},"hints":{"resolution":"7"},"unheard":1}`
	b.reject(text, func(r *store.Rejection) {
		r.JobID, r.Type, r.Record, r.Reason, r.Payload = "late", "convert", true, "unknown_type",
			json.RawMessage(`{"filename":"a"}`)
	})
	j, letter, err := b.Retry(t.Context(), "late", "anna", replay.Retrying{})
	if err != nil || j.Status != "pending" || j.MaxAttempts != 3 || letter == "" ||
		!strings.Contains(string(j.Hints), "7") {
		t.Fatalf("%+v, %q, %v", j, letter, err)
	}
	if got := b.sent(); got != text {
		t.Errorf("sent: %s", got)
	}

	// One that is larger than the queue takes goes as a claim check that stands for the same text.
	large := fmt.Sprintf(`{"task_id":"large","task_type":"convert","payload":{"filename":"a","x":%q},"unheard":1}`,
		strings.Repeat("x", memory.MaxText))
	b.reject(large, func(r *store.Rejection) {
		r.JobID, r.Type, r.Record, r.Reason, r.Payload = "large", "convert", true, "unknown_type", json.RawMessage(`{"filename":"a"}`)
	})
	if _, _, err := b.Retry(t.Context(), "large", "anna", replay.Retrying{}); err != nil {
		t.Fatal(err)
	}
	decoded, err := task.Decode(b.sent(), task.Options{ClientID: "c"})
	if err != nil || decoded.ClaimCheck == "" || decoded.Known.TaskID != "large" {
		t.Fatalf("sent: %+v, %v", decoded, err)
	}
	_, body, err := b.Bucket.Open(t.Context(), decoded.ClaimCheck)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil || string(kept) != large {
		t.Errorf("the blob has %d bytes, want the original's %d, %v", len(kept), len(large), err)
	}

	// Of one that was moved to another queue the copy is a new message: refused again, it is another dead letter, and
	// the job ends again.
	from := task.Origin{Queue: "c-tasks-low", MessageID: "m-1", InsertedAt: time.Now()}
	moved, err := task.Moved(`{"task_id":"moved","task_type":"convert","payload":{"filename":"a"}}`, from)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(text string, source store.Source) string {
		return b.reject(text, func(r *store.Rejection) {
			r.JobID, r.Type, r.Record, r.Reason, r.Payload, r.Source = "moved", "convert", true, "unknown_type",
				json.RawMessage(`{"filename":"a"}`), source
		})
	}
	first := refuse(moved, store.Source(from))
	if _, _, err := b.Retry(t.Context(), "moved", "anna", replay.Retrying{}); err != nil {
		t.Fatal(err)
	}
	text = b.sent()
	if decoded, err := task.Decode(text, task.Options{ClientID: "c"}); err != nil ||
		decoded.Origin != (task.Origin{}) || decoded.Task.ID != "moved" {
		t.Errorf("sent: %s, from %+v, %v", text, decoded.Origin, err)
	}
	if second := refuse(text, store.Source{Queue: "c-tasks", MessageID: "m-2"}); second == first {
		t.Error("refused again, it is the same dead letter")
	}
	if j, err := b.Store.Job(t.Context(), "moved"); err != nil || j.Status != "failed" {
		t.Errorf("refused again: %s, %v", j.Status, err)
	}
	b.reject(`{"task_id":"bad"`, func(r *store.Rejection) { r.JobID, r.Record, r.Reason = "bad", true, "malformed" })
	_, _, err = b.Retry(t.Context(), "bad", "anna", replay.Retrying{Force: true})
	if refusal, ok := errors.AsType[*replay.Refusal](err); !ok || !strings.Contains(refusal.Next, "--message") {
		t.Errorf("a malformed message: %v", err)
	}
	if _, _, err = b.Retry(t.Context(), "nobody", "anna", replay.Retrying{Force: true}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

// What was refused before its time waits in the database for it when it is done again: it does not start at once.
func TestRunAtIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Now().Add(3 * time.Hour).UTC().Truncate(time.Second)
	refuse := func(id string) string {
		text := fmt.Sprintf(`{"task_id":%q,"task_type":"convert","payload":{"filename":"a"},"run_at":%q}`, id, at.Format(time.RFC3339))
		return b.reject(text, func(r *store.Rejection) {
			r.JobID, r.Type, r.Record, r.Reason, r.Payload = id, "convert", true, "unknown_type", json.RawMessage(`{"filename":"a"}`)
		})
	}
	refuse("retried")
	if _, _, err := b.Retry(t.Context(), "retried", "anna", replay.Retrying{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Replay(t.Context(), refuse("replayed"), replay.Options{By: "anna", SendAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Queue(task.PriorityNormal).Depth(t.Context()); err != nil && !errors.Is(err, queue.ErrNotFound) || n > 0 {
		t.Errorf("%d messages were sent at once, %v", n, err)
	}
	for _, id := range []string{"retried", "replayed.r1"} {
		if j, err := b.Store.Job(t.Context(), id); err != nil || j.Status != "pending" || j.RunAt == nil || !j.RunAt.Equal(at) {
			t.Errorf("%s: %+v, %v", id, j, err)
		}
	}
}
