package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func question(h store.Holder, key string) store.AnswerQuestion {
	return store.AnswerQuestion{Holder: h, Key: key, SourceSHA256: "sha", Mapping: "m", Mode: "direct"}
}

func (b *bench) claimAnswer(h store.Holder, key string, kept bool) store.AnswerClaim {
	b.t.Helper()
	c, err := b.ClaimAnswer(b.ctx(), question(h, key))
	if err != nil || c.Kept != kept {
		b.t.Fatalf("claim %s: %+v, %v; want kept %v", key, c, err, kept)
	}
	return c
}

func answer(h store.Holder, key string, claim int64, blob string) store.Answer {
	return store.Answer{Holder: h, Key: key, Claim: claim, AnswerFile: store.AnswerFile{
		Blob: blob, SHA256: "sum of " + blob, Bytes: 7, HTTPStatus: 200, GatewayMS: 12,
		Details: json.RawMessage(`{"confidence": 0.9}`),
	}}
}

func (b *bench) keepAnswer(a store.Answer, superseded string) {
	b.t.Helper()
	if got, err := b.KeepAnswer(b.ctx(), a); err != nil || got != superseded {
		b.t.Fatalf("keep %s: superseded %q, %v; want %q", a.Key, got, err, superseded)
	}
}

// testAnswers: while a job asks another one is told to wait; what it keeps, each job of the tenant gets, and no other
// tenant's.
func testAnswers(t *testing.T, b *bench) {
	_, h := b.run()
	_, other := b.run()
	c := b.claimAnswer(h, "k", false)
	var busy *store.BusyError
	if _, err := b.ClaimAnswer(b.ctx(), question(other, "k")); !errors.As(err, &busy) || busy.JobID != h.JobID ||
		busy.RetryAfter <= 0 || busy.RetryAfter > hour {
		t.Fatalf("a second job: %v", err)
	}
	b.claimAnswer(other, "another", false)
	again := b.claimAnswer(h, "k", false) // the next attempt, say
	if again.Claim <= c.Claim {
		t.Errorf("the claim does not rise: %d, %d", c.Claim, again.Claim)
	}
	a := answer(h, "k", again.Claim, "blob-1")
	b.keepAnswer(a, "")
	for _, who := range []store.Holder{h, other} {
		got := b.claimAnswer(who, "k", true)
		if f := got.AnswerFile; got.Own != (who == h) || f.Blob != "blob-1" || f.SHA256 != "sum of blob-1" || f.Bytes != 7 ||
			f.HTTPStatus != 200 || f.GatewayMS != 12 || string(f.Details) != `{"confidence": 0.9}` {
			t.Errorf("kept: %+v", got)
		}
	}
	lost := question(other, "k")
	lost.Missing = "blob-1" // somebody removed it
	second, err := b.ClaimAnswer(b.ctx(), lost)
	if err != nil || second.Kept {
		t.Fatalf("without its blob: %+v, %v", second, err)
	}
	bare := answer(other, "k", second.Claim, "blob-2")
	bare.Details = nil
	b.keepAnswer(bare, "blob-1")
	if got := b.claimAnswer(h, "k", true); got.Blob != "blob-2" || got.Own || got.Details != nil {
		t.Errorf("the newest: %+v", got)
	}
	stranger := newBench(t, b.open)
	_, theirs := stranger.run()
	stranger.claimAnswer(theirs, "k", false)
}

// testAnswersTogether: of jobs that ask the same at once one gets the right to.
func testAnswersTogether(t *testing.T, b *bench) {
	const jobs = 8
	var holders []store.Holder
	for range jobs {
		_, h := b.run()
		holders = append(holders, h)
	}
	claims, errs := make([]store.AnswerClaim, jobs), make([]error, jobs)
	var all sync.WaitGroup
	for i, h := range holders {
		all.Go(func() { claims[i], errs[i] = b.ClaimAnswer(b.ctx(), question(h, "k")) })
	}
	all.Wait()
	won := 0
	for i := range jobs {
		var busy *store.BusyError
		switch {
		case errs[i] == nil && !claims[i].Kept:
			won++
		case !errors.As(errs[i], &busy):
			t.Errorf("job %d: %+v, %v", i, claims[i], errs[i])
		}
	}
	if won != 1 {
		t.Errorf("%d jobs may ask", won)
	}
}

// testAnswersForced: a forced job pays anew, once; until then the others have the old answer.
func testAnswersForced(t *testing.T, b *bench) {
	_, first := b.run()
	b.keepAnswer(answer(first, "k", b.claimAnswer(first, "k", false).Claim, "blob-1"), "")
	b.complete(first)
	m, forced := b.run()
	fresh := question(forced, "k")
	fresh.Fresh = true
	c, err := b.ClaimAnswer(b.ctx(), fresh)
	if err != nil || c.Kept {
		t.Fatalf("%+v, %v", c, err)
	}
	_, other := b.run()
	if got := b.claimAnswer(other, "k", true); got.Blob != "blob-1" {
		t.Errorf("meanwhile: %+v", got)
	}
	b.keepAnswer(answer(forced, "k", c.Claim, "blob-2"), "blob-1")
	if c, err = b.ClaimAnswer(b.ctx(), fresh); err != nil || !c.Kept || !c.Own || c.Blob != "blob-2" {
		t.Errorf("the next attempt of the forced job: %+v, %v", c, err)
	}
	b.complete(forced)
	m.Force, m.Source = true, store.Source{Queue: "q", MessageID: uuid.NewString(), InsertedAt: time.Now().Add(hour)}
	fresh.Holder = holder(m, b.begin(m, store.Run)) // its next series
	if c, err = b.ClaimAnswer(b.ctx(), fresh); err != nil || c.Kept {
		t.Errorf("forced again: %+v, %v", c, err)
	}
}

// testAnswersFenced: a claim ends with the lease of its job, and whoever lost it keeps nothing (I4).
func testAnswersFenced(t *testing.T, b *bench) {
	m, h := b.run()
	c := b.claimAnswer(h, "k", false)
	b.loseWorker(h)
	_, other := b.run()
	second := b.claimAnswer(other, "k", false)
	fenced := func(what string, a store.Answer) {
		t.Helper()
		if _, err := b.KeepAnswer(b.ctx(), a); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s keeps an answer: %v", what, err)
		}
	}
	fenced("the lost claim", answer(h, "k", c.Claim, "blob-1"))
	revived := holder(m, b.begin(m, store.Run))
	fenced("an older attempt", answer(h, "k", second.Claim, "blob-1"))
	fenced("the next attempt, without a claim", answer(revived, "k", second.Claim, "blob-1"))
	fenced("an answer to nothing", answer(other, "unknown", second.Claim, "blob-1"))
	if _, err := b.ClaimAnswer(b.ctx(), question(h, "k")); !errors.Is(err, store.ErrFenced) {
		t.Errorf("an older attempt claims: %v", err)
	}
	b.keepAnswer(answer(other, "k", second.Claim, "blob-2"), "")
	b.complete(other)
	if got := b.claimAnswer(revived, "k", true); got.Blob != "blob-2" {
		t.Errorf("kept: %+v", got)
	}
	b.complete(revived)
	// A job that ended or was released holds no claim.
	for _, end := range []func(store.Begin, store.Holder){
		func(_ store.Begin, h store.Holder) { b.complete(h) },
		func(m store.Begin, h store.Holder) { b.fail(h, m) },
		func(_ store.Begin, h store.Holder) {
			if _, err := b.Release(b.ctx(), store.Release{Holder: h}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		m, h := b.run()
		b.claimAnswer(h, "next", false)
		end(m, h)
		_, h = b.run()
		b.claimAnswer(h, "next", false)
		b.complete(h)
	}
}

// testExpireAnswers: an expired answer is not found, and its row goes when its blob has gone. A question that is being
// asked meanwhile stays.
func testExpireAnswers(t *testing.T, b *bench) {
	_, h := b.run()
	for i := range 3 {
		key := fmt.Sprint("k", i)
		b.keepAnswer(answer(h, key, b.claimAnswer(h, key, false).Claim, "blob of "+key), "")
	}
	expire := func(age time.Duration, limit, want int) []store.ExpiredAnswer {
		t.Helper()
		got, err := b.ExpireAnswers(b.ctx(), age, limit)
		if err != nil || len(got) != want {
			t.Fatalf("expired %v, %v; want %d", got, err, want)
		}
		return got
	}
	forget := func(want int, gone ...store.ExpiredAnswer) {
		t.Helper()
		if n, err := b.ForgetAnswers(b.ctx(), gone); err != nil || n != want {
			t.Errorf("forgot %d, %v; want %d", n, err, want)
		}
	}
	expire(hour, 10, 0)
	old := expire(0, 2, 2)
	if old[0].Blob != "blob of "+old[0].Key {
		t.Errorf("expired %v", old)
	}
	expire(0, 2, 2) // again, if the worker died meanwhile
	c := b.claimAnswer(h, old[0].Key, false)
	forget(2, old...)
	b.keepAnswer(answer(h, old[0].Key, c.Claim, "new"), "")
	b.claimAnswer(h, old[0].Key, true)
	forget(0, old...)
	forget(0, store.ExpiredAnswer{Key: "k2", Blob: "blob of k2"}) // it has not expired
	// Another upkeep may still remove the blobs of the last claims on a question that is forgotten.
	if c := b.claimAnswer(h, old[1].Key, false); c.Claim <= old[1].Claim {
		t.Errorf("after claim %d the question is forgotten, and claimed again as %d", old[1].Claim, c.Claim)
	}
	b.claimAnswer(h, "k2", true)
	// A blob that the last claim may have left is removed by then, so it is not looked for.
	if c := b.claimAnswer(h, "left", false); !c.First {
		t.Errorf("the first claim: %+v", c)
	}
	expire(0, 10, 4)
	if c := b.claimAnswer(h, "left", false); c.First {
		t.Errorf("after the question has expired: %+v", c)
	}
	stranger := newBench(t, b.open)
	if got, err := stranger.ExpireAnswers(b.ctx(), 0, 10); err != nil || len(got) != 0 {
		t.Errorf("of another tenant: %v, %v", got, err)
	}
}

// testChecks: the check is committed with the job.
func testChecks(t *testing.T, b *bench) {
	_, h := b.run()
	settled := b.complete(h, store.Effect{Kind: store.EffectRecordCheck, Args: store.LLMCheck{
		Confidence: 0.25, Verdict: "differs", Model: "gpt", Findings: []map[string]any{{"path": "/total", "page": 2}},
	}})
	var result struct {
		ID string `json:"check_id"`
	}
	if err := json.Unmarshal(settled.Result, &result); err != nil || result.ID == "" {
		t.Errorf("result %s, %v", settled.Result, err)
	}
	row, err := b.LLMCheckRow(b.ctx(), result.ID)
	if err != nil || row.JobID != h.JobID || row.Confidence != 0.25 || row.Verdict != "differs" || row.Model != "gpt" ||
		!strings.Contains(string(row.Findings), `"/total"`) || row.CreatedAt.IsZero() {
		t.Errorf("the check is %+v, %v", row, err)
	}
	if row, err := newBench(t, b.open).LLMCheckRow(b.ctx(), result.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another tenant's check is %+v, %v", row, err)
	}
	_, h = b.run()
	bad := store.Completion{Holder: h, Effects: []store.Effect{{
		Kind: store.EffectRecordCheck, Args: store.LLMCheck{Confidence: 1.5, Verdict: "x", Model: "m"},
	}}}
	if _, err := b.Complete(b.ctx(), bad); err == nil {
		t.Error("a confidence of 1.5 is recorded")
	}
}
