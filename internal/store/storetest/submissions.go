package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// once is a submission with a key of its own.
func once(edit ...func(*store.OnceSubmission)) store.OnceSubmission {
	s := store.OnceSubmission{
		Submission: store.Submission{
			Task: store.Task{
				JobID: uuid.NewString(), Type: "ingest", Hints: json.RawMessage(`{"force":true}`), Priority: "low",
				Payload:     json.RawMessage(`{"filename":"` + uuid.NewString() + `","metadata":{"a":1}}`),
				Fingerprint: "f", MaxAttempts: 3, RequestedBy: "me",
			},
			Queue: "q", Message: "m",
		},
		Key: strings.ReplaceAll(uuid.NewString(), "-", ""), Request: "r", KeepKey: hour,
	}
	for _, e := range edit {
		e(&s)
	}
	return s
}

func (b *bench) submitOnce(s store.OnceSubmission) store.OnceAnswer {
	b.t.Helper()
	answer, err := b.SubmitOnce(b.ctx(), s)
	if err != nil {
		b.t.Fatalf("submit: %v", err)
	}
	return answer
}

// testSubmitOnce: a repeated request gets the first one's job, as it was then.
func testSubmitOnce(t *testing.T, b *bench) {
	s := once()
	first := b.submitOnce(s)
	if !first.Created || first.Sent || first.Job.ID != s.JobID || first.Job.Status != "pending" ||
		string(first.Job.Payload) == "" || first.Job.RequestedBy != "me" || first.Job.Priority != "low" {
		t.Errorf("first: %+v", first)
	}
	if err := b.MarkSent(b.ctx(), s.JobID, s.Message); err != nil {
		t.Fatal(err)
	}
	again := s
	again.JobID = uuid.NewString() // the caller made another one
	second := b.submitOnce(again)
	if second.Created || !second.Sent || second.Job.ID != s.JobID || second.Job.Status != "pending" ||
		!second.Job.CreatedAt.Equal(first.Job.CreatedAt) || !second.Job.UpdatedAt.Equal(first.Job.UpdatedAt) ||
		string(second.Job.Payload) != `{"metadata": {"a": 1}}` {
		t.Errorf("second: %+v", second)
	}
	if _, err := b.Job(b.ctx(), again.JobID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another job was recorded: %v", err)
	}
	other := s
	other.Request = "another"
	if _, err := b.SubmitOnce(b.ctx(), other); !errors.Is(err, store.ErrKeyUsed) {
		t.Errorf("another request with the key: %v", err)
	}
	fresh := once()
	fresh.Repeated, again.Repeated = true, true
	if answer := b.submitOnce(again); answer.Created || answer.Job.ID != s.JobID {
		t.Errorf("repeated: %+v", answer)
	}
	if _, err := b.SubmitOnce(b.ctx(), fresh); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a new request that was to be a repeated one: %v", err)
	}
	if fresh.Repeated = false; !b.submitOnce(fresh).Created {
		t.Error("its key was kept")
	}
	// Without the key, the id tells.
	byID := s
	byID.Key = ""
	if answer := b.submitOnce(byID); answer.Created || !answer.Sent || answer.Job.ID != s.JobID {
		t.Errorf("the same id: %+v", answer)
	}
	byID.Fingerprint = "other"
	if _, err := b.SubmitOnce(b.ctx(), byID); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the same id with another payload: %v", err)
	}
	// A refused submission does not use up its key.
	refused := once(func(s *store.OnceSubmission) { s.JobID, s.Fingerprint = byID.JobID, "other" })
	if _, err := b.SubmitOnce(b.ctx(), refused); !errors.Is(err, store.ErrConflict) {
		t.Errorf("refused: %v", err)
	}
	refused.JobID = uuid.NewString()
	if answer := b.submitOnce(refused); !answer.Created {
		t.Errorf("after a refusal: %+v", answer)
	}
	// Keys belong to a tenant, and expire.
	if answer := newBench(t, b.open).submitOnce(s); !answer.Created {
		t.Errorf("another tenant: %+v", answer)
	}
	expired := s
	expired.JobID, expired.Request, expired.KeepKey = uuid.NewString(), "new", 0
	if answer := b.submitOnce(expired); !answer.Created || answer.Job.ID != expired.JobID {
		t.Errorf("after the key expired: %+v", answer)
	}
	if n, err := b.ForgetKeys(b.ctx(), hour, 100); err != nil || n != 0 {
		t.Errorf("forgot %d young keys, %v", n, err)
	}
	if n, err := b.ForgetKeys(b.ctx(), 0, 1); err != nil || n != 1 {
		t.Errorf("forgot %d keys of at most 1, %v", n, err)
	}
}

// testSubmitTogether: many requests with one key at once make one job, and all get the same answer.
func testSubmitTogether(t *testing.T, b *bench) {
	s := once()
	var created atomic.Int64
	answers := make([]string, 50)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			mine := s
			mine.JobID = uuid.NewString()
			answer, err := b.SubmitOnce(b.ctx(), mine)
			if err != nil {
				t.Error(err)
			}
			if answer.Created {
				created.Add(1)
			}
			j := answer.Job
			answers[i] = fmt.Sprint(j.ID, j.Status, j.CreatedAt, j.UpdatedAt)
		})
	}
	all.Wait()
	if slices.Sort(answers); created.Load() != 1 || answers[0] != answers[len(answers)-1] {
		t.Errorf("%d jobs; answers from %s to %s", created.Load(), answers[0], answers[len(answers)-1])
	}
}

// testSubmitBusy: a document has no more active jobs than allowed, whoever submits at once.
func testSubmitBusy(t *testing.T, b *bench) {
	for _, most := range []int{1, 2} {
		document := json.RawMessage(`{"filename":"` + uuid.NewString() + `","document_set":"s"}`)
		of := func(s *store.OnceSubmission) { s.Payload, s.MostActive = document, most }
		var made, busy atomic.Int64
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_, err := b.SubmitOnce(b.ctx(), once(of))
				held, refused := errors.AsType[*store.BusyError](err)
				switch {
				case err == nil:
					made.Add(1)
				case refused && held.JobID != "":
					busy.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if int(made.Load()) != most || int(busy.Load()) != 10-most {
			t.Errorf("of at most %d, %d were made and %d refused", most, made.Load(), busy.Load())
		}
		b.submitOnce(once(func(s *store.OnceSubmission) { s.MostActive = 1 })) // another document
		b.submitOnce(once(of, func(s *store.OnceSubmission) { s.Type, s.MostActive = "export", 1 }))
		b.submitOnce(once(of, func(s *store.OnceSubmission) { s.MostActive = 0 }))
	}
	// A job that came off the queue counts, too, until it has ended; and a repeated id is not another job.
	m, h := b.run()
	same := once(func(s *store.OnceSubmission) { s.Payload, s.MostActive = m.Payload, 1 })
	if held, refused := errors.AsType[*store.BusyError](ignore(b.SubmitOnce(b.ctx(), same))); !refused ||
		held.JobID != m.JobID {
		t.Errorf("while %s runs: %+v", m.JobID, held)
	}
	b.complete(h)
	for i := range 2 {
		same.Key = ""
		if answer := b.submitOnce(same); answer.Created != (i == 0) {
			t.Errorf("after it ended, %d: %+v", i, answer)
		}
	}
}

func ignore[T any](_ T, err error) error { return err }

// testRunAt: the message of a job that waits for its time is sent then, and not before.
func testRunAt(t *testing.T, b *bench) {
	ages := store.SweepAges{UnsentFor: 0, StalledFor: 0, UnstartedFor: 0, AgainAfter: 0}
	at := time.Now().Add(2 * hour).Truncate(time.Millisecond)
	s := once(func(s *store.OnceSubmission) { s.RunAt = at })
	if answer := b.submitOnce(s); answer.Job.RunAt == nil || !answer.Job.RunAt.Equal(at) || answer.Sent {
		t.Errorf("submitted: %+v", answer)
	}
	found, err := b.Sweep(b.ctx(), ages, 10)
	if err != nil || len(found.Unsent)+len(found.Stalled) > 0 || found.DueIn < 119*time.Minute || found.DueIn > 2*hour {
		t.Errorf("before its time: %+v, %v", found, err)
	}
	due := once(func(s *store.OnceSubmission) { s.RunAt = time.Now().Add(-hour) })
	b.submitOnce(due)
	ages.UnsentFor = hour // which is for those without a time
	found, err = b.Sweep(b.ctx(), ages, 10)
	if err != nil || len(found.Unsent) != 1 || found.Unsent[0].JobID != due.JobID || found.Unsent[0].Message != "m" {
		t.Errorf("in its time: %+v, %v", found, err)
	}
	if j, err := b.RequestCancel(b.ctx(), s.JobID, "me"); err != nil || j.Status != "canceled" {
		t.Errorf("cancel while it waits: %+v, %v", j, err)
	}
	if found, err = b.Sweep(b.ctx(), ages, 10); err != nil || found.DueIn != 0 {
		t.Errorf("after the cancel: %+v, %v", found, err)
	}
}

// testSkippedQueues: a sweep finds no message for a queue that takes none, and so those for others.
func testSkippedQueues(t *testing.T, b *bench) {
	for _, queue := range []string{"down", "down", "up", "slow"} {
		s := once().Submission
		s.Queue = queue
		if _, err := b.Submit(b.ctx(), s); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int][]string{1: {"up"}, 10: {"up", "slow"}} {
		found, err := b.Sweep(b.ctx(), store.SweepAges{SkipQueues: []string{"down", "gone"}}, limit)
		var got []string
		for _, u := range found.Unsent {
			got = append(got, u.Queue)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("of %d it finds %v, %v; want %v", limit, got, err, want)
		}
	}
}

// testJobFilters: pages of jobs by filter, stable while others are added.
func testJobFilters(t *testing.T, b *bench) {
	var want []string
	for i := range 7 {
		s := once(func(s *store.OnceSubmission) {
			s.Payload = json.RawMessage(fmt.Sprintf(`{"filename":"Report-%d.pdf","document_set":"s%d"}`, i, i%2))
			s.RequestedBy = fmt.Sprintf("user-%d", i%3)
		})
		b.submitOnce(s)
		want = append(want, s.JobID)
	}
	slices.Reverse(want)
	var got []string
	for f := (store.JobFilter{Limit: 2}); ; {
		page, err := b.Jobs(b.ctx(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range page {
			got = append(got, j.ID)
		}
		if len(page) < 2 {
			break
		}
		f.After = page[1].Cursor()
		b.submitOnce(once()) // a newer one
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages have %v, want %v", got, want)
	}
	oldest := b.job(want[6])
	for name, c := range map[string]struct {
		f store.JobFilter
		n int
	}{
		"document set":  {store.JobFilter{DocumentSet: "s1"}, 3},
		"requester":     {store.JobFilter{RequestedBy: "user-1"}, 2},
		"both":          {store.JobFilter{RequestedBy: "user-1", DocumentSet: "s1"}, 1},
		"filename":      {store.JobFilter{Text: "rEPORT-3"}, 1},
		"id":            {store.JobFilter{Text: strings.ToUpper(want[2][4:20])}, 1},
		"no such text":  {store.JobFilter{Text: "%"}, 0},
		"since, before": {store.JobFilter{Since: oldest.CreatedAt, Before: b.job(want[4]).CreatedAt}, 2},
	} {
		c.f.Limit = 1000
		if page, err := b.Jobs(b.ctx(), c.f); err != nil || len(page) != c.n {
			t.Errorf("%s: %d jobs, %v; want %d", name, len(page), err, c.n)
		}
	}
	_, h := b.run()
	b.complete(h)
	counts, err := b.Stats(b.ctx(), hour)
	if err != nil || !slices.Contains(counts, store.JobCount{Type: "ingest", Status: "succeeded", Jobs: 1}) ||
		len(counts) != 2 || counts[0].Status != "pending" || counts[0].Jobs < 7 {
		t.Errorf("counts: %+v, %v", counts, err)
	}
}

// testResults: rows of results are found by their ids, by their tenant alone.
func testResults(t *testing.T, b *bench) {
	s := b.ctx()
	_, h := b.run()
	settled := b.complete(h, store.Effect{Kind: store.EffectSaveSummary, Args: store.Summary{
		Filename: "a.pdf", Summary: "text", KeyPoints: []string{"one"}, Model: "m",
	}})
	var made struct {
		SummaryID string `json:"summary_id"`
	}
	if err := json.Unmarshal(settled.Result, &made); err != nil {
		t.Fatal(err)
	}
	row, err := b.SummaryRow(s, made.SummaryID)
	if err != nil || row.Summary != "text" || row.JobID != h.JobID || string(row.KeyPoints) != `["one"]` {
		t.Errorf("summary: %+v, %v", row, err)
	}
	other := newBench(t, b.open)
	for name, err := range map[string]error{
		"another tenant's": ignore(other.SummaryRow(s, made.SummaryID)), "no such": ignore(b.SummaryRow(s, uuid.NewString())),
		"no id": ignore(b.SummaryRow(s, "x")), "of another kind": ignore(b.AgentRunRow(s, made.SummaryID)),
		"and another": ignore(b.DerivedContentRow(s, made.SummaryID)),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
