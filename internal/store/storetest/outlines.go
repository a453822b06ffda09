package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testOutlines: a document is found by its name or id. Headings have their chunks, also in a document without an
// outline.
func testOutlines(t *testing.T, b *bench) {
	s := b.ingest("a.pdf", "zero", "one")
	b.ingestInto("others", "a.pdf", "zero")
	first := b.documentPassages("", s.DocumentID, 0, 1)[0].ChunkID
	for _, name := range []string{"a.pdf", s.DocumentID} {
		all := b.outlines("contracts", name)
		if len(all) != 1 || all[0].DocumentID != s.DocumentID || all[0].Chunks != 2 || all[0].Title != "Terms" ||
			len(all[0].Headings) != 1 {
			t.Fatalf("%s: %+v", name, all)
		}
		if h := all[0].Headings[0]; h.Text != "Terms" || h.Level != 1 || h.Page != 1 || h.ChunkID != first {
			t.Errorf("%+v", h)
		}
	}
	if all := b.outlines("", "a.pdf"); len(all) != 2 || all[0].DocumentSet != "contracts" ||
		all[1].DocumentSet != "others" {
		t.Errorf("the name in both sets: %+v", all)
	}
	if all := b.outlines("contracts", "b.pdf"); len(all) != 0 {
		t.Errorf("no such document: %+v", all)
	}
	_, h := b.run()
	bare, err := b.StageDocument(b.ctx(), staging(h, "bare.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, bare, "zero", "one")
	effect := activate(bare, 2)
	args := effect.Args.(store.Activation)
	args.Outline = nil
	effect.Args = args
	b.complete(h, effect)
	all := b.outlines("contracts", "bare.pdf")
	if len(all) != 1 || len(all[0].Headings) != 1 || all[0].Headings[0].Text != "Payment" ||
		all[0].Headings[0].Level != 2 || all[0].Headings[0].ChunkID == "" {
		t.Errorf("of the chunks: %+v", all)
	}
}

// testAgentRuns: an answer is recorded only with the success of its job.
func testAgentRuns(t *testing.T, b *bench) {
	effect := store.Effect{Kind: store.EffectSaveAgentRun, Args: store.AgentRun{
		TaskType: "agent", DocumentSet: new("contracts"), Prompt: "Who pays?", Answer: "The tenant.", Model: "m",
		PromptTokens: 3, CompletionTokens: 4,
		Citations: []any{}, Steps: []any{map[string]any{"tools": []string{"search"}}},
		Details: map[string]any{"warnings": []string{"w"}},
	}}
	var runs []string
	for range 2 {
		_, h := b.run()
		settled := b.complete(h, effect)
		var result struct {
			RunID string `json:"run_id"`
			N     int    `json:"n"`
		}
		if err := json.Unmarshal(settled.Result, &result); err != nil || result.RunID == "" || result.N != 1 ||
			slices.Contains(runs, result.RunID) {
			t.Errorf("result %s, %v", settled.Result, err)
		}
		runs = append(runs, result.RunID)
		if _, err := b.Complete(b.ctx(), store.Completion{
			Holder: h, Result: json.RawMessage(`{}`),
			Effects: []store.Effect{effect},
		}); !errors.Is(err, store.ErrFenced) {
			t.Errorf("twice: %v", err)
		}
	}
}
