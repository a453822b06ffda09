package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// stageTerms counts the words of n chunks of a staged version, two at a time.
func (b *bench) stageTerms(h store.Holder, s store.StagedVersion, n int) {
	b.t.Helper()
	for from := 0; from < n; from += 2 {
		p := store.TermsPart{
			Holder: h, DocumentID: s.DocumentID, Version: s.Version, Language: "en", From: from, Limit: min(2, n-from),
		}
		for range 2 { // a repeated call changes nothing
			if err := b.StageTerms(b.ctx(), p); err != nil {
				b.t.Fatalf("stage terms from %d on: %v", from, err)
			}
		}
	}
}

// activateStaged is activate for a version whose terms are staged.
func activateStaged(s store.StagedVersion, chunks int) store.Effect {
	e := activate(s, chunks)
	args := e.Args.(store.Activation) //nolint:forcetypeassert // activate has made it
	args.TermsStaged = true
	e.Args = args
	return e
}

// scoresOf are the scores of all that some words find.
func (b *bench) scoresOf(texts ...string) (all []float64) {
	b.t.Helper()
	for _, text := range texts {
		for _, h := range b.search(store.Query{Text: text, Limit: 100}) {
			all = append(all, h.Score)
		}
	}
	return all
}

// stagedTexts are more chunks than one part of terms.
var stagedTexts = []string{"harbour crane", "the pilots of the harbour", "dues", "dues and cranes", "a pilot"}

// testStagedTerms: staged terms are found when their version is active, not before, and rank as those that the commit
// makes.
func testStagedTerms(t *testing.T, b *bench) {
	b.ingest("a.pdf", "an anchor")
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "a.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, s, stagedTexts...)
	b.stageTerms(h, s, len(stagedTexts))
	b.wantFound("pilot", 0)
	b.wantFound("anchor", 1)
	b.complete(h, activateStaged(s, len(stagedTexts)))
	b.wantFound("pilot", 2)
	b.wantFound("anchor", 0)

	fresh := newBench(t, b.open)
	fresh.ingest("a.pdf", "an anchor")
	fresh.ingest("a.pdf", stagedTexts...)
	ask := []string{"pilot", "harbour dues", "crane pilot harbour"}
	got, want := b.scoresOf(ask...), fresh.scoresOf(ask...)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("scores %v, of terms that the commit made %v", got, want)
	}
}

// testStagedTermsHideNothing: staged chunks that rank higher take no place from those that can be found.
func testStagedTermsHideNothing(t *testing.T, b *bench) {
	b.ingest("a.pdf", "an anchor among many other things that are on the deck of the ship")
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "b.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	better := make([]string, 250)
	for i := range better {
		better[i] = fmt.Sprintf("anchor %d anchor", i)
	}
	b.stage(h, s, better...)
	if err := b.StageTerms(b.ctx(), store.TermsPart{
		Holder: h, DocumentID: s.DocumentID, Version: s.Version, Limit: len(better),
	}); err != nil {
		t.Fatal(err)
	}
	b.wantFound("anchor", 1)
}

// testStagedTermsAgain: terms that an earlier attempt staged are replaced: by those of the next attempt, or by the commit,
// if the document is short now.
func testStagedTermsAgain(t *testing.T, b *bench) {
	for name, effect := range map[string]func(store.StagedVersion, int) store.Effect{
		"long.pdf": activateStaged, "short.pdf": activate,
	} {
		_, h := b.run()
		s, err := b.StageDocument(b.ctx(), staging(h, name))
		if err != nil {
			t.Fatal(err)
		}
		b.stage(h, s, "an anchor", "a rope", "a buoy")
		b.stageTerms(h, s, 3)
		b.stage(h, s, "a tug", "a rope") // read differently
		args := effect(s, 2)
		if args.Args.(store.Activation).TermsStaged { //nolint:forcetypeassert // as above
			b.stageTerms(h, s, 2)
		}
		b.complete(h, args)
	}
	b.wantFound("tug", 2)
	b.wantFound("rope", 2)
	b.wantFound("anchor", 0)
	b.wantFound("buoy", 0)
	if got := b.scoresOf("tug"); len(got) != 2 || got[0] != got[1] {
		t.Errorf("scores of equal chunks: %v", got)
	}
}

// testStagedTermsInPart: a version that lacks terms is not activated as if it had them.
func testStagedTermsInPart(t *testing.T, b *bench) {
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "a.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, s, stagedTexts...)
	b.stageTerms(h, s, 2)
	if _, err := b.Complete(b.ctx(), store.Completion{
		Holder: h, Effects: []store.Effect{activateStaged(s, len(stagedTexts))},
	}); err == nil {
		t.Error("a version with terms for 2 of 5 chunks became active")
	}
	b.stageTerms(h, s, len(stagedTexts))
	b.complete(h, activateStaged(s, len(stagedTexts)))
	b.wantFound("pilot", 2)
}
