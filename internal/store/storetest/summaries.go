package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func partial(key, text string) store.Partial {
	answer, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err) // a plain map
	}
	return store.Partial{Key: key, Answer: answer, PromptTokens: 100, CompletionTokens: 7}
}

// partials returns the stored answers as "key text own", in order.
func (b *bench) partials(q store.PartialQuery) string {
	b.t.Helper()
	found, err := b.Partials(b.ctx(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, p := range found {
		var a struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(p.Answer, &a); err != nil || p.PromptTokens != 100 || p.CompletionTokens != 7 {
			b.t.Errorf("%+v: %v", p, err)
		}
		all = append(all, fmt.Sprint(p.Key, " ", a.Text, " ", p.Own))
	}
	return strings.Join(all, "; ")
}

func (b *bench) keepPartials(jobID string, partials ...store.Partial) {
	b.t.Helper()
	if err := b.KeepPartials(b.ctx(), jobID, partials); err != nil {
		b.t.Fatal(err)
	}
}

// testPartials: any job of the tenant finds an answer by its key. Answers are replaced and expire. Another tenant does
// not see them.
func testPartials(t *testing.T, b *bench) {
	m, _ := b.run()
	ask := store.PartialQuery{JobID: m.JobID, Keys: []string{"b", "none", "a"}}
	if got := b.partials(ask); got != "" {
		t.Errorf("before: %s", got)
	}
	b.keepPartials(m.JobID, partial("b", "second"), partial("b", "second"), partial("a", "first"))
	b.keepPartials("another job", partial("c", "third\x00 \ufffd"))
	if got := b.partials(ask); got != "a first true; b second true" {
		t.Errorf("kept: %s", got)
	}
	ask.Keys = append(ask.Keys, "c")
	if got := b.partials(ask); got != "a first true; b second true; c third\ufffd \ufffd false" {
		t.Errorf("with another job's: %s", got)
	}
	ask.OwnOnly = true
	if got := b.partials(ask); got != "a first true; b second true" {
		t.Errorf("own ones: %s", got)
	}
	b.keepPartials("another job", partial("a", "replaced"))
	if got := b.partials(store.PartialQuery{JobID: m.JobID, Keys: []string{"a"}}); got != "a replaced false" {
		t.Errorf("replaced: %s", got)
	}
	large := partial("large", strings.Repeat("x", store.MaxPartial))
	if err := b.KeepPartials(b.ctx(), m.JobID, []store.Partial{large}); err == nil {
		t.Error("an answer over the limit was kept")
	}
	stranger := newBench(t, b.open)
	if got := stranger.partials(ask); got != "" {
		t.Errorf("I10: another client's answers: %s", got)
	}
	stranger.keepPartials(m.JobID, partial("a", "theirs"))
	expire := func(olderThan time.Duration, want int) {
		t.Helper()
		if n, err := b.ExpirePartials(b.ctx(), olderThan, 2); err != nil || n != want {
			t.Errorf("expired %d, want %d: %v", n, want, err)
		}
	}
	expire(time.Hour, 0) // none is an hour old
	expire(0, 2)         // at most two
	expire(0, 1)
	expire(0, 0)
	if got := stranger.partials(store.PartialQuery{JobID: "x", Keys: []string{"a"}}); got != "a theirs false" {
		t.Errorf("I10: another client's answers expired: %s", got)
	}
}

// testPartialsForced: with OwnOnly a forced job does not get the answers that its former series paid for. A later
// attempt gets those of the earlier attempts of its series.
func testPartialsForced(t *testing.T, b *bench) {
	m, h := b.run()
	b.keepPartials(m.JobID, partial("a", "first series"))
	b.complete(h)
	m.Force, m.Source = true, store.Source{Queue: "q", MessageID: uuid.NewString(), InsertedAt: time.Now().Add(hour)}
	h = holder(m, b.begin(m, store.Run))
	own := store.PartialQuery{JobID: m.JobID, Keys: []string{"a", "b"}, OwnOnly: true}
	if got := b.partials(own); got != "" {
		t.Errorf("forced: %s", got)
	}
	all := own
	all.OwnOnly = false
	if got := b.partials(all); got != "a first series false" {
		t.Errorf("all: %s", got)
	}
	b.keepPartials(m.JobID, partial("a", "second series"))
	b.loseWorker(h)
	b.begin(m, store.Run)
	if got := b.partials(own); got != "a second series true" {
		t.Errorf("the attempt after: %s", got)
	}
}

// testSummary: the success of the job writes the row once, with the job's requested_by.
func testSummary(t *testing.T, b *bench) {
	_, h := b.run(func(m *store.Begin) { m.RequestedBy = "user-17" })
	maxWords := 50
	save := store.Effect{Kind: store.EffectSaveSummary, Args: store.Summary{
		Filename: "a.pdf", Blob: "in/a.pdf", SourceSHA256: "sha", Summary: "It is so.",
		KeyPoints: []map[string]any{{"text": "so", "pages": []int{3}}},
		Model:     "m", Style: "brief", Language: "en", MaxWords: &maxWords, PromptTokens: 1000, CompletionTokens: 10,
	}}
	var result struct {
		ID string `json:"summary_id"`
		N  int    `json:"n"`
	}
	settled := b.complete(h, save)
	if err := json.Unmarshal(settled.Result, &result); err != nil || result.ID == "" || result.N != 1 {
		t.Errorf("result %s, %v", settled.Result, err)
	}
	if _, err := b.Complete(b.ctx(), store.Completion{
		Holder: h, Result: json.RawMessage(`{}`),
		Effects: []store.Effect{save},
	}); err == nil {
		t.Error("I2: an ended job saved another summary")
	}
	_, h = b.run()
	second := b.complete(h, store.Effect{Kind: store.EffectSaveSummary, Args: store.Summary{
		Filename: "a.pdf", Summary: "So.", KeyPoints: []string(nil), Model: "m", Extractive: true,
	}})
	if strings.Contains(string(second.Result), result.ID) || !strings.Contains(string(second.Result), "summary_id") {
		t.Errorf("the second: %s", second.Result)
	}
}
