package storetest

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testDeleteOutputs: what the gateway answered for a document's bytes is not used again, and the check of a removed result
// goes with it. So do the answers of a checked task's steps. Those of other bytes and of other tenants stay.
func testDeleteOutputs(t *testing.T, b *bench) {
	other := newBench(t, b.open)
	check := map[*bench]string{}
	for _, x := range []*bench{b, other} {
		x.ingestFrom("one", "a.pdf", "in/a.pdf", "bytes-a")
		for _, sha := range []string{"bytes-a", "bytes-b"} {
			_, h := x.run()
			q := question(h, "key of "+sha)
			q.SourceSHA256 = sha
			c, err := x.ClaimAnswer(x.ctx(), q)
			if err != nil {
				t.Fatal(err)
			}
			x.keepAnswer(answer(h, q.Key, c.Claim, "derived/gateway/"+sha), "")
		}
		x.askedLast("bytes-b", "bytes-a")
		x.keptOfOld("hash of the question", "bytes-a")
		m, h := x.run(func(m *store.Begin) { m.Payload = json.RawMessage(`{}`) })
		note := partial("check", "of a.pdf")
		note.Filename, note.Blob = "a.pdf", "in/a.pdf"
		elsewhere := partial("check elsewhere", "of a.pdf")
		elsewhere.Filename, elsewhere.Blob = "a.pdf", "https://h.example/a.pdf?another query"
		x.keepPartials(m.JobID, note, elsewhere)
		settled := x.complete(h, store.Effect{Kind: store.EffectRecordDerived, Args: store.DerivedRecord{
			SourceFilename: "a.pdf", SourceBlob: "in/a.pdf", SourceSHA256: "bytes-a", Recipe: "x", Blob: "derived/a.xml",
			Format: "xml", Engine: "gateway",
		}}, store.Effect{Kind: store.EffectRecordCheck, Args: store.LLMCheck{
			Confidence: 0.5, Verdict: "differs", Model: "m",
		}})
		var r struct {
			ID string `json:"check_id"`
		}
		if err := json.Unmarshal(settled.Result, &r); err != nil || r.ID == "" {
			t.Fatalf("%s, %v", settled.Result, err)
		}
		check[x] = r.ID
	}

	r := b.delete("one", "a.pdf", "in/a.pdf", nil)
	if r.Removed.Asked != 3 || r.Removed.Notes != 2 {
		t.Errorf("removed: %+v", r)
	}
	old, err := b.ExpireAnswers(b.ctx(), 24*hour, 10)
	blobs := map[string]bool{}
	for _, a := range old {
		blobs[a.Blob] = true
	}
	if err != nil || !maps.Equal(blobs, map[string]bool{
		"derived/gateway/bytes-a": true, "derived/gateway/written": true,
		"derived/gateway/old": true,
	}) {
		t.Errorf("the upkeep removes %+v, %v; want the answers of the document", old, err)
	}
	_, h := b.run()
	b.claimAnswer(h, "key of bytes-a", false)
	b.claimAnswer(h, "key of bytes-b", true)
	if _, err := b.LLMCheckRow(b.ctx(), check[b]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the check: %v", err)
	}

	if _, err := other.LLMCheckRow(b.ctx(), check[other]); err != nil { // I10
		t.Error(err)
	}
	_, h = other.run()
	other.claimAnswer(h, "key of bytes-a", true)
	if left := other.partials(store.PartialQuery{JobID: "x", Keys: []string{"check"}}); left == "" {
		t.Error("the other tenant's check is gone")
	}
}

// keptOfOld uses an answer that an older version kept under another hash than the document's.
func (b *bench) keptOfOld(old, document string) {
	b.t.Helper()
	_, h := b.run()
	q := question(h, "key of an older version")
	for _, q.SourceSHA256 = range []string{old, document} {
		c, err := b.ClaimAnswer(b.ctx(), q)
		if err != nil {
			b.t.Fatal(err)
		}
		if !c.Kept {
			b.keepAnswer(answer(h, q.Key, c.Claim, "derived/gateway/old"), "")
		}
	}
}

// askedLast keeps the answer to a question that two documents had: the second asked it again when the first was gone.
func (b *bench) askedLast(first, second string) {
	b.t.Helper()
	_, h := b.run()
	q := question(h, "key of what both say")
	var c store.AnswerClaim
	for _, q.SourceSHA256 = range []string{first, second} {
		var err error
		if c, err = b.ClaimAnswer(b.ctx(), q); err != nil {
			b.t.Fatal(err)
		}
	}
	b.keepAnswer(answer(h, q.Key, c.Claim, "derived/gateway/written"), "")
}
