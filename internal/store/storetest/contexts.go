package storetest

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

const portRules = "Safety rules of the port of Rotterdam."

// situated is a chunk with a context, which its vector depends on.
func situated(position int, content, context string) store.Chunk {
	c := chunk(position, content)
	c.Context, c.ContextBy, c.Embedding = context, "small/1", embed(context+content)
	return c
}

// withContexts counts the chunks with a context, by a result.
func (b *bench) withContexts(s store.Settlement) (n int) {
	b.t.Helper()
	var r struct {
		Contexts int `json:"chunks_with_context"`
	}
	if err := json.Unmarshal(s.Result, &r); err != nil {
		b.t.Fatal(err)
	}
	return r.Contexts
}

// testContexts: a context is found by its words, and shown nowhere; it belongs to its version.
func testContexts(t *testing.T, b *bench) {
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "rules.pdf"))
	if err != nil || s.Active != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	chunks := []store.Chunk{situated(0, "cranes stop at wind force eight", portRules), chunk(1, "ropes are checked")}
	if missing, err := b.StageChunks(b.ctx(), batch(h, s, chunks...)); err != nil || len(missing) != 0 {
		t.Fatalf("missing: %v, %v", missing, err)
	}
	if n := b.withContexts(b.complete(h, activate(s, 2))); n != 1 {
		t.Errorf("the result counts %d chunks with a context", n)
	}
	for _, text := range []string{"Rotterdam", "cranes -Rotterdam"} { // operators are about the text
		hits := b.search(store.Query{Text: text})
		if len(hits) != 1 || hits[0].Content != chunks[0].Content || !hits[0].Matched {
			t.Errorf("%s: %+v", text, hits)
			continue
		}
		raw, err := json.Marshal(hits)
		if err != nil || strings.Contains(string(raw), "Safety") {
			t.Errorf("the context is in a hit: %s, %v", raw, err)
		}
	}
	found, err := b.DocumentPassages(b.ctx(), store.DocumentPassageQuery{DocumentID: s.DocumentID, Limit: 10})
	if raw, _ := json.Marshal(found); err != nil || len(found) != 2 || strings.Contains(string(raw), "Safety") {
		t.Errorf("the passages: %s, %v", raw, err)
	}
	want := map[string]store.ChunkContext{chunks[0].Key: {Text: portRules, By: "small/1"}}
	if got, err := b.VersionContexts(b.ctx(), s.DocumentID, 1); err != nil || !maps.Equal(got, want) {
		t.Errorf("contexts %v, %v", got, err)
	}
	other := newBench(t, b.open)
	if got, err := other.VersionContexts(b.ctx(), s.DocumentID, 1); err != nil || len(got) != 0 {
		t.Errorf("I10: of another client's document: %v, %v", got, err)
	}
	if hits := other.search(store.Query{Text: "Rotterdam"}); len(hits) != 0 {
		t.Errorf("I10: another client finds %+v", hits)
	}

	m, h := b.run()
	b.keepPartials(m.JobID, partial("context-1", "a model's answer")) // the payload has no name: its server gave it
	if s, err = b.StageDocument(b.ctx(), staging(h, "rules.pdf")); err != nil || s.Active.Contexts != 1 {
		t.Fatalf("%+v, %v", s.Active, err)
	}
	b.stage(h, s, "cranes stop at wind force eight")
	if n := b.withContexts(b.complete(h, activate(s, 1))); n != 0 {
		t.Errorf("the result counts %d chunks with a context", n)
	}
	b.wantFound("Rotterdam", 0)

	_, h = b.run()
	if s, err = b.StageDocument(b.ctx(), staging(h, "rules.pdf")); err != nil {
		t.Fatal(err)
	}
	b.complete(h, store.Effect{Kind: store.EffectDeleteDocument, Args: store.Deletion{
		DocumentID: s.DocumentID, Version: s.Version,
	}})
	if left := b.partials(store.PartialQuery{JobID: "x", Keys: []string{"context-1"}}); left != "" {
		t.Errorf("after the deletion: %s", left)
	}
}

// testContextsOfEqualChunks: of equal chunks in several places the first one's context is kept.
func testContextsOfEqualChunks(t *testing.T, b *bench) {
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "rules.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []store.Chunk{situated(1, "see above", "Of pilots."), situated(0, "see above", "Of ropes."), situated(2, "see above", "")} {
		if missing, err := b.StageChunks(b.ctx(), batch(h, s, c)); err != nil || len(missing) != 0 {
			t.Fatalf("missing: %v, %v", missing, err)
		}
	}
	b.complete(h, activate(s, 3))
	got, err := b.VersionContexts(b.ctx(), s.DocumentID, s.Version)
	if c := got["key of see above"]; err != nil || c.Text != "Of ropes." {
		t.Errorf("%v, %v", got, err)
	}
}

// testContextVectors: a vector is that of a text with its context, and of no other.
func testContextVectors(t *testing.T, b *bench) {
	const content = "cranes stop"
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "rules.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := b.StageChunks(b.ctx(), batch(h, s, situated(0, content, portRules))); err != nil || len(missing) != 0 {
		t.Fatalf("missing: %v, %v", missing, err)
	}
	b.complete(h, activate(s, 1))

	_, h = b.run()
	if s, err = b.StageDocument(b.ctx(), staging(h, "copy.pdf")); err != nil {
		t.Fatal(err)
	}
	for context, missing := range map[string]int{portRules: 0, "": 1, "Rules of the port of Hamburg.": 1} {
		c := situated(0, content, context)
		c.Embedding = nil
		if got, err := b.StageChunks(b.ctx(), batch(h, s, c)); err != nil || len(got) != missing {
			t.Errorf("with the context %q: missing %v, %v", context, got, err)
		}
	}
	// Another context in the same place is another chunk, and not the reused one.
	if missing, err := b.StageChunks(b.ctx(), batch(h, s, situated(0, content, "Hamburg."))); err != nil || len(missing) != 0 {
		t.Fatalf("missing: %v, %v", missing, err)
	}
	if c := b.counted(b.complete(h, activate(s, 1))); c.Embedded != 1 || c.Reused != 0 {
		t.Errorf("counted %+v", c)
	}
	hits := b.search(store.Query{Embedding: embed("Hamburg." + content), Limit: 1})
	if len(hits) != 1 || hits[0].Filename != "copy.pdf" || hits[0].Similarity < 0.99 {
		t.Errorf("the vector: %+v", hits)
	}
}
