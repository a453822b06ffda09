package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func submission(edit ...func(*store.Submission)) store.Submission {
	s := store.Submission{
		Task: store.Task{
			JobID: "job-" + uuid.NewString(), Type: "ingest", Payload: json.RawMessage(`{"filename":"a.pdf"}`),
			Hints: json.RawMessage(`{}`), Priority: "low", Fingerprint: "f1", MaxAttempts: 3,
		},
		Queue: "q-low", Message: `{"task_id":"x"}`,
	}
	for _, e := range edit {
		e(&s)
	}
	return s
}

func testSubmit(t *testing.T, b *bench) {
	s := submission()
	got, err := b.Submit(b.ctx(), s)
	if err != nil || got != (store.SubmitAnswer{Created: true, State: "pending"}) {
		t.Fatalf("submit: %+v, %v", got, err)
	}
	got, err = b.Submit(b.ctx(), s)
	if err != nil || got != (store.SubmitAnswer{State: "pending"}) {
		t.Fatalf("again: %+v, %v", got, err)
	}
	second := submission()
	if _, err := b.Submit(b.ctx(), second); err != nil {
		t.Fatal(err)
	}
	unsent := func(olderThan time.Duration) []string {
		t.Helper()
		var ids []string
		for _, u := range b.unsent(olderThan) {
			if u.Queue != "q-low" || u.Message != s.Message {
				t.Errorf("unsent: %+v", u)
			}
			ids = append(ids, u.JobID)
		}
		return ids
	}
	if got := unsent(hour); got != nil {
		t.Errorf("unsent for an hour: %v", got)
	}
	if got := unsent(0); !slices.Equal(got, []string{s.JobID, second.JobID}) {
		t.Errorf("I1: unsent: %v", got)
	}
	if err := b.MarkSent(b.ctx(), s.JobID, s.Message); err != nil {
		t.Fatal(err)
	}
	if got := unsent(0); !slices.Equal(got, []string{second.JobID}) {
		t.Errorf("after one was sent: %v", got)
	}
	// Its message came: it must have been sent.
	m := message(func(m *store.Begin) { m.JobID = second.JobID })
	begun := b.begin(m, store.Run)
	if begun.Attempt != 1 {
		t.Errorf("begun: %+v", begun)
	}
	if got := unsent(0); got != nil {
		t.Errorf("after its message came: %v", got)
	}
	if got, err := b.Submit(b.ctx(), second); err != nil || got != (store.SubmitAnswer{State: "running", Sent: true}) {
		t.Errorf("submit of a running job: %+v, %v", got, err)
	}
	if err := b.MarkSent(b.ctx(), "no-such-job", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("mark an unknown job: %v", err)
	}
}

// testHostileTexts: the database records every text that a queue can carry.
func testHostileTexts(t *testing.T, b *bench) {
	hostile := "a\x00b \\u0000 \xff\xfe \u2028 '; drop table jobs; -- $1 ${x}"
	b.reject(rejection(func(r *store.Rejection) { r.Original, r.Error.Message = hostile, hostile }))
	for name, payload := range map[string]string{
		"escaped NUL": `{"filename":"a\u0000b"}`, "half a surrogate": `{"filename":"\ud800x"}`,
		"the other half": `{"filename":"\udc00"}`, "a whole pair": `{"filename":"\ud83d\ude00"}`,
	} {
		m, h := b.run(func(m *store.Begin) { m.Payload, m.Original = json.RawMessage(payload), hostile })
		b.fail(h, m)
		if j := b.job(m.JobID); !json.Valid(j.Payload) {
			t.Errorf("%s: payload %s", name, j.Payload)
		} else if name == "a whole pair" && !strings.Contains(string(j.Payload), "😀") {
			t.Errorf("a pair was broken: %s", j.Payload)
		}
	}
	huge := json.RawMessage(`{"n":1e999999}`)
	if _, err := b.Begin(b.ctx(), message(func(m *store.Begin) { m.Payload = huge })); err == nil {
		t.Error("a number beyond any range: no error")
	}
	b.reject(rejection(func(r *store.Rejection) { r.Payload = huge }))
}

func testReaders(t *testing.T, b *bench) {
	var ids []string
	for i := range 5 {
		m, h := b.run(func(m *store.Begin) {
			if i == 0 {
				m.Type = "ocr"
			}
		})
		if i%2 == 0 {
			b.fail(h, m)
		}
		ids = append(ids, m.JobID)
	}
	list := func(f store.JobFilter) []string {
		t.Helper()
		jobs, err := b.Jobs(b.ctx(), f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range jobs {
			got = append(got, j.ID)
		}
		return got
	}
	newest := slices.Clone(ids)
	slices.Reverse(newest)
	for _, c := range []struct {
		filter store.JobFilter
		want   []string
	}{
		{store.JobFilter{Limit: 100}, newest},
		{store.JobFilter{Limit: 2}, newest[:2]},
		{store.JobFilter{Limit: 100, Status: "failed"}, []string{ids[4], ids[2], ids[0]}},
		{store.JobFilter{Limit: 100, Type: "ocr"}, ids[:1]},
		{store.JobFilter{Limit: 100, Before: b.job(ids[2]).CreatedAt}, []string{ids[1], ids[0]}},
	} {
		if got := list(c.filter); !slices.Equal(got, c.want) {
			t.Errorf("jobs %+v: %v, want %v", c.filter, got, c.want)
		}
	}
	letters, err := b.DeadLetters(b.ctx(), store.DeadLetterFilter{Limit: 100, Class: badInput.Class})
	if err != nil || len(letters) != 3 || letters[0].JobID != ids[4] {
		t.Errorf("dead letters: %+v, %v", letters, err)
	}
	if letters, err = b.DeadLetters(b.ctx(), store.DeadLetterFilter{Limit: 100, Type: "ocr"}); err != nil ||
		len(letters) != 1 {
		t.Errorf("dead letters of ocr: %+v, %v", letters, err)
	}
	for name, err := range map[string]error{
		"job":         second(b.Job(b.ctx(), "no-such-job")),
		"dead letter": second(b.DeadLetter(b.ctx(), "no-such-letter")),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("unknown %s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// wantLetters checks how many dead letters have a job's id (I6).
func (b *bench) wantLetters(jobID string, want int) {
	b.t.Helper()
	letters, err := b.DeadLetters(b.ctx(), store.DeadLetterFilter{JobID: jobID, Limit: 100})
	if err != nil || len(letters) != want {
		b.t.Errorf("I6: %d dead letters of %s, want %d: %v", len(letters), jobID, want, err)
	}
}

func testTwoTenants(t *testing.T, b *bench) {
	m, h := b.run()
	b.complete(h)
	other := newBench(t, b.open)
	begun := other.begin(m, store.Run)
	if begun.Attempt != 1 {
		t.Errorf("the same id of another client: %+v", begun)
	}
	other.fail(holder(m, begun), m)
	if j := b.job(m.JobID); j.Status != "succeeded" {
		t.Errorf("I10: the end of another client's job changed ours: %+v", j)
	}
	if jobs, err := b.Jobs(b.ctx(), store.JobFilter{Limit: 100}); err != nil || len(jobs) != 1 {
		t.Errorf("I10: %d jobs, %v", len(jobs), err)
	}
	b.wantLetters(m.JobID, 0)
	b.wantDeliveries(m.JobID, "task.completed")
}

func testCheck(t *testing.T, b *bench) {
	if err := b.Check(b.ctx()); err != nil {
		t.Error(fmt.Errorf("check: %w", err))
	}
}
